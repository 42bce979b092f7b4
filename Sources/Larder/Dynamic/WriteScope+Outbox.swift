internal import LarderLMDB

// What an engine that keeps a store in step with a remote reads and writes beside documents, in the
// transaction that changes them. Nothing of it takes a sequence number or wakes a watcher.

extension WriteScope {
  /// Makes the edits of a collection, from here on, leave an entry in the outbox; or no more.
  ///
  /// What is in the outbox stays there.
  ///
  /// - Throws: ``StoreError/noCollection(_:)``; ``StoreError``.
  package mutating func setSynced(_ name: String, _ isSynced: Bool) throws {
    try describe(name) { $0.isSynced = isSynced }
  }

  /// Gives every document an entry that has none, that no other account has left here, and that the remote is
  /// not known to have.
  ///
  /// - Returns: How many.
  package mutating func addAllToOutbox(_ name: String) throws -> Int {
    guard let collection = catalogue[name], let databases = engine.outboxDatabases else { return 0 }
    return try wholly { scope in
      var count = 0
      var documents = try scope.transaction.cursor(in: collection.documents)
      let prefix = OutboxKey.prefix(of: name)
      var entry = OutboxEntry()
      entry.sequence = scope.state.sequence + scope.changeCount
      while try documents.next() {
        let key = prefix + documents.key
        if try scope.transaction.hasKey([OutboxKey.baseTag] + key, in: databases.sync) { continue }
        if try scope.transaction.hasKey(key, in: databases.outbox) { continue }
        if try scope.transaction.hasKey([OutboxKey.keptTag] + key, in: databases.sync) { continue }
        try key.withUnsafeBytes { key in
          try entry.encoded(key: key).withUnsafeBytes {
            try scope.transaction.put($0, for: key, in: databases.outbox)
          }
        }
        count += 1
      }
      scope.hasWrittenMore = scope.hasWrittenMore || count > 0
      return count
    }
  }

  /// Puts entries that were saved from a damaged store where there are none.
  mutating func restoreOutbox(_ entries: [(key: [UInt8], entry: [UInt8])]) throws {
    let outbox = try outboxDatabases().outbox
    try wholly { scope in
      for (key, entry) in entries where try !scope.transaction.hasKey(key, in: outbox) {
        try key.withUnsafeBytes { key in
          guard OutboxKey.name(of: key, in: scope.catalogue) != nil else { return }
          try entry.withUnsafeBytes { try scope.transaction.put($0, for: key, in: outbox) }
          scope.hasWrittenMore = true
        }
      }
    }
  }

  /// Puts back, as they are stored, what is known of the remote, where nothing is.
  mutating func restoreSyncRecords(_ records: [(key: [UInt8], value: [UInt8])]) throws {
    let sync = try outboxDatabases().sync
    try wholly { scope in
      for (key, value) in records where try !scope.transaction.hasKey(key, in: sync) {
        try key.withUnsafeBytes { key in
          try value.withUnsafeBytes { try scope.transaction.put($0, for: key, in: sync) }
        }
        scope.hasWrittenMore = true
      }
    }
  }

  /// Forgets what the remote is known to have of documents that are not here: they come again, as if they had never
  /// been here.
  mutating func forgetBasesWithoutDocuments() throws {
    let sync = try outboxDatabases().sync
    try wholly { scope in
      var bases = try scope.transaction.cursor(in: sync)
      var isThere = try [OutboxKey.baseTag].withUnsafeBytes { try bases.seek(atOrAfter: $0) }
      while isThere, bases.key.first == OutboxKey.baseTag {
        let name = [UInt8](bases.key)
        if try scope.hasDocument(ofBase: name) {
          isThere = try bases.next()
        } else {
          try bases.delete()
          scope.hasWrittenMore = true
          isThere = try name.withUnsafeBytes { try bases.seek(atOrAfter: $0) }
        }
      }
    }
  }

  private borrowing func hasDocument(ofBase name: [UInt8]) throws -> Bool {
    guard let end = name.firstIndex(of: 0),
      let collection = catalogue[String(decoding: name[1..<end], as: UTF8.self)]
    else { return false }
    return try transaction.hasKey(Array(name[(end + 1)...]), in: collection.documents)
  }

  /// Whether the store was saved from a damaged file, so that documents may be missing which the remote has; whoever
  /// asks has them loaded again.
  package mutating func takeSalvaged() throws -> Bool {
    guard try syncNote(OutboxKey.salvagedName) != nil else { return false }
    try setSyncNote(OutboxKey.salvagedName, to: nil)
    return true
  }

  /// The entry of a document; nil where nothing is to be sent of it.
  package borrowing func outboxEntry(_ name: String, _ key: [UInt8]) throws -> OutboxEntry? {
    try transaction.outboxEntry(name, key, engine.outboxDatabases, catalogue)
  }

  /// How many documents of all collections have something that is to be sent. Costs nothing.
  package borrowing func outboxCount() throws -> Int {
    try transaction.outboxCount(engine.outboxDatabases)
  }

