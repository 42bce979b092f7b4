internal import LarderLMDB

/// The changes of one search index that a write collects, and writes together.
///
/// A few become pending records: one record each, whatever the number of their words. Many become a
/// segment at once.
final class SearchChanges {
  let database: Database
  private var batch: SearchBatch
  private var changes: [Change] = []
  private var lastKey: [UInt8] = []
  /// Whether a key may have come twice.
  private var mayRepeat = false

  private struct Change {
    var key: [UInt8]
    /// Its place in the batch; nil where it is gone, or has no word.
    var document: Int?
    /// Whether the index has the previous version.
    var standing: Standing
  }

  /// Whether an index has the previous version of a document.
  enum Standing {
    case absent, unknown, indexed
  }

  /// Pending changes at most, and their bytes: a search reads all of them.
  static let maximumPendingCount = 64
  static let maximumPendingByteCount = 64 << 10

  /// Segments of an index that is being built. Merging them all at once writes each posting once more, where merging
  /// six and six writes it twice for 50 segments.
  private static let maximumBuiltSegmentCount = 64

  /// Bytes that are collected in memory before they are written.
  private static let maximumByteCount = 64 << 20

  init(database: Database, weights: [UInt32]) {
    self.database = database
    batch = SearchBatch(weights: weights)
  }

  var hasChanges: Bool { !changes.isEmpty }

  /// Bytes that it holds in memory.
  var byteCount: Int { batch.byteCount }

  var isFull: Bool { byteCount > Self.maximumByteCount }

  /// Notes the words of the document under `key`, which `addWords` adds to the batch.
  ///
  /// - Parameter old: Whether the index has the previous version.
  func put(
    _ key: UnsafeRawBufferPointer, _ old: Standing, _ addWords: (inout SearchBatch) -> Void
  ) {
    addWords(&batch)
    let hasWords = !batch.documentIsEmpty
    if hasWords { batch.endDocument(key: key) }
    guard hasWords || old != .absent else { return }
    note(key, hasWords ? batch.documents.count - 1 : nil, old)
  }

  func delete(_ key: UnsafeRawBufferPointer, _ old: Standing) { note(key, nil, old) }

  private func note(_ key: UnsafeRawBufferPointer, _ document: Int?, _ standing: Standing) {
    let key = [UInt8](key)
    if !changes.isEmpty, !lastKey.lexicographicallyPrecedes(key) { mayRepeat = true }
    lastKey = key
    changes.append(Change(key: key, document: document, standing: standing))
  }

  /// Writes what was collected.
  ///
  /// - Parameter isBuilding: Whether more follows before anybody searches: segments then wait until they are
  ///   merged all at once.
  /// - Returns: Whether segments wait for being merged.
  /// - Throws: ``SearchDamage``, also where there are no ids any more; LMDB's errors. The transaction must then be
  ///   let go of, or the database be emptied.
  @discardableResult
  func write(to transaction: inout WriteTransaction, isBuilding: Bool = false) throws -> Bool {
    guard !changes.isEmpty else { return false }
    var header = try transaction.searchHeader(in: database)
    let last = mayRepeat ? lastChanges() : changes
    try header.checkRoom(forIDs: last.count)
    let isSmall =
      last.count <= Self.maximumPendingCount / 2
      && batch.byteCountOfPostings <= Self.maximumPendingByteCount / 2
    if !isSmall || header.pendingCount + last.count > Self.maximumPendingCount
      || header.pendingByteCount + batch.byteCountOfPostings > Self.maximumPendingByteCount
    {
      try transaction.flushPendingSearch(&header, weights: batch.weights, in: database)
    }
    if isSmall {
      try writePending(last, &header, &transaction)
    } else {
      try writeSegment(last, &header, &transaction)
    }
    if !isBuilding || header.segments.count >= Self.maximumBuiltSegmentCount { header.planMerge() }
    try transaction.put(header, in: database)
    changes.removeAll(keepingCapacity: true)
    batch.removeAll()
    mayRepeat = false
    return header.needsWork
  }

