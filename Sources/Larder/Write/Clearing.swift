internal import LarderLMDB

// Clear-before-save: deletes all documents that a query matches, except for those that are saved again.

extension WriteScope {
  /// What was cleared before saving.
  struct Cleared {
    /// How many documents were deleted.
    var count = 0
    /// Places in the batch, ascending, of documents that an index has named and nobody has looked up.
    var named: [Int] = []
    /// What to throw where such a one is not there.
    var missingDocument: StoreError?
  }

  /// Deletes what `selection` matches and the batch does not have: first what matches is found,
  /// by an index where one helps, then it is deleted in the order of the keys.
  mutating func clear(
    _ selection: Selection, _ binding: CollectionBinding, keeping entries: [Batch.Entry],
    _ changes: inout DocumentChanges
  ) throws -> Cleared {
    var keys = KeyList()
    var next = 0
    let search = try ClearingSearch(selection, binding, transaction, lendsKeys: true)
    var named: [Int] = []
    try search.execution.forEach(in: transaction) { key, record in
      while next < entries.count, Bytes.compare(entries[next].key, key) < 0 {
        next += 1
      }
      if next < entries.count, Bytes.equal(entries[next].key, key) {
        if record.isEmpty { named.append(next) }
      } else if try !changes.keepsEdits || changes.mayChange(key, transaction) {
        keys.append(key)
      }
      return true
    }
    var cursor = try transaction.cursor(in: binding.collection.documents)
    try keys.forEach { try delete($0, found: search, &cursor, &changes) }
    return Cleared(
      count: keys.count, named: named,
      missingDocument: named.isEmpty ? nil : search.execution.missingDocument)
  }

  /// What `selection` matches before a save of several batches.
  ///
  /// - Complexity: Memory for the keys of what matches, and 9 bytes for each.
  borrowing func clearing(
    _ selection: Selection, _ binding: CollectionBinding
  ) throws -> Clearing {
    let search = try ClearingSearch(selection, binding, transaction, lendsKeys: false)
    var keys = KeyList()
    try search.execution.forEach(in: transaction) { key, _ in
      keys.append(key)
      return true
    }
    return Clearing(search, keys)
  }

  /// Deletes what was matched and not saved since; returns how many documents that were.
  mutating func finish(
    _ clearing: borrowing Clearing, _ binding: CollectionBinding, _ changes: inout DocumentChanges
  ) throws -> Int {
    var count = 0
    var cursor = try transaction.cursor(in: binding.collection.documents)
    try clearing.forEachLeft { key in
      guard try !changes.keepsEdits || changes.mayChange(key, transaction) else { return }
      try delete(key, found: clearing.search, &cursor, &changes)
      count += 1
    }
    return count
  }

  private mutating func delete(
    _ key: UnsafeRawBufferPointer, found search: ClearingSearch, _ cursor: inout Cursor,
    _ changes: inout DocumentChanges
  ) throws {
    let isFound = try delete(key, at: &cursor, &changes, search.evidence)
    if !isFound { throw search.execution.missingDocument }
  }
}

/// The documents that a query has matched before a save of several batches, and which of them were saved.
struct Clearing: ~Copyable {
  fileprivate let search: ClearingSearch
  /// Ascending.
  private let keys: KeyList
  private var isSaved: [Bool]

  fileprivate init(_ search: ClearingSearch, _ keys: KeyList) {
    self.search = search
    self.keys = keys
    isSaved = Array(repeating: false, count: keys.count)
  }

  /// - Parameter entries: In the order of their keys.
  mutating func keep(_ entries: [Batch.Entry]) {
    var place = 0
    for entry in entries {
      place = keys.firstPlace(notBefore: entry.key, from: place)
      if place == keys.count { return }
      if keys.hasKey(entry.key, at: place) { isSaved[place] = true }
    }
  }

  fileprivate func forEachLeft(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
    var place = 0
    try keys.forEach { key in
      defer { place += 1 }
      if !isSaved[place] { try body(key) }
    }
  }
}

/// How the documents are found that are deleted before a save.
private struct ClearingSearch {
  let execution: Execution
  /// What they must show when they are deleted; nil where everything is.
  let evidence: Evidence?

  /// - Parameter lendsKeys: Whether a document that an index knows enough of may be found without a look at it.
  init(
    _ selection: Selection, _ binding: CollectionBinding,
    _ transaction: borrowing some Transaction & ~Copyable, lendsKeys: Bool
  ) throws {
    var filter = Selection()
    filter.filter = selection.filter
    execution = try transaction.execution(of: filter, binding, lendsKeys: lendsKeys)
    evidence =
      filter.filter == .constant(true)
      ? nil : Evidence(filter.filter, binding, witness: execution.witness)
  }
}