  /// Writes the entry of a document; nil takes it away.
  package mutating func setOutboxEntry(
    _ name: String, _ key: [UInt8], to entry: OutboxEntry?
  ) throws {
    let outbox = try outboxDatabases().outbox
    try wholly { scope in
      try (OutboxKey.prefix(of: name) + key).withUnsafeBytes { key in
        if let entry {
          try entry.encoded(key: key).withUnsafeBytes {
            try scope.transaction.put($0, for: key, in: outbox)
          }
        } else {
          _ = try scope.transaction.delete(key, in: outbox)
        }
      }
      scope.hasWrittenMore = true
    }
  }

  /// What the remote is known to have of a document, as ``setBase(_:_:to:)`` noted it.
  package borrowing func base(_ name: String, _ key: [UInt8]) throws -> [UInt8]? {
    try transaction.syncRecord(OutboxKey.baseKey(name, key), engine.outboxDatabases)
  }

  /// Notes what the remote has of a document, 1 to 255 bytes; nil forgets it.
  package mutating func setBase(_ name: String, _ key: [UInt8], to base: [UInt8]?) throws {
    precondition((1...255).contains(base?.count ?? 1), "a base has 1 to 255 bytes")
    #if LARDER_MUTANTS
      if Mutant.basesDropped.isOn, base != nil { return }
    #endif
    try setSyncRecord(OutboxKey.baseKey(name, key), to: base)
  }

  /// The mark of a document; nil where it has none.
  package borrowing func mark(_ name: String, _ key: [UInt8]) throws -> UInt8? {
    try transaction.syncRecord(OutboxKey.markKey(name, key), engine.outboxDatabases)?.first
  }

  /// Marks a document that is to be looked at again, so that it is found among all; nil takes the mark away.
  package mutating func setMark(_ name: String, _ key: [UInt8], to mark: UInt8?) throws {
    try setSyncRecord(OutboxKey.markKey(name, key), to: mark.map { [$0] })
  }

  /// What an engine noted under a name.
  package borrowing func syncNote(_ name: String) throws -> [UInt8]? {
    try transaction.syncRecord(OutboxKey.recordKey([UInt8](name.utf8)), engine.outboxDatabases)
  }

  /// What an engine noted under names that begin so.
  package borrowing func syncNotes(withPrefix prefix: String) throws -> [(
    name: String, bytes: [UInt8]
  )] {
    try transaction.syncNotes(withPrefix: prefix, engine.outboxDatabases)
  }

  /// Notes something under a name of 1 to 200 bytes; nil forgets it.
  package mutating func setSyncNote(_ name: String, to bytes: [UInt8]?) throws {
    precondition((1...200).contains(name.utf8.count), "a note's name has 1 to 200 bytes")
    try setSyncRecord(OutboxKey.recordKey([UInt8](name.utf8)), to: bytes)
  }

  /// Forgets, for every collection, what the remote is known to have and what was to be sent to it. The
  /// documents stay, and of collections that were synced it is noted that
  /// ``addAllToOutbox(_:)`` leaves them out.
  package mutating func forgetRemote() throws {
    try wholly { scope in
      for (name, collection) in scope.catalogue.collections {
        let isOfRemote =
          try collection.description.isSynced || scope.hasBases(name) || scope.hasKept(name)
        try scope.eraseBases(of: name)
        guard isOfRemote else { continue }
        var documents = try scope.transaction.cursor(in: collection.documents)
        while try documents.next() {
          try scope.setSyncRecord(OutboxKey.keptKey(name, [UInt8](documents.key)), to: [1])
        }
      }
      scope.hasWrittenMore = true
    }
  }

  private borrowing func hasKept(_ name: String) throws -> Bool {
    guard let sync = engine.outboxDatabases?.sync else { return false }
    return try transaction.hasKey(withPrefix: OutboxKey.keptKey(name, []), in: sync)
  }

  private mutating func setSyncRecord(_ key: [UInt8], to bytes: [UInt8]?) throws {
    let sync = try outboxDatabases().sync
    try wholly { scope in
      try key.withUnsafeBytes { key in
        if let bytes {
          try SyncRecord.encoded(bytes, key: key).withUnsafeBytes {
            try scope.transaction.put($0, for: key, in: sync)
          }
        } else {
          _ = try scope.transaction.delete(key, in: sync)
        }
      }
      scope.hasWrittenMore = true
    }
  }

  private borrowing func outboxDatabases() throws -> OutboxDatabases {
    guard let databases = engine.outboxDatabases else {
      throw StoreError.damagedCatalogue("\(Layout.outboxName) is missing")
    }
    return databases
  }

  /// The record of a document as it is stored, and nil where there is none.
  package borrowing func recordBytes(_ name: String, _ key: [UInt8]) throws -> [UInt8]? {
    guard let collection = catalogue[name] else { return nil }
    return try key.withUnsafeBytes {
      try transaction.withValue(for: $0, in: collection.documents) { [UInt8]($0) }
    }
  }

