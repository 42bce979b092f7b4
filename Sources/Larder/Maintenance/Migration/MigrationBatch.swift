internal import LarderLMDB

/// How much a migration reads, changes and writes in one transaction: whichever comes first.
struct MigrationLimits: Sendable {
  var documentCount = 1000
  var byteCount = 1 << 20

  /// Whether a batch has one document, and cannot be smaller.
  var areLeast: Bool { documentCount <= 1 }

  /// Makes batches half as large, for a store without room for larger ones: the pages that one of them frees serve the
  /// next. False where they cannot be smaller.
  mutating func halve() -> Bool {
    if areLeast { return false }
    (documentCount, byteCount) = (documentCount / 2, max(1, byteCount / 2))
    return true
  }
}

/// Documents that are migrated in one transaction.
struct MigrationBatch {
  struct Item {
    /// The key that the document was found under.
    let storedKey: [UInt8]
    /// The key that it will be stored under.
    var key: [UInt8]
    /// Whether its record repeats the key in a field.
    let repeatsKey: Bool
    var content: MigratingDocument
  }

  let collection: Collection
  /// In the order of the keys that they were found under.
  private(set) var documents: [Item] = []
  /// Whether no document behind them is still to be migrated.
  private(set) var isLast = true
  /// Keys that no document has any more.
  private(set) var vacated: Set<[UInt8]> = []
  /// Keys that documents were moved to.
  private var occupied: Set<[UInt8]> = []

  /// Reads the next documents that still have an earlier table.
  ///
  /// Those that have the new one already were moved here, under keys of their new version.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for the first that cannot be
  ///   read.
  init(
    _ collection: Collection, after lastKey: [UInt8]?, _ limits: MigrationLimits,
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    self.collection = collection
    let binding = CollectionBinding(collection)
    var byteCount = 0
    var cursor = try transaction.cursor(in: collection.documents)
    var isFirst = true
    while try isFirst ? cursor.moveBehind(lastKey) : cursor.next() {
      isFirst = false
      let (key, record) = (cursor.key, cursor.value)
      let document = try binding.reading(record, key: key) { reader -> DynamicDocument? in
        reader.table == collection.documentTable ? nil : try DynamicDocument(reader)
      }
      guard let document else { continue }
      guard documents.count < limits.documentCount, byteCount < limits.byteCount else {
        isLast = false
        return
      }
      guard let value = collection.keyKind.value(of: key) else {
        throw binding.damaged(key, .invalid("the key is no \(collection.keyKind)"))
      }
      byteCount += record.count
      let stored = [UInt8](key)
      documents.append(
        Item(
          storedKey: stored, key: stored,
          repeatsKey: collection.description.keyField.flatMap { document[$0] } != nil,
          content: MigratingDocument(key: value, document)))
    }
  }

  /// Runs the closure on one document after the other.
  ///
  /// - Throws: ``MigrationError`` with what it threw; ``StoreError/keyTaken(collection:key:taken:)``;
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)`` for a key that is none.
  mutating func change(
    to version: Int, _ transaction: borrowing WriteTransaction,
    _ body: (inout MigratingDocument) throws -> Void
  ) throws {
    for index in documents.indices {
      try change(at: index, to: version, body)
      let item = documents[index]
      if item.content.isDeleted {
        vacated.insert(item.storedKey)
        continue
      }
      let key = try newKey(of: item)
      if key == item.storedKey { continue }
      guard try isFree(key, transaction) else {
        throw StoreError.keyTaken(
          collection: collection.name, key: keyText(item.storedKey), taken: keyText(key))
      }
      documents[index].key = key
      vacated.insert(item.storedKey)
      vacated.remove(key)
      occupied.insert(key)
    }
  }

  /// Runs the closure on one document, and does not look at what becomes of its key.
  ///
  /// - Throws: ``MigrationError`` with what it threw.
  mutating func change(
    at index: Int, to version: Int, _ body: (inout MigratingDocument) throws -> Void
  ) throws {
    do {
      try body(&documents[index].content)
    } catch {
      throw MigrationError(
        collection: collection.name, key: keyText(documents[index].storedKey),
        version: version, underlying: error)
    }
  }

  /// Whether no document has this key, after all the documents before were changed: what a batch
  /// holds makes no difference.
  private func isFree(
    _ key: [UInt8], _ transaction: borrowing WriteTransaction
  ) throws -> Bool {
    if occupied.contains(key) { return false }
    if vacated.contains(key) { return true }
    return try key.withUnsafeBytes { key in
      try transaction.withValue(for: key, in: collection.documents) { _ in true } == nil
    }
  }

  private func newKey(of item: Item) throws(StoreError) -> [UInt8] {
    guard let field = collection.description.keyField else { return item.storedKey }
    let value = item.content.document[field]
    guard value != nil || item.repeatsKey else { return item.storedKey }
    guard let key = value?.encodedKey(of: collection.keyKind) else {
      throw .valueRefused(
        collection: collection.name, key: keyText(item.storedKey), field: field,
        found: value?.shortDescription ?? StoreError.nothing,
        expected: "a key (\(collection.keyKind))")
    }
    guard (1...KeyKind.maximumByteCount).contains(key.count) else {
      throw .keyLength(
        collection: collection.name, key: keyText(key), byteCount: key.count,
        limit: KeyKind.maximumByteCount)
    }
    return key
  }

  func keyText(_ key: [UInt8]) -> String {
    key.withUnsafeBytes { collection.keyKind.text(of: $0) }
  }
}
