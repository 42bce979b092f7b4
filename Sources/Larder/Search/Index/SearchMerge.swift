internal import LarderLMDB

// Segments are merged in steps of their own transactions, so that nobody waits for long. What a step
// has written is not read before the last one; a step that is lost is done again.

extension SearchHeader {
  /// Segments of about one size that are merged into one: a document's words are written anew each time that the
  /// index has grown by this factor.
  static let fanOut = 6
  /// So many segments are merged whatever their sizes are, as a search looks into each: all but the large ones in
  /// front. By a simulation of 6,000 segments of 64 documents, each document is then written 6.2 times, and there are
  /// 7.6 segments in the mean; without such a limit it is written 3.8 times, and there are 11.7.
  static let maximumSegmentCount = 2 * fanOut

  /// Whether a step is left to do.
  var needsWork: Bool { merge != nil || !dropped.isEmpty }

  /// Chooses what is merged next, if nothing is being merged and there are enough segments of a size, or too many
  /// of all sizes; or all of them, where most of their postings are those of old versions.
  mutating func planMerge() {
    guard merge == nil, !segments.isEmpty else { return }
    let written = segments.reduce(0) { $0 + $1.documentCount }
    var run = 0
    if written > 2 * documentCount + 8 * SearchChanges.maximumPendingCount {
      run = segments.count
    } else {
      for level in 0..<32 where run == 0 {
        let trailing = segments.reversed().prefix { $0.level <= level }
        if trailing.count(where: { $0.level == level }) >= Self.fanOut { run = trailing.count }
      }
      if run == 0, segments.count >= Self.maximumSegmentCount { run = balancedRun }
    }
    guard run > 0 else { return }
    let inputs = segments.suffix(run)
    guard let first = inputs.first, let last = inputs.last else { return }
    let output = Segment(
      number: nextSegment, firstID: first.firstID, endID: last.endID, documentCount: 0,
      byteCount: 0)
    merge = Merge(first: segments.count - run, count: run, output: output, position: [])
    nextSegment += 1
  }
}

extension SearchHeader {
  /// All segments but those in front that are larger than everything behind them together; two at least.
  private var balancedRun: Int {
    var rest = segments.map(\.documentCount)[...]
    while rest.count > 2, let first = rest.first, first > rest.dropFirst().reduce(0, +) {
      rest.removeFirst()
    }
    return rest.count
  }
}

extension SearchHeader.Segment {
  /// How many times larger it is than the smallest ones, as a power of the fan-out.
  fileprivate var level: Int {
    var level = 0
    var count = documentCount / SearchChanges.maximumPendingCount
    while count >= SearchHeader.fanOut {
      count /= SearchHeader.fanOut
      level += 1
    }
    return level
  }
}

/// One step of a merge.
struct SearchMergeStep {
  let database: Database
  let unit: UInt32
  let coding: PositionCoding

  /// Bytes that a step writes, or deletes, about.
  let byteCount: Int
  /// Bytes that a step reads, about: where little is live, it writes nearly nothing.
  private var readByteCount: Int { 4 * byteCount }

  /// - Parameter byteCount: 256 KiB take a few milliseconds.
  init(database: Database, weights: [UInt32], byteCount: Int = 256 << 10) {
    self.database = database
    self.byteCount = byteCount
    unit = weights.min() ?? 1
    coding = PositionCoding(fieldCount: weights.count)
  }

  /// Takes a step, if one is left.
  ///
  /// - Returns: Whether another one is left after it.
  /// - Throws: ``SearchDamage``; LMDB's errors. The transaction must then be let go of.
  func take(_ transaction: inout WriteTransaction) throws -> Bool {
    var header = try transaction.searchHeader(in: database)
    guard header.needsWork else { return false }
    if let number = header.dropped.first {
      if try delete(number, &transaction) { header.dropped.removeFirst() }
    } else if let merge = header.merge {
      try advance(merge, &header, &transaction)
    }
    try transaction.put(header, in: database)
    return header.needsWork
  }