  /// A record that an ``OutboxEntry`` has kept, as a document.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  package borrowing func document(
    _ name: String, _ key: [UInt8], record: [UInt8]
  ) throws -> DynamicDocument? {
    try catalogue.document(name, key, record: record)
  }

  /// The record that a document would be stored as, every field of which must be known already.
  ///
  /// - Throws: ``StoreError`` for one that cannot be stored.
  package borrowing func record(
    of document: DynamicDocument, in collection: DynamicCollection
  ) throws -> [UInt8] {
    guard let binding = catalogue.binding(ofCollection: collection.name),
      let keyField = binding.collection.description.keyField
    else { throw collection.unknown() }
    let batch = try collection.batch(of: [document], keyField: keyField, binding)
    return batch.entries.first.map { [UInt8]($0.record) } ?? []
  }

  /// What is known of a collection's documents; nil where there is none.
  package borrowing func outline(of name: String) -> CollectionOutline? {
    catalogue[name].map(CollectionOutline.init)
  }
}

extension Transaction where Self: ~Copyable {
  borrowing func outboxEntry(
    _ name: String, _ key: [UInt8], _ databases: OutboxDatabases?, _ catalogue: Catalogue
  ) throws -> OutboxEntry? {
    guard let databases else { return nil }
    let entry: OutboxEntry?? = try (OutboxKey.prefix(of: name) + key).withUnsafeBytes { key in
      try withValue(for: key, in: databases.outbox) { OutboxEntry($0, key: key) }
    }
    guard let entry else { return nil }
    return try entry ?? rebuiltEntry(name, key, databases, catalogue)
  }

  /// What stands for an entry that is damaged: the edit is sent all the same.
  borrowing func rebuiltEntry(
    _ name: String, _ key: [UInt8], _ databases: OutboxDatabases?, _ catalogue: Catalogue
  ) throws -> OutboxEntry {
    var entry = OutboxEntry()
    entry.base = try syncRecord(OutboxKey.baseKey(name, key), databases)
    if let documents = catalogue[name]?.documents {
      entry.isDeleted = try !hasKey(key, in: documents)
    }
    return entry
  }

  borrowing func outboxCount(_ databases: OutboxDatabases?) throws -> Int {
    guard let databases else { return 0 }
    return try statistics(of: databases.outbox).entryCount
  }

  borrowing func syncNotes(
    withPrefix prefix: String, after name: String? = nil, limit: Int = .max,
    _ databases: OutboxDatabases?
  ) throws -> [(name: String, bytes: [UInt8])] {
    guard let sync = databases?.sync else { return [] }
    let start = OutboxKey.recordKey([UInt8](prefix.utf8))
    let last = name.map { OutboxKey.recordKey([UInt8]($0.utf8)) }
    var notes: [(name: String, bytes: [UInt8])] = []
    var cursor = try cursor(in: sync)
    var isThere = try (last ?? start).withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    if isThere, let last, cursor.key.elementsEqual(last) { isThere = try cursor.next() }
    while isThere, notes.count < limit, cursor.key.starts(with: start) {
      if let bytes = SyncRecord.bytes(cursor.value, key: cursor.key) {
        notes.append((String(decoding: cursor.key.dropFirst(), as: UTF8.self), bytes))
      }
      isThere = try cursor.next()
    }
    return notes
  }

  borrowing func syncNoteCount(
    withPrefix prefix: String, _ databases: OutboxDatabases?
  ) throws -> Int {
    guard let sync = databases?.sync else { return 0 }
    let start = OutboxKey.recordKey([UInt8](prefix.utf8))
    var count = 0
    var cursor = try cursor(in: sync)
    var isThere = try start.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while isThere, cursor.key.starts(with: start) {
      count += 1
      isThere = try cursor.next()
    }
    return count
  }

  borrowing func syncRecord(
    _ key: [UInt8], _ databases: OutboxDatabases?
  ) throws -> [UInt8]? {
    guard let databases else { return nil }
    return try key.withUnsafeBytes { key in
      try withValue(for: key, in: databases.sync) { SyncRecord.bytes($0, key: key) } ?? nil
    }
  }
}

extension Catalogue {
  func document(
    _ name: String, _ key: [UInt8], record: [UInt8]
  ) throws -> DynamicDocument? {
    guard let binding = binding(ofCollection: name) else { return nil }
    return try key.withUnsafeBytes { key in
      try record.withUnsafeBytes { record in
        try binding.reading(record, key: key) { try DynamicDocument($0) }
      }
    }
  }
}

extension OutboxKey {
  /// A name to tell of; nil for the key of no document.
  static func name(of key: UnsafeRawBufferPointer, in catalogue: Catalogue) -> String? {
    guard let end = key.firstIndex(of: 0) else { return nil }
    let name = String(decoding: key[..<end], as: UTF8.self)
    let rest = UnsafeRawBufferPointer(rebasing: key[(end + 1)...])
    guard let collection = catalogue[name], !rest.isEmpty,
      let value = collection.keyKind.value(of: rest)
    else { return nil }
    return "\(name), \(value.shortDescription)"
  }
}
