internal import LarderLMDB

/// The databases of a store that hold no documents, as far as they exist.
struct StoreInside {
  let log: Database?
  let consumers: Database?
  let migrations: Database?
  let indexes: Database?

  init(_ engine: Engine) throws {
    func database(_ name: String) throws -> Database? {
      try engine.environment.database(named: name, create: false)
    }
    log = try database(Layout.changesName)
    consumers = try database(Layout.consumersName)
    migrations = try database(Layout.migrationsName)
    indexes = try database(Layout.indexesName)
  }
}

extension Checker {
  /// What the store keeps beside documents, indexes and notes. Damage there costs no document, and
  /// nothing else tells of it: a log that cannot be read is a reset for whoever reads it.
  mutating func checkInside() throws {
    try checkNames()
    try checkIndexRecords()
    try checkTimeline()
    try checkLog()
    try checkConsumers()
    try checkMigrations()
    try checkOutbox()
  }

  /// What no remote knows yet, and what is known of remotes.
  private mutating func checkOutbox() throws {
    guard let databases = snapshot.engine.outboxDatabases else { return }
    var outbox = try snapshot.transaction.cursor(in: databases.outbox)
    while !isFull, try outbox.next() {
      let name = OutboxKey.name(of: outbox.key, in: snapshot.catalogue)
      if name == nil {
        add("outbox", "an entry is of no document that there could be")
      } else if OutboxEntry(outbox.value, key: outbox.key) == nil {
        add("outbox, \(name ?? "")", "its checksum does not match")
      }
    }
    var sync = try snapshot.transaction.cursor(in: databases.sync)
    while !isFull, try sync.next() {
      if SyncRecord.bytes(sync.value, key: sync.key) == nil {
        add("sync", "the checksum of a record does not match")
      }
    }
  }

  private var isFull: Bool { report.problems.count >= CheckReport.maximumProblemCount }

  /// Names have no checksum: what was called otherwise once is there, and nobody looks for it.
  private mutating func checkNames() throws {
    let known: Set = [
      "larder.state", Layout.timelineName, Layout.catalogueName, Layout.indexesName,
      Layout.changesName, Layout.migrationsName, Layout.consumersName, Layout.outboxName,
      Layout.syncName,
    ]
    let catalogue = snapshot.catalogue
    var cursor = try snapshot.transaction.cursor(in: .main)
    while !isFull, try cursor.next() {
      let name = String(decoding: cursor.key, as: UTF8.self)
      if known.contains(name) || name.hasPrefix(Layout.notesPrefix) { continue }
      if name.hasPrefix(Layout.documentsPrefix) || name.hasPrefix(Layout.indexPrefix) {
        let isKnown =
          catalogue[String(name.dropFirst(Layout.documentsPrefix.count))] != nil
          || UInt32(name.dropFirst(Layout.indexPrefix.count)).map { catalogue.indexes[$0] } != nil
        // One that a process made which ended before it could say what for is empty.
        if isKnown || Self.entryCount(ofDatabase: cursor.value) == 0 { continue }
        add(name, "nothing in the store belongs to it")
      } else {
        add(name, "it is no name that Larder gives")
      }
    }
  }

  /// What LMDB notes of a database; nil for anything else.
  private static func entryCount(ofDatabase bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard bytes.count == 48 else { return nil }
    return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self))
  }

  /// The next opening reads these, and refuses the store where one is damaged.
  private mutating func checkIndexRecords() throws {
    guard let indexes = inside.indexes else { return }
    let known = snapshot.catalogue.indexes
    var numbers: Set<UInt32> = []
    var cursor = try snapshot.transaction.cursor(in: indexes)
    while !isFull, try cursor.next() {
      guard cursor.key.count == 4 else {
        add("indexes", "the number of an index is none")
        continue
      }
      let number = UInt32(bigEndian: cursor.key.loadUnaligned(as: UInt32.self))
      numbers.insert(number)
      do {
        // Not its state: how far an index is built is known to the store alone.
        let definition = try IndexRecord(cursor.value, number: number).definition
        if let inUse = known[number], definition != inUse.definition {
          add("index \(number)", "its description differs from the one in use")
        }
      } catch {
        add("index \(number)", "\(error)")
      }
    }
    if !isFull, numbers != Set(known.keys) { add("indexes", "they differ from those in use") }
  }

  private mutating func checkTimeline() throws {
    if try snapshot.transaction.hasDatabase(named: Layout.timelineName),
      try snapshot.transaction.timeline() == nil
    {
      add("timeline", "its checksum does not match")
    }
  }

  private mutating func checkLog() throws {
    // One that has lost its name is among those that nobody knows.
    guard let log = inside.log else { return }
    var last = UInt64(0)
    var cursor = try snapshot.transaction.cursor(in: log)
    while !isFull, try cursor.next() {
      guard cursor.key.count == 8 else {
        add("change log", "a key has \(cursor.key.count) bytes")
        continue
      }
      let first = UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self))
      do {
        let pack = try ChangePackReader(cursor.value, firstSequence: first)
        _ = try pack.forEach(after: 0) { _ in true }
        guard first > last, pack.header.lastSequence <= snapshot.sequence else {
          throw RecordError.invalid("its changes have the numbers of others")
        }
        last = pack.header.lastSequence
      } catch {
        add("change log, the pack at \(first)", "\(error)")
      }
    }
  }

  private mutating func checkConsumers() throws {
    guard let consumers = inside.consumers else { return }
    let timeline = try snapshot.transaction.timeline()?.id
    var cursor = try snapshot.transaction.cursor(in: consumers)
    while !isFull, try cursor.next() {
      let name = String(decoding: cursor.key, as: UTF8.self)
      do {
        let record = try ConsumerRecord(cursor.value, name: name)
        if record.position(in: timeline) ?? 0 > snapshot.sequence {
          add("consumer \(name)", "it has acknowledged changes that there are not")
        }
      } catch {
        add("consumer \(name)", "\(error)")
      }
    }
  }

  private mutating func checkMigrations() throws {
    guard let migrations = inside.migrations else { return }
    var cursor = try snapshot.transaction.cursor(in: migrations)
    while !isFull, try cursor.next() {
      guard let subject = MigrationState.Subject(key: cursor.key) else {
        add("migrations", "a key is no name")
        continue
      }
      do {
        _ = try MigrationState(cursor.value, of: subject)
      } catch {
        add("migration of \(subject.name)", "\(error)")
      }
    }
  }
}
