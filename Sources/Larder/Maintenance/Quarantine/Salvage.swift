internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One salvage: two passes over a damaged file.
struct Salvage: ~Copyable {
  let store: Store
  let folder: URL
  var report = SalvageReport()
  /// The collections that the file describes.
  var sources: [String: Source] = [:]
  private var builders: [String: Waiting] = [:]
  /// Entries of the outbox that are whole.
  private var edits: [(key: [UInt8], entry: [UInt8])] = []
  /// Whole records of what is known of the remote, which are saved some at a time.
  private var syncRecords: [(key: [UInt8], value: [UInt8])] = []
  private var hasSyncRecords = false

  /// A collection of the file.
  struct Source {
    /// With the fields that the file describes: records name them by the place that they have there.
    let binding: CollectionBinding
    /// Why its documents cannot be saved in the store; nil where they can.
    let refusal: String?

    var description: CollectionDescription { binding.collection.description }
  }

  /// Records of one collection that wait to be saved.
  struct Waiting {
    var records: [(key: [UInt8], record: [UInt8])] = []
    var byteCount = 0
  }

  /// How many pages the caller was last told of.
  private var toldPageCount = 0

  private static let progressPageCount = 1024
  private static let batchCount = 1000
  private static let batchByteCount = 8 << 20

  init(store: Store, folder: URL) {
    self.store = store
    self.folder = folder
  }

  var path: String { folder.appending(path: "data.mdb").path(percentEncoded: false) }

  /// - Parameters:
  ///   - readPageCount: Of this pass.
  ///   - pageCount: Of the file, which is passed over twice.
  mutating func tell(
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

  mutating func readDocuments(_ progress: (StoreProgress) throws -> Void) throws {
    var pages = try PageSalvage(path: path)
    let pageCount = pages.pageCount
    try pages.forEachRecord { database, key, value, read in
      try tell(progress, read, of: pageCount, isSecond: true)
      try take(key, value, of: database)
    }
    for name in builders.keys.sorted() { try save(name) }
    try saveSyncRecords()
    try saveEdits()
    report.skippedPageCount = pages.skippedPageCount
    report.mayBeEarlier = pages.mayBeEarlier
  }

  /// - Parameter database: Nil where no tree leads to the record. Then its checksum tells what it is.
  private mutating func take(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, of database: String?
  ) throws {
    switch database {
    case Layout.outboxName: takeEdit(key, value)
    case Layout.syncName: try takeSyncRecord(key, value)
    case let database?:
      guard database.hasPrefix(Layout.documentsPrefix) else { return }
      let name = String(database.dropFirst(Layout.documentsPrefix.count))
      guard let source = sources[name], belongs(key, value, source) else {
        report.damagedRecordCount += 1
        return
      }
      try add(key, value, to: name, source)
    case nil:
      if try takeEdit(key, value) || takeSyncRecord(key, value) { return }
      // The checksum holds for one collection and one key only.
      if let (name, source) = sources.first(where: { belongs(key, value, $0.value) }) {
        try add(key, value, to: name, source)
      }
    }
  }

  private func belongs(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ source: Source
  ) -> Bool {
    let collection = source.binding.collection
    guard (1...KeyKind.maximumByteCount).contains(key.count),
      collection.keyKind.value(of: key) != nil
    else { return false }
    return (try? collection.verified(value, key: key)) != nil
  }

  private mutating func add(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, to name: String,
    _ source: Source
  ) throws {
    if let refusal = source.refusal { return report.leave(1, of: name, because: refusal) }
    builders[name, default: Waiting()].records.append(([UInt8](key), [UInt8](value)))
    builders[name, default: Waiting()].byteCount += key.count + value.count
    let waiting = builders[name, default: Waiting()]
    if waiting.records.count >= Self.batchCount || waiting.byteCount >= Self.batchByteCount {
      try save(name)
    }
  }

  private mutating func save(_ name: String) throws {
    guard let waiting = builders.removeValue(forKey: name), let source = sources[name] else {
      return
    }
    try save(waiting, of: name, source)
  }
}

// MARK: Edits

extension Salvage {
  /// Takes an edit that no remote has yet.
  ///
  /// - Returns: False where the record is none.
  @discardableResult
  private mutating func takeEdit(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Bool {
    guard let end = key.firstIndex(of: 0),
      let source = sources[String(decoding: key[..<end], as: UTF8.self)],
      source.description.keyKind.value(of: UnsafeRawBufferPointer(rebasing: key[(end + 1)...]))
        != nil,
      let entry = OutboxEntry(value, key: key)
    else { return false }
    // It goes with its document.
    guard source.refusal == nil else { return true }
    let isReadable = readsAsTheyAre(source)
    edits.append(
      ([UInt8](key), isReadable ? [UInt8](value) : entry.withoutRecords.encoded(key: key)))
    return true
  }

  /// Takes what is known of the remote, such as whose edits they are; false where the record is none.
  @discardableResult
  private mutating func takeSyncRecord(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws -> Bool {
    guard SyncRecord.body(value, key: key) != nil, isSyncRecord(key) else { return false }
    syncRecords.append(([UInt8](key), [UInt8](value)))
    if syncRecords.count >= Self.batchCount { try saveSyncRecords() }
    return true
  }

  /// Whether a key is that of a note, or of what is noted beside a document.
  private func isSyncRecord(_ key: UnsafeRawBufferPointer) -> Bool {
    // A description of a collection with such a name has the same checksum.
    guard sources[String(decoding: key, as: UTF8.self)] == nil, let tag = key.first else {
      return false
    }
    if tag == OutboxKey.recordTag { return true }
    guard [OutboxKey.baseTag, OutboxKey.markTag, OutboxKey.keptTag].contains(tag) else {
      return false
    }
    let rest = UnsafeRawBufferPointer(rebasing: key[1...])
    guard let end = rest.firstIndex(of: 0),
      let source = sources[String(decoding: rest[..<end], as: UTF8.self)]
    else { return false }
    return source.description.keyKind.value(
      of: UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])) != nil
  }

  private mutating func saveSyncRecords() throws {
    guard !syncRecords.isEmpty else { return }
    try store.prepareOutbox()
    hasSyncRecords = true
    let records = exchange(&syncRecords, with: [])
    try store.write { tx in try tx.restoreSyncRecords(records) }
  }

  /// Puts the entries of the outbox back whose documents have none. What was lost here is to be loaded from the
  /// remote again.
  private func saveEdits() throws {
    guard hasSyncRecords || !edits.isEmpty else { return }
    try store.prepareOutbox()
    try store.write { tx in
      try tx.restoreOutbox(edits)
      guard hasSyncRecords else { return }
      try tx.forgetBasesWithoutDocuments()
      try tx.setSyncNote(OutboxKey.salvagedName, to: [1])
    }
  }
}

extension OutboxEntry {
  /// What is left where its records cannot be read any more: the edit is sent as one that was not sent before.
  fileprivate var withoutRecords: OutboxEntry {
    var entry = OutboxEntry()
    (entry.sequence, entry.base, entry.isDeleted) = (sequence, base, isDeleted)
    return entry
  }
}
