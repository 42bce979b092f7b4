internal import LarderLMDB

/// Holds documents against what the catalogue says of them, and against their indexes.
struct DocumentCheck {
  private let binding: CollectionBinding
  private(set) var indexes: [IndexCheck]
  private(set) var searches: [SearchCheck]
  private(set) var count = 0
  private(set) var problems: [CheckReport.Problem] = []
  /// Problems after which there is no room for more.
  private let room: Int

  /// Documents after which it is told how many there were.
  static let stride = 1_000

  init(_ collection: Collection, room: Int) {
    self.room = room
    binding = CollectionBinding(collection)
    let complete = collection.indexes.filter(\.isComplete)
    indexes = complete.filter { !$0.isOfWords }.map { IndexCheck($0, in: collection) }
    searches = complete.filter(\.isOfWords).map { SearchCheck($0, in: collection) }
  }

  /// Looks at the documents with these keys, for as long as there is room for problems.
  ///
  /// - Parameter tell: Told how many documents there were; what it throws ends the check.
  mutating func check(
    in range: KeyRange, _ transaction: borrowing LentTransaction, _ tell: (Int) throws -> Void
  ) throws {
    var lastKey: [UInt8]?
    var cursor = try transaction.cursor(in: binding.collection.documents)
    var isThere =
      range.lower.isEmpty
      ? try cursor.next() : try range.lower.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while isThere, range.isBefore(end: cursor.key) {
      let key = cursor.key
      if let lastKey, lastKey.withUnsafeBytes({ Bytes.compare($0, key) >= 0 }) {
        add(key, "keys are out of order")
      }
      lastKey = [UInt8](key)
      do {
        try check(cursor.value, key: key)
        for place in indexes.indices {
          try indexes[place].check(cursor.value, key: key, binding, transaction)
        }
        for search in searches { try search.add(cursor.value, key: key, binding) }
      } catch {
        add(key, "\(error)")
      }
      count += 1
      if problems.count >= room { return }
      if count.isMultiple(of: Self.stride) { try tell(count) }
      isThere = try cursor.next()
    }
  }

  /// Adds what was found in documents with larger keys.
  mutating func add(contentsOf other: DocumentCheck) {
    count += other.count
    problems += other.problems
    for place in indexes.indices { indexes[place].add(contentsOf: other.indexes[place]) }
    for (search, other) in zip(searches, other.searches) { search.add(contentsOf: other) }
  }

  private func check(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
    let collection = binding.collection
    guard (1...KeyKind.maximumByteCount).contains(key.count),
      let keyValue = collection.keyKind.value(of: key)
    else { throw RecordError.invalid("the key is no \(collection.keyKind)") }
    let verified = try collection.verified(record, key: key)
    guard try RecordHeader(verified).byteCount == verified.count else {
      throw RecordError.invalid("bytes follow the record")
    }
    let document = try DynamicDocument(record: verified, binding: binding)
    // Kinds are checked by writing the document again: what a reader accepts, a writer must.
    // Bytes may differ, and fields be missing: the type may have grown since.
    var writer = RecordWriter(binding: binding)
    writer.isRehearsing = true
    do {
      let table = try RecordHeader(verified).table
      guard table == collection.documentTable || collection.description.migratingTo != nil else {
        throw RecordError.invalid("it was never migrated")
      }
      _ = try writer.putDocument(document, table: table, key: key)
    } catch let error as CoercionError {
      throw RecordError.invalid(
        "\(error.path.joined(separator: ".")): expected \(error.expected), found \(error.found)")
    }
    if let name = collection.description.keyField, let stored = document[name],
      !stored.isEqual(to: keyValue)
    {
      throw RecordError.invalid("field \(name) holds another key")
    }
  }

  private mutating func add(_ key: UnsafeRawBufferPointer, _ reason: String) {
    let collection = binding.collection
    problems.append(
      CheckReport.Problem(
        place: "\(collection.name) \(collection.keyKind.text(of: key))", reason: reason))
  }
}

/// Looks for the entries of documents in one index.
struct IndexCheck {
  let index: CollectionIndex
  private(set) var entryCount = 0
  private let encoder: IndexEncoder

  init(_ index: CollectionIndex, in collection: Collection) {
    self.index = index
    encoder = IndexEncoder(index, in: collection)
  }

  /// - Throws: ``RecordError/invalid(_:)`` for an entry that is missing.
  mutating func check(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ binding: CollectionBinding,
    _ transaction: borrowing LentTransaction
  ) throws {
    let verified = try binding.collection.verified(record, key: key)
    let reader = try RecordReader(verified, binding: binding, schema: binding.anonymous, depth: 1)
    var bytes = OrderedBytes()
    var entries: Set<[UInt8]> = []
    encoder.encode(reader, into: &bytes) { values, _, _, bytes in
      entries.insert([UInt8](bytes[values]) + key)
    }
    for entry in entries {
      let isThere = try entry.withUnsafeBytes { entry in
        try transaction.withValue(for: entry, in: index.database) { value in
          index.valueByteCount(ofEntry: entry, value) == entry.count - key.count
        }
      }
      guard let isThere else {
        throw RecordError.invalid("it is missing in the index \(index.name)")
      }
      if !isThere { throw RecordError.invalid("its entry in the index \(index.name) is damaged") }
    }
    entryCount += entries.count
  }

  mutating func add(contentsOf other: IndexCheck) { entryCount += other.entryCount }
}