  /// - Returns: Whether nothing of the segment is left.
  private func delete(_ number: UInt32, _ transaction: inout WriteTransaction) throws -> Bool {
    let prefix = SearchLayout.segmentKey(number, [])
    var cursor = try transaction.cursor(in: database)
    var left = byteCount
    var hasOne = try prefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while hasOne, cursor.key.starts(with: prefix) {
      if left <= 0 { return false }
      left -= cursor.value.count
      try cursor.delete()
      hasOne = try cursor.next()
    }
    return true
  }

  private func advance(
    _ merge: SearchHeader.Merge, _ header: inout SearchHeader,
    _ transaction: inout WriteTransaction
  ) throws {
    var merge = merge
    if !merge.isCopying {
      let sweep = SearchSweep(database: database, byteCount: byteCount)
      guard try sweep.take(&merge, of: header.segments, transaction) else {
        header.merge = merge
        return
      }
    }
    var writer = SegmentWriter(
      number: merge.output.number, firstID: merge.output.firstID, unit: unit)
    let isDone = try copy(header.segments[merge.range], &merge, &writer, transaction)
    writer.finish()
    do {
      var cursor = try transaction.cursor(in: database)
      try writer.write(to: &cursor)
    }
    merge.output.byteCount += writer.byteCount
    guard isDone else {
      header.merge = merge
      return
    }
    let inputs = header.segments[merge.range]
    header.dropped += inputs.map(\.number)
    var output = merge.output
    // One that an earlier version has begun was not counted.
    if output.documentCount == 0 {
      output.documentCount = inputs.reduce(0) { $0 + $1.documentCount }
    }
    header.segments.replaceSubrange(merge.range, with: output.byteCount > 0 ? [output] : [])
    header.merge = nil
    header.planMerge()
  }

  /// Copies what is live of the next terms.
  ///
  /// - Returns: Whether that was the last one.
  private func copy(
    _ inputs: ArraySlice<SearchHeader.Segment>, _ merge: inout SearchHeader.Merge,
    _ writer: inout SegmentWriter, _ transaction: borrowing WriteTransaction
  ) throws -> Bool {
    var lengths = SearchLengthReader(database)
    let (done, lastID) = merge.place
    var cursors = MergeCursors()
    for segment in inputs {
      try cursors.add(TermCursor(segment, transaction.cursor(in: database)), from: done ?? [])
    }
    var skipsUpTo = done == nil ? nil : lastID
    var readCount = 0
    while let term = cursors.least() {
      let isContinued = skipsUpTo != nil && term == done
      let from = isContinued ? (skipsUpTo ?? 0) + 1 : 0
      skipsUpTo = nil
      writer.begin(term, isContinued: isContinued)
      // To find a term takes longer than to read a few bytes of postings.
      readCount += term.count + 8
      var last: UInt32?
      try cursors.forEachPostings(from: from) { postings in
        readCount += postings.byteCount
        var positions = VarintReader(postings.positions)
        try postings.forEach(unit: unit) { id, frequency in
          let places = try coding.skip(&positions)
          guard id >= from else { return }
          last = id
          guard try lengths.isLive(id, transaction) else { return }
          writer.add(id, frequency: frequency, positions: places)
        }
        // A step that has read nothing new of a term has no place in it to go on from.
        return last == nil || writer.byteCount < byteCount && readCount < readByteCount
      }
      if writer.byteCount >= byteCount || readCount >= readByteCount, let last {
        merge.position = term + [0]
        merge.position.append(bigEndian: last)
        return false
      }
      writer.endTerm()
      try cursors.advance()
    }
    return true
  }
}

extension SearchHeader.Merge {
  /// Whether the ids were swept, and a term was read.
  fileprivate var isCopying: Bool { position.count > 5 }

  /// The last term that was read, and the last id of it; what is live of it up to there, the output has.
  fileprivate var place: (term: [UInt8]?, id: UInt32) {
    guard isCopying else { return (nil, 0) }
    let id = position.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return ([UInt8](position.dropLast(5)), id)
  }
}
