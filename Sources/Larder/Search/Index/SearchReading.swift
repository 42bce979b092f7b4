internal import LarderLMDB

/// A search index as one transaction sees it.
final class SearchReading {
  let database: Database
  let header: SearchHeader
  let weights: [UInt32]
  let coding: PositionCoding
  let unit: UInt32
  private var lengths: SearchLengthReader
  /// Ids in segments that a pending change has taken the place of.
  private var removed: Set<UInt32> = []
  /// The documents of pending changes, ascending by id.
  private var pending: [(id: UInt32, key: [UInt8], length: UInt32)] = []

  /// - Throws: ``SearchDamage``; LMDB's errors.
  init(
    _ database: Database, weights: [UInt32], _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    self.database = database
    self.weights = weights
    coding = PositionCoding(fieldCount: weights.count)
    unit = weights.min() ?? 1
    lengths = SearchLengthReader(database)
    header = try transaction.searchHeader(in: database)
    guard header.pendingCount > 0 else { return }
    try transaction.withPendingSearch(header, in: database) { key, change in
      if let id = change.removedID { removed.insert(id) }
      if let id = change.id { pending.append((id, [UInt8](key), change.length)) }
    }
    pending.sort { $0.id < $1.id }
  }

  /// The documents that have a word which passes the test, each once.
  ///
  /// - Parameter candidates: The ids of documents that alone are of interest, ascending; others may come too.
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func postings(
    of test: WordTest, withPositions: Bool = false, among candidates: [UInt32]? = nil,
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> PostingList {
    var lists: [PostingList] = []
    // Of several words, those of each one after another.
    var all = PostingList()
    for segment in header.segments {
      var terms = TermCursor(segment, try transaction.cursor(in: database))
      switch test {
      case .equals(let term):
        guard try terms.seek(atOrAfter: term), terms.term == term else { continue }
        if lists.isEmpty { lists.append(PostingList()) }
        try collect(&terms, into: &lists[0], withPositions, candidates, transaction)
      case .begins, .resembles:
        let ready = ReadyWordTest(test)
        var hasOne = try terms.seek(atOrAfter: ready.prefix)
        while hasOne, terms.term.starts(with: ready.prefix) {
          if !withPositions {
            if ready.passes(terms.term) {
              try collect(&terms, into: &all, withPositions, candidates, transaction)
            }
          } else if ready.passes(terms.term) {
            var list = PostingList()
            try collect(&terms, into: &list, withPositions, candidates, transaction)
            if list.count > 0 { lists.append(list) }
          }
          hasOne = try terms.next()
        }
      }
    }
    // Words of one document that pass the test alike count as one.
    var result =
      test.isExact
      ? lists.first ?? PostingList()
      : withPositions ? try PostingList.sum(of: lists, positions: coding) : all.summed()
    try collectPending(test, into: &result, withPositions, transaction)
    return result
  }

  /// How many bytes the postings of what passes a test take, about.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func estimatedByteCount(
    of test: WordTest, _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> Int {
    guard case .equals(let term) = test else { return .max }
    var sum = 0
    for segment in header.segments {
      var terms = TermCursor(segment, try transaction.cursor(in: database))
      guard try terms.seek(atOrAfter: term), terms.term == term else { continue }
      sum += try terms.estimatedByteCount()
    }
    return sum
  }

  /// Whether an id in a segment is that of a living document.
  func isLive(_ id: UInt32, _ transaction: borrowing some Transaction & ~Copyable) throws -> Bool {
    try lengths.isLive(id, transaction) && !removed.contains(id)
  }

  /// Lends what knows the lengths. A property of a class is asked for the right to change it each time; here it is
  /// asked once for many postings.
  private func withLengths(_ body: (inout SearchLengthReader) throws -> Void) rethrows {
    try body(&lengths)
  }

  private func collect(
    _ terms: inout TermCursor, into list: inout PostingList, _ withPositions: Bool,
    _ candidates: [UInt32]?, _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    if let candidates {
      return try collect(&terms, among: candidates, into: &list, withPositions, transaction)
    }
    try withLengths { lengths in
      try terms.forEachPostings { postings in
        var positions = VarintReader(postings.positions)
        try postings.forEach(unit: unit) { id, frequency in
          let places = withPositions ? try coding.skip(&positions) : nil
          try add(id, frequency, places, &lengths, to: &list, transaction)
        }
        return true
      }
    }
  }

  /// Reads the records alone that candidates may be in.
  private func collect(
    _ terms: inout TermCursor, among candidates: [UInt32], into list: inout PostingList,
    _ withPositions: Bool, _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    var next = candidates.partitioningIndex { $0 >= terms.firstID }
    guard next < candidates.count else { return }
    try withLengths { lengths in
      try terms.forEachPostings(wanted: candidates[next]) { postings in
        var positions = VarintReader(postings.positions)
        // Postings whose positions were not skipped yet.
        var skipped = 0
        try postings.forEachWhile(unit: unit) { id, frequency in
          skipped += 1
          while next < candidates.count, candidates[next] < id { next += 1 }
          guard next < candidates.count else { return false }
          guard candidates[next] == id else { return true }
          var places: UnsafeRawBufferPointer?
          if withPositions {
            try coding.skip(skipped - 1, &positions)
            places = try coding.skip(&positions)
            skipped = 0
          }
          try add(id, frequency, places, &lengths, to: &list, transaction)
          next += 1
          return next < candidates.count
        }
        return next < candidates.count ? candidates[next] : nil
      }
    }
  }

  @inline(__always)
  private func add(
    _ id: UInt32, _ frequency: UInt32, _ places: UnsafeRawBufferPointer?,
    _ lengths: inout SearchLengthReader, to list: inout PostingList,
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    let stored = try lengths.stored(id, transaction)
    guard stored != 0, removed.isEmpty || !removed.contains(id) else { return }
    let length =
      stored == SearchLengths.large ? try document(id, transaction).length : UInt32(stored)
    list.entries.append(PostingList.Entry(id: id, frequency: frequency, length: length))
    if let places {
      list.positions.append(contentsOf: places)
      list.positionEnds.append(UInt32(list.positions.count))
    }
  }

  private func collectPending(
    _ test: WordTest, into list: inout PostingList, _ withPositions: Bool,
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    guard !pending.isEmpty else { return }
    let ready = ReadyWordTest(test)
    for (id, key, length) in pending {
      // Words of one document that pass the test alike count as one.
      var found: [PostingList] = []
      var frequency: UInt32 = 0
      let key = SearchLayout.key(SearchLayout.pending, key)
      try key.withUnsafeBytes { key in
        _ = try transaction.withValue(for: key, in: database) { value in
          try PendingSearch(value, key: key).forEachWord { word, count, places in
            guard ready.passes(word) else { return }
            guard withPositions else {
              frequency &+= count
              return
            }
            found.append(
              PostingList(
                entries: [PostingList.Entry(id: id, frequency: count, length: length)],
                positions: [UInt8](places), positionEnds: [UInt32(places.count)]))
          }
        }
      }
      if frequency > 0 {
        list.entries.append(PostingList.Entry(id: id, frequency: frequency, length: length))
      } else if !found.isEmpty {
        list.append(try PostingList.sum(of: found, positions: coding))
      }
    }
  }

  /// Whether the document of an id waits to become part of a segment.
  func isPending(_ id: UInt32) -> Bool { pending.first.map { id >= $0.id } ?? false }

  /// The document that an id stands for.
  func document(
    _ id: UInt32, _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> SearchDocument {
    if isPending(id) {
      guard let found = pending.first(where: { $0.id == id }) else {
        throw SearchDamage("an id has no document")
      }
      return SearchDocument(key: found.key, length: found.length)
    }
    guard let found = try SearchKeys.document(id, transaction, in: database) else {
      throw SearchDamage("an id has no document")
    }
    return found
  }
}