  /// The last change of each key, in the order of the keys. What the index has of a document is what the first one
  /// says.
  private func lastChanges() -> [Change] {
    var last: [[UInt8]: Change] = [:]
    for change in changes {
      let first = last[change.key] ?? change
      last[change.key] = Change(
        key: change.key, document: change.document, standing: first.standing)
    }
    return last.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
  }

  private func writePending(
    _ changes: [Change], _ header: inout SearchHeader, _ transaction: inout WriteTransaction
  ) throws {
    for change in changes {
      let key = SearchLayout.key(SearchLayout.pending, change.key)
      let removedID = try remove(change, &header, transaction)
      var document: (Int, UInt32)?
      if let place = change.document {
        document = (place, header.nextID)
        header.add(batch.documents[place])
      }
      if document == nil, removedID == nil { continue }
      let value = PendingSearch.encoded(removing: removedID, document, in: batch, key: key)
      header.pendingCount += 1
      header.pendingByteCount += value.count
      try key.withUnsafeBytes { key in
        try value.withUnsafeBytes { try transaction.put($0, for: key, in: database) }
      }
    }
  }

  /// Takes the old version of a document out of the sums, and its pending record away.
  ///
  /// - Returns: The id that it has in a segment, if it has one.
  private func remove(
    _ change: Change, _ header: inout SearchHeader, _ transaction: borrowing WriteTransaction
  ) throws -> UInt32? {
    let key = SearchLayout.key(SearchLayout.pending, change.key)
    let pending = try key.withUnsafeBytes { key in
      try transaction.withValue(for: key, in: database) { value in
        let pending = try PendingSearch(value, key: key)
        return (pending.removedID, pending.id, pending.length, value.count)
      }
    }
    if let (removedID, id, length, byteCount) = pending {
      guard header.pendingCount > 0, header.pendingByteCount >= byteCount else {
        throw SearchDamage("the header counts fewer changes than wait")
      }
      header.pendingCount -= 1
      header.pendingByteCount -= byteCount
      if id != nil { try header.remove(length: length) }
      var cursor = try transaction.cursor(in: database)
      if try key.withUnsafeBytes({ try cursor.seek($0) }) { try cursor.delete() }
      return removedID
    }
    // A document that was deleted and comes back has a pending change, and no id elsewhere.
    guard change.standing != .absent else { return nil }
    guard
      let id = try change.key.withUnsafeBytes({ try transaction.searchID(of: $0, in: database) })
    else {
      if change.standing == .indexed { throw SearchDamage("a document has no id") }
      return nil
    }
    guard let old = try SearchKeys.document(id, transaction, in: database), old.key == change.key
    else { throw SearchDamage("the key of an id is another one's") }
    try header.remove(length: old.length)
    return id
  }

  /// Writes many changes: their postings as a segment, and what is kept of each id.
  private func writeSegment(
    _ changes: [Change], _ header: inout SearchHeader, _ transaction: inout WriteTransaction
  ) throws {
    var lengths = SearchLengths()
    for change in changes where change.standing != .absent {
      if let id = try remove(change, &header, transaction) {
        try lengths.remove(id, transaction, in: database)
      }
    }
    let kept = changes.compactMap(\.document).sorted()
    let firstID = header.nextID
    var ids = [UInt32?](repeating: nil, count: batch.documents.count)
    for place in kept {
      ids[place] = header.nextID
      try lengths.set(
        batch.documents[place].length, of: header.nextID, transaction, in: database)
      header.add(batch.documents[place])
    }
    var cursor = try transaction.cursor(in: database)
    for change in changes {
      try cursor.putSearchID(change.document.flatMap { ids[$0] }, of: change.key)
    }
    try lengths.write(to: &cursor)
    let documents =
      kept.count == batch.documents.count ? batch.documents : kept.map { batch.documents[$0] }
    try SearchKeys.append(documents[...], from: firstID, to: &cursor, transaction, in: database)
    try header.write(batch, ids: ids, from: firstID, to: &cursor)
  }
}
