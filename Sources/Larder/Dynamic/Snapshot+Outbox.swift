internal import LarderLMDB

extension Snapshot {
  /// What is known of a collection's documents; nil where there is none.
  package borrowing func outline(of name: String) -> CollectionOutline? {
    catalogue[name].map(CollectionOutline.init)
  }

  /// The entries of a collection behind a key, in the order of keys.
  ///
  /// A damaged one is lent as an entry that knows only what the remote is known to have: what was edited
  /// here is sent all the same, and the remote says whether it has another version.
  ///
  /// - Parameter body: Says whether to go on.
  package borrowing func forEachOutboxEntry(
    _ name: String, after key: [UInt8]? = nil,
    _ body: (_ key: [UInt8], OutboxEntry) throws -> Bool
  ) throws {
    guard let outbox = engine.outboxDatabases?.outbox else { return }
    let prefix = OutboxKey.prefix(of: name)
    var cursor = try transaction.cursor(in: outbox)
    var isThere = try (prefix + (key ?? [])).withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while isThere, cursor.key.starts(with: prefix) {
      let found = [UInt8](cursor.key.dropFirst(prefix.count))
      if found != key {
        let entry =
          try OutboxEntry(cursor.value, key: cursor.key)
          ?? transaction.rebuiltEntry(name, found, engine.outboxDatabases, catalogue)
        guard try body(found, entry) else { return }
      }
      isThere = try cursor.next()
    }
  }

  /// The edit of a document that the remote has not accepted yet; nil where there is none.
  package borrowing func outboxEntry(_ name: String, _ key: [UInt8]) throws -> OutboxEntry? {
    try transaction.outboxEntry(name, key, engine.outboxDatabases, catalogue)
  }

  /// The record of a document as it is stored; nil where there is none.
  package borrowing func recordBytes(_ name: String, _ key: [UInt8]) throws -> [UInt8]? {
    guard let collection = catalogue[name] else { return nil }
    return try key.withUnsafeBytes {
      try transaction.withValue(for: $0, in: collection.documents) { [UInt8]($0) }
    }
  }

  /// How many documents of all collections have something that is to be sent. Costs nothing.
  package borrowing func outboxCount() throws -> Int {
    try transaction.outboxCount(engine.outboxDatabases)
  }

  /// What the remote is known to have of the documents of a collection behind a key, in the order of keys.
  ///
  /// - Parameter body: Says whether to go on.
  package borrowing func forEachBase(
    _ name: String, after key: [UInt8]? = nil,
    _ body: (_ key: [UInt8], _ base: [UInt8]) throws -> Bool
  ) throws {
    try forEachSyncRecord(OutboxKey.baseKey(name, []), after: key, body)
  }

  /// The documents of a collection behind a key that are marked, by ``WriteScope/setMark(_:_:to:)``, in the order
  /// of keys.
  ///
  /// - Parameter body: Says whether to go on.
  package borrowing func forEachMark(
    _ name: String, after key: [UInt8]? = nil,
    _ body: (_ key: [UInt8], _ mark: UInt8) throws -> Bool
  ) throws {
    try forEachSyncRecord(OutboxKey.markKey(name, []), after: key) { key, bytes in
      try bytes.count == 1 ? body(key, bytes[0]) : true
    }
  }

  private borrowing func forEachSyncRecord(
    _ prefix: [UInt8], after key: [UInt8]?, _ body: ([UInt8], [UInt8]) throws -> Bool
  ) throws {
    guard let sync = engine.outboxDatabases?.sync else { return }
    var cursor = try transaction.cursor(in: sync)
    var isThere = try (prefix + (key ?? [])).withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while isThere, cursor.key.starts(with: prefix) {
      let found = [UInt8](cursor.key.dropFirst(prefix.count))
      if found != key, let bytes = SyncRecord.bytes(cursor.value, key: cursor.key) {
        guard try body(found, bytes) else { return }
      }
      isThere = try cursor.next()
    }
  }

  /// What the remote is known to have of a document.
  package borrowing func base(_ name: String, _ key: [UInt8]) throws -> [UInt8]? {
    try transaction.syncRecord(OutboxKey.baseKey(name, key), engine.outboxDatabases)
  }

  /// What an engine noted under a name.
  package borrowing func syncNote(_ name: String) throws -> [UInt8]? {
    try transaction.syncRecord(OutboxKey.recordKey([UInt8](name.utf8)), engine.outboxDatabases)
  }

  /// As ``WriteScope/takeSalvaged()`` says, which takes it away.
  package borrowing func isSalvaged() throws -> Bool {
    try syncNote(OutboxKey.salvagedName) != nil
  }

  /// What an engine noted under names that begin so.
  package borrowing func syncNotes(
    withPrefix prefix: String, after name: String? = nil, limit: Int = .max
  ) throws -> [(name: String, bytes: [UInt8])] {
    try transaction.syncNotes(
      withPrefix: prefix, after: name, limit: limit, engine.outboxDatabases)
  }

  /// How many notes there are whose names begin so. Costs a look at each name.
  package borrowing func syncNoteCount(withPrefix prefix: String) throws -> Int {
    try transaction.syncNoteCount(withPrefix: prefix, engine.outboxDatabases)
  }

  /// How often the collection was erased since it was synced: cursors from before are of no use.
  package borrowing func eraseCount(_ name: String) throws -> UInt64 {
    let key = OutboxKey.recordKey(OutboxKey.eraseName(of: OutboxKey.prefix(of: name)))
    let bytes = try transaction.syncRecord(key, engine.outboxDatabases) ?? []
    return bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether edits of other collections than these wait, among those whose edits are noted now. Costs a look for each
  /// collection.
  package borrowing func hasEdits(besides names: some Swift.Collection<String>) throws -> Bool {
    guard let outbox = engine.outboxDatabases?.outbox else { return false }
    for (name, collection) in catalogue.collections
    where collection.description.isSynced && !names.contains(name) {
      if try transaction.hasKey(withPrefix: OutboxKey.prefix(of: name), in: outbox) { return true }
    }
    return false
  }

  /// Whether edits of a collection leave an entry in the outbox.
  package borrowing func isSynced(_ name: String) -> Bool {
    catalogue[name]?.description.isSynced ?? false
  }

  /// A record that an ``OutboxEntry`` has kept, as a document.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  package borrowing func document(
    _ name: String, _ key: [UInt8], record: [UInt8]
  ) throws -> DynamicDocument? {
    try catalogue.document(name, key, record: record)
  }
}
