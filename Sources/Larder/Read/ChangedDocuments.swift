internal import LarderLMDB

/// What the log says of one collection between two moments: which documents have changed, and
/// what each of them was like before.
struct ChangedDocuments {
  struct Document {
    let key: UnsafeRawBufferPointer
    /// The record before the first of its changes; nil where there was none.
    let old: UnsafeRawBufferPointer?
    fileprivate let place: Int
  }

  /// Each once, in the order of their keys. The bytes live as long as the snapshot.
  private(set) var documents: [Document] = []
  /// Whether all documents have gone at some point: what was before is not in the log.
  private(set) var isErased = false
  /// Whether there were changes that the log does not have, or not the documents that they deleted.
  private(set) var isUnlogged = false

  var isEmpty: Bool { documents.isEmpty && !isErased }

  /// - Returns: Nil where the log does not reach back that far.
  /// - Throws: ``StoreError/damagedChangeLog(_:)``.
  init?(
    of collection: String, after position: UInt64, to head: UInt64, in log: Database,
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    var found: [Document] = []
    var (isErased, isUnlogged) = (false, false)
    let isWhole = try transaction.forEachPack(after: position, head: head, in: log) { pack in
      guard pack.header.collection == collection else { return true }
      return try pack.forEachLogged(after: position) { change in
        switch change.kind {
        case _ where change.isUnlogged: isUnlogged = true
        case .erased: isErased = true
        case .unlogged: break  // As above.
        case .inserted:
          found.append(Document(key: change.key, old: nil, place: found.count))
        case .updated, .deleted:
          found.append(Document(key: change.key, old: change.old, place: found.count))
        }
        return true
      }
    }
    guard isWhole else { return nil }
    self.isErased = isErased
    self.isUnlogged = isUnlogged
    guard found.count > 1 else {
      documents = found
      return
    }
    found.sort { left, right in
      let order = Bytes.compare(left.key, right.key)
      return order != 0 ? order < 0 : left.place < right.place
    }
    for document in found {
      // The first one says what was before.
      if let last = documents.last, Bytes.equal(last.key, document.key) { continue }
      documents.append(document)
    }
  }
}

extension LoggedChange {
  /// Whether the log does not have the change, or not the document that it deleted.
  var isUnlogged: Bool {
    switch kind {
    case .unlogged: true
    case .deleted: old.isEmpty
    case .inserted, .updated, .erased: false
    }
  }
}

extension Engine {
  /// The log; nil in a store that nothing was saved in yet. Asked for before a snapshot, which
  /// could not use a handle that is younger.
  func changeLog() throws -> Database? {
    try environment.database(named: Layout.changesName, create: false)
  }

  /// Lends the log and a snapshot that can read it.
  ///
  /// - Throws: ``StoreError/damagedChangeLog(_:)`` where something was saved and there is no log.
  func withChangeLog<Result>(
    file: StaticString = #fileID, line: UInt = #line, noting notes: ReadNotes? = nil,
    _ body: (borrowing Snapshot, Database?) throws -> Result
  ) throws -> Result {
    defer { withExtendedLifetime((self, notes)) {} }
    while true {
      let log = try changeLog()
      let snapshot = try snapshot(
        file: file, line: line, noting: notes.map { .passUnretained($0) })
      guard log == nil, snapshot.sequence > 0 else { return try body(snapshot, log) }
      // The first save of all came in between, or else the log has lost its name, and no other
      // snapshot would find it.
      guard try snapshot.transaction.hasDatabase(named: Layout.changesName) else {
        throw StoreError.damagedChangeLog("\(Layout.changesName) is missing")
      }
    }
  }
}
