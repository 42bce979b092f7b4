internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Saves every document that can still be read whole from a damaged store, which nobody may have
  /// open. Documents that are here already, under the same keys, stay as they are.
  ///
  /// Takes two passes over the damaged file, and one transaction for every thousand documents.
  ///
  /// - Parameters:
  ///   - folder: The folder of the damaged file, such as ``QuarantineReport/folder``.
  ///   - progress: Told now and then how far it is; what it throws ends it.
  /// - Throws: ``StoreError``; what `progress` throws; `CancellationError` where the task was
  ///   cancelled. Documents that were saved before stay.
  public func salvage(
    from folder: URL, progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> SalvageReport {
    try checkOpen()
    return try engine.storing {
      var salvage = Salvage(store: self, folder: folder)
      try salvage.readCatalogue(progress)
      try salvage.readDocuments(progress)
      return salvage.report
    }
  }

  /// Saves what is whole of a damaged store, on a thread of its own; as the synchronous one.
  /// Cancelling the task ends it.
  ///
  /// - Throws: As the synchronous one.
  public func salvage(
    from folder: URL, progress: @escaping @Sendable (StoreProgress) throws -> Void = { _ in }
  ) async throws -> SalvageReport {
    try await DiskWork.run(progress) { [self] progress in
      try salvage(from: folder, progress: progress)
    }
  }
}

private struct Salvage: ~Copyable {
  let store: Store
  let folder: URL
  var report = SalvageReport()
  private var bindings: [String: CollectionBinding] = [:]
  private var builders: [String: Waiting] = [:]
  /// Entries of the outbox that are whole.
  private var edits: [(key: [UInt8], entry: [UInt8])] = []
  /// Whose they are.
  private var notes: [(name: String, bytes: [UInt8])] = []

  /// Records of one collection that wait to be saved.
  private struct Waiting {
    var records: [(key: [UInt8], record: [UInt8])] = []
    var byteCount = 0
  }

  /// Pages of which was told.
  private var toldPageCount = 0

  private static let progressPageCount = 1024
  private static let batchCount = 1000
  private static let batchByteCount = 8 << 20

  init(store: Store, folder: URL) {
    self.store = store
    self.folder = folder
  }

  private var path: String { folder.appending(path: "data.mdb").path(percentEncoded: false) }

  /// - Parameters:
  ///   - readPageCount: Of this pass.
  ///   - pageCount: Of the file, which is passed over twice.
  private mutating func tell(
    _ progress: (StoreProgress) throws -> Void, _ readPageCount: Int, of pageCount: Int,
    isSecond: Bool
  ) throws {
    let count = readPageCount + (isSecond ? pageCount : 0)
    guard count >= toldPageCount + Self.progressPageCount else { return }
    toldPageCount = count
    try StoreProgress(
      .salvaging, completed: count, total: pageCount * 2, documentCount: report.documentCount,
      subject: folder.path(percentEncoded: false)
    ).tell(progress)
  }

  /// Makes the collections that are still described, fields and all: records name fields by the place
  /// that they have there.
  mutating func readCatalogue(_ progress: (StoreProgress) throws -> Void) throws {
    var descriptions: [String: CollectionDescription] = [:]
    var states: [MigrationState.Subject: MigrationState] = [:]
    var pages = try PageSalvage(path: path)
    let pageCount = pages.pageCount
    try pages.forEachRecord { database, key, value, read in
      try tell(progress, read, of: pageCount, isSecond: false)
      if database == nil || database == Layout.migrationsName,
        let subject = MigrationState.Subject(key: key),
        let state = try? MigrationState(value, of: subject)
      {
        states[subject] = state
        return
      }
      guard database == nil || database == Layout.catalogueName,
        let name = String(validating: key, as: UTF8.self),
        (try? Layout.checkedCollectionName(name)) == name,
        // Without its checksum it is none.
        let description = try? CollectionDescription(name: name, value)
      else { return }
      descriptions[name] = description
    }
    if descriptions.values.contains(where: \.isSynced) { try store.prepareOutbox() }
    for (name, description) in descriptions {
      let engine = store.engine
      try engine.writer.run { try engine.declare(Declaration(restoring: description)) }
      // Only where this store had no other idea of the collection.
      guard let binding = engine.catalogue.binding(ofCollection: name),
        binding.collection.description.tables == description.tables,
        binding.collection.keyKind == description.keyKind
      else { continue }
      bindings[name] = binding
    }
    try restore(states.filter { $0.key == .store || bindings[$0.key.name] != nil })
  }

