internal import LarderLMDB

// How the catalogue becomes known, with the databases that it names.

extension Engine {
  /// Reads the catalogue, and opens the databases that it names, and the migrations'.
  func refreshCatalogue() throws {
    _ = try migrations()
    // Whoever makes the first consumer makes a new version of the catalogue, too.
    if consumers == nil,
      let database = try environment.database(named: Layout.consumersName, create: false)
    {
      know(consumers: database)
    }
    // So does whoever makes the first collection synced.
    if outboxDatabases == nil { try openOutbox() }
    guard let database = try environment.database(named: Layout.catalogueName, create: false)
    else { return try adoptEmptyCatalogue() }
    // Opened before the snapshot, which could not use a handle that is younger.
    let indexRecords = try environment.database(named: Layout.indexesName, create: false)
    let reading = try environment.beginRead()
    guard let state = try reading.state(path: environment.folder) else { return }
    var indexes: [UInt32: IndexRecord] = [:]
    if let indexRecords {
      indexes = try readIndexes(reading, in: indexRecords)
    } else if try reading.hasDatabase(named: Layout.indexesName) {
      return try refreshCatalogue()  // It came into being in between.
    } else {
      try reading.refuseDatabases(Layout.indexPrefix, without: Layout.indexesName)
    }
    var collections: [String: Collection] = [:]
    var cursor = try reading.cursor(in: database)
    while try cursor.next() {
      guard let name = String(validating: cursor.key, as: UTF8.self) else {
        throw StoreError.damagedCatalogue("a collection's name is not UTF-8")
      }
      let description = try CollectionDescription(name: name, cursor.value)
      let documents = try environment.database(
        named: Layout.documentsName(of: name), create: false)
      guard let documents else {
        throw StoreError.damagedCatalogue("the documents of \(name) are missing")
      }
      collections[name] = try Collection(
        description, documents: documents,
        indexes: openIndexes(
          indexes.filter { $0.value.definition.collection == name }, description), log: log,
        damagedSearches: damagedSearches, tokenizers: tokenizers)
    }
    adopt(
      Catalogue(version: state.catalogueVersion, collections: collections, indexes: indexes))
  }

  /// A store without collections has a version all the same: something may have been migrated.
  private func adoptEmptyCatalogue() throws {
    let reading = try environment.beginRead()
    guard let state = try reading.state(path: environment.folder) else { return }
    guard try !reading.hasDatabase(named: Layout.catalogueName) else {
      return try refreshCatalogue()  // It came into being in between.
    }
    try reading.refuseDatabases(Layout.documentsPrefix, without: Layout.catalogueName)
    adopt(Catalogue(version: state.catalogueVersion))
  }

  /// Makes a newer catalogue the known one.
  func adopt(_ catalogue: Catalogue) {
    let isNewer = known.withLock { known in
      guard catalogue.version > known.version else { return false }
      known = catalogue
      return true
    }
    guard isNewer else { return }
    indexRuns.withLock { $0.forget() }
    log.tell(
      .info, "the catalogue has changed",
      [
        "version": "\(catalogue.version)", "collections": "\(catalogue.collections.count)",
        "indexes": "\(catalogue.indexes.count)",
      ])
  }
}

extension Engine {
  /// The records of all indexes as `transaction` sees them.
  func readIndexes(
    _ transaction: borrowing some Transaction & ~Copyable, in database: Database
  ) throws -> [UInt32: IndexRecord] {
    var indexes: [UInt32: IndexRecord] = [:]
    var cursor = try transaction.cursor(in: database)
    while try cursor.next() {
      guard cursor.key.count == 4 else {
        throw StoreError.damagedCatalogue("the number of an index is none")
      }
      let number = UInt32(bigEndian: cursor.key.loadUnaligned(as: UInt32.self))
      indexes[number] = try IndexRecord(cursor.value, number: number)
    }
    return indexes
  }

  /// The indexes among `records` that are in use, with their databases.
  func openIndexes(
    _ records: [UInt32: IndexRecord], _ description: CollectionDescription
  ) throws -> [CollectionIndex] {
    try records.sorted { $0.key < $1.key }.compactMap { number, record in
      if record.state == .dropped || record.state == .free { return nil }
      guard
        let database = try environment.database(named: Layout.indexName(number), create: false)
      else { throw StoreError.damagedCatalogue("the entries of index \(record.definition.name)") }
      return try CollectionIndex(number: number, record, in: description, database: database)
    }
  }
}

extension Engine {
  /// The database of the migrations; nil where nothing was ever migrated.
  func migrations() throws -> Database? {
    try environment.database(named: Layout.migrationsName, create: false)
  }

  /// The same inside a write, where no handle can be opened: one that exists has been opened with
  /// the catalogue.
  var knownMigrations: Database? { environment.knownDatabase(named: Layout.migrationsName) }
}

extension Transaction where Self: ~Copyable {
  /// Names have no checksum. What describes others is made before them, so that without it they are
  /// those of a store whose name of it is damaged, and not of one that is empty.
  ///
  /// - Throws: ``StoreError/damagedCatalogue(_:)`` where a name begins so.
  fileprivate borrowing func refuseDatabases(_ prefix: String, without name: String) throws {
    let prefix = [UInt8](prefix.utf8)
    var cursor = try cursor(in: .main)
    guard try prefix.withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }),
      cursor.key.starts(with: prefix)
    else { return }
    let found = String(decoding: cursor.key, as: UTF8.self)
    throw StoreError.damagedCatalogue("\(name) is missing, and \(found) is there")
  }
}