  /// Notes where migrations stand, where this store has no other idea of it: they would be run
  /// again otherwise.
  private func restore(_ states: [MigrationState.Subject: MigrationState]) throws {
    let engine = store.engine
    guard !states.isEmpty else { return }
    try engine.writer.run {
      let migrations = try engine.madeMigrations()
      try engine.perform { scope in
        for (subject, state) in states
        where try scope.transaction.migrationState(of: subject, in: migrations)
          == MigrationState()
        {
          try scope.put(state, of: subject, in: migrations)
        }
      }
    }
  }

  mutating func readDocuments(_ progress: (StoreProgress) throws -> Void) throws {
    var pages = try PageSalvage(path: path)
    let pageCount = pages.pageCount
    try pages.forEachRecord { database, key, value, read in
      try tell(progress, read, of: pageCount, isSecond: true)
      if database == Layout.outboxName {
        // Edits that no remote has yet. What is known of the remote stays behind: everything is
        // loaded from there anew, and what was lost here comes back with it.
        if OutboxEntry(value, key: key) != nil { edits.append(([UInt8](key), [UInt8](value))) }
        return
      }
      if database == Layout.syncName {
        if key.elementsEqual(OutboxKey.recordKey([UInt8](OutboxKey.accountName.utf8))),
          let bytes = SyncRecord.bytes(value, key: key)
        {
          notes.append((OutboxKey.accountName, bytes))
        }
        return
      }
      if let database {
        guard database.hasPrefix(Layout.documentsPrefix) else { return }
        let name = String(database.dropFirst(Layout.documentsPrefix.count))
        guard let binding = bindings[name], belongs(key, value, binding.collection) else {
          report.damagedRecordCount += 1
          return
        }
        try add(key, value, to: name)
      } else if let name = bindings.first(where: { belongs(key, value, $0.value.collection) })?.key
      {
        // The checksum holds for one collection and one key only.
        try add(key, value, to: name)
      }
    }
    for name in builders.keys.sorted() { try save(name) }
    try saveEdits()
    report.skippedPageCount = pages.skippedPageCount
    report.mayBeEarlier = pages.mayBeEarlier
  }

  private func belongs(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ collection: Collection
  ) -> Bool {
    guard (1...KeyKind.maximumByteCount).contains(key.count),
      collection.keyKind.value(of: key) != nil
    else { return false }
    return (try? collection.verified(value, key: key)) != nil
  }

  private mutating func add(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, to name: String
  ) throws {
    builders[name, default: Waiting()].records.append(([UInt8](key), [UInt8](value)))
    builders[name, default: Waiting()].byteCount += key.count + value.count
    let waiting = builders[name, default: Waiting()]
    if waiting.records.count >= Self.batchCount || waiting.byteCount >= Self.batchByteCount {
      try save(name)
    }
  }

  /// Puts the entries of the outbox back whose documents have none.
  private func saveEdits() throws {
    guard !edits.isEmpty else { return }
    try store.prepareOutbox()
    try store.write { tx in try tx.restoreOutbox(edits, notes: notes) }
  }

  private mutating func save(_ name: String) throws {
    guard let waiting = builders.removeValue(forKey: name), let read = bindings[name] else {
      return
    }
    let saved: Int? = try store.write { tx in
      // Not the collection as it was when the records were read: an index may have been added since.
      guard let binding = tx.catalogue.binding(ofCollection: name),
        binding.collection.description.reads(recordsOf: read.collection.description)
      else { return nil }
      var builder = BatchBuilder(binding, count: waiting.records.count)
      var saved = 0
      for (key, record) in waiting.records {
        let isNew = try key.withUnsafeBytes { key in
          guard
            try tx.transaction.withValue(for: key, in: binding.collection.documents, { _ in true })
              == nil
          else { return false }
          try record.withUnsafeBytes { try builder.append(record: $0, key: key) }
          return true
        }
        if isNew { saved += 1 }
      }
      let batch = Batch(builder)
      _ = try tx.rewriting { try $0.apply(batch, clearing: nil, binding) }
      return saved
    }
    guard let saved else {
      // Erased meanwhile, and perhaps declared in another way.
      report.damagedRecordCount += waiting.records.count
      return
    }
    report.documentCounts[name, default: 0] += saved
  }
}

extension Declaration {
  /// A collection as it was described in a store that was damaged.
  fileprivate init(restoring restored: CollectionDescription) {
    name = restored.name
    keyKind = restored.keyKind
    keyField = restored.keyField
    merge = { description in
      if description.tables == [FieldTable()] { description = restored }
    }
  }
}

extension CollectionDescription {
  /// Whether records that were written by an earlier description are of the documents' table here.
  fileprivate func reads(recordsOf earlier: CollectionDescription) -> Bool {
    keyKind == earlier.keyKind && documentTable == earlier.documentTable
      && tables.count >= earlier.tables.count
      && zip(tables, earlier.tables).allSatisfy { table, earlier in
        table.fields.map(\.name).starts(with: earlier.fields.map(\.name))
      }
  }
}
