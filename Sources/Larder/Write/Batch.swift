/// Records that are ready to be written, sorted by their keys, each key once.
///
/// Made on the caller's side, before the writer's line, and never changed afterwards.
@usableFromInline final class Batch: @unchecked Sendable {  // Immutable after init.
  private let chunks: Chunks
  let entries: [Entry]
  /// Which fields the documents know; nil where their type has a schema.
  let knowledge: (any FieldKnowledge)?
  /// Earlier values of keys that stood several times; the last of each is in the batch.
  let duplicateCount: Int
  /// The field table of the records. Where the collection has been migrated since they were
  /// encoded, it is no longer the documents' own, and they must be encoded again.
  let documentTable: Int

  /// A key and its record, in one of the batch's chunks.
  @usableFromInline struct Entry {
    /// Set when the chunk is full and will not move any more.
    var chunk: UnsafeRawPointer
    let keyStart: Int
    let keyCount: Int
    let recordStart: Int
    let recordCount: Int

    var key: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: chunk + keyStart, count: keyCount)
    }

    var record: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: chunk + recordStart, count: recordCount)
    }
  }

  @usableFromInline init(_ builder: consuming BatchBuilder) {
    builder.sealChunk(isLast: true)
    knowledge = builder.writer.guest?.knowledge
    chunks = builder.chunks
    documentTable = builder.binding.collection.documentTable
    var entries = builder.entries
    duplicateCount = Self.sort(&entries)
    self.entries = entries
  }

  @usableFromInline var isEmpty: Bool { entries.isEmpty }

  /// What keys and records take in memory.
  @usableFromInline var byteCount: Int { chunks.byteCount }

  /// Sorts by key and drops all but the last of equal ones; returns how many it dropped.
  ///
  /// A sorted batch, as servers and files often give it, is found so in one pass.
  private static func sort(_ entries: inout [Entry]) -> Int {
    guard !isAscending(entries) else { return 0 }
    var kept: [Entry] = []
    kept.reserveCapacity(entries.count)
    for item in KeySort.sorted(count: entries.count, { entries[$0].key }) {
      let entry = entries[Int(item.place)]
      if let last = kept.last, Bytes.equal(last.key, entry.key) {
        kept[kept.count - 1] = entry
      } else {
        kept.append(entry)
      }
    }
    let dropped = entries.count - kept.count
    entries = kept
    return dropped
  }

  private static func isAscending(_ entries: [Entry]) -> Bool {
    guard var last = entries.first else { return true }
    for entry in entries.dropFirst() {
      if Bytes.compare(last.key, entry.key) >= 0 { return false }
      last = entry
    }
    return true
  }
}

/// The memory of a batch.
final class Chunks {
  var pointers: [UnsafeMutableRawPointer] = []
  var byteCount = 0

  deinit {
    for pointer in pointers { pointer.deallocate() }
  }
}

/// Encodes documents one by one into a batch.
@usableFromInline struct BatchBuilder: ~Copyable {
  @usableFromInline var writer: RecordWriter
  @usableFromInline let binding: CollectionBinding
  var entries: [Batch.Entry] = []
  /// Full chunks. They are not moved, so that no byte is copied as the batch grows.
  let chunks = Chunks()
  private var firstOfChunk = 0
  private var keyStart = 0

  private static let chunkByteCount = 256 << 10

  @usableFromInline init(_ binding: CollectionBinding, count: Int) {
    self.binding = binding
    writer = RecordWriter(
      binding: binding, capacity: min(count * 256 + 1024, Self.chunkByteCount))
    entries.reserveCapacity(count)
  }

  /// - Throws: ``StoreError/keyLength(collection:key:byteCount:limit:)`` or
  ///   ``StoreError/unwritable(collection:key:reason:)``. The builder must then be let go of.
  @inlinable mutating func append<Entity: Document>(_ document: Entity) throws {
    try withUnsafePointer(to: document) { try append(at: $0) }
  }

  /// Adds a document where it stands; throws as ``append(_:)`` does.
  @inlinable mutating func append<Entity: Document>(at document: UnsafePointer<Entity>) throws {
    try document.pointee.entityAccessorKey.withEncodedKey { try append(at: document, key: $0) }
  }

  /// Adds a document where it stands, under its encoded key; throws as ``append(_:)`` does.
  @inlinable @inline(__always) mutating func append<Entity: Document>(
    at document: UnsafePointer<Entity>, key: UnsafeRawBufferPointer
  ) throws {
    try begin(key)
    writer.beginDocument()
    writer.putFields(of: document)
    try end(key)
  }

  /// Adds a document without a type.
  ///
  /// - Throws: As for a typed document, and ``StoreError/valueRefused`` for a value that does
  ///   not fit its field.
  mutating func append(_ document: DynamicDocument, key: UnsafeRawBufferPointer) throws {
    do {
      try append(coercing: document, key: key)
    } catch let error as CoercionError {
      throw binding.refused(key, error)
    }
  }

  /// Adds a document without a type.
  ///
  /// - Throws: As ``append(_:key:)``, but ``CoercionError`` for a value that does not fit.
  mutating func append(coercing document: DynamicDocument, key: UnsafeRawBufferPointer) throws {
    try begin(key)
    do {
      add(key, try writer.putDocument(document, key: key))
    } catch let error as RecordError {
      throw unwritable(key, error)
    }
  }

  /// Adds a record as it is stored already.
  mutating func append(record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
    try begin(key)
    let start = writer.count
    writer.append(record)
    add(key, start..<writer.count)
  }

  /// Adds a record of another collection with the same tables, without its checksum.
  mutating func append(body: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
    try begin(key)
    let start = writer.count
    writer.append(body)
    let hash = Checksum.hash(body, seed: Checksum.hash(key, seed: binding.checksumSeed))
    writer.appendInteger(hash.littleEndian)
    add(key, start..<writer.count)
  }

  @usableFromInline mutating func begin(_ key: UnsafeRawBufferPointer) throws {
    guard (1...KeyKind.maximumByteCount).contains(key.count) else {
      throw StoreError.keyLength(
        collection: binding.collection.name, key: binding.collection.keyKind.text(of: key),
        byteCount: key.count, limit: KeyKind.maximumByteCount)
    }
    // Room for most documents, so that a chunk seldom has to grow, which would move it.
    if writer.capacity - writer.count < 4096 { sealChunk() }
    keyStart = writer.count
    writer.append(key)
  }

  /// Bytes of keys and records so far.
  var byteCount: Int { chunks.byteCount + writer.count }

  /// What they take in memory, with the room behind them and what says where they stand.
  var memoryByteCount: Int {
    chunks.byteCount + writer.capacity + entries.count * MemoryLayout<Batch.Entry>.stride
  }

  /// Forgets the document that was begun.
  mutating func abandon() {
    writer.abandon(to: keyStart)
  }

  /// Lends the record that was added last, without its checksum.
  func withLast<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let last = entries[entries.count - 1]
    let end = last.recordStart + last.recordCount - RecordFormat.checksumByteCount
    return writer.withBytes { body(UnsafeRawBufferPointer(rebasing: $0[last.recordStart..<end])) }
  }

  /// Forgets the document that was added last.
  mutating func removeLast() {
    abandon()
    entries.removeLast()
  }

  @usableFromInline mutating func end(_ key: UnsafeRawBufferPointer) throws {
    do {
      add(key, try writer.endDocument(key: key))
    } catch {
      // Not one that lacks fields: it is encoded again when they are declared, and until then the
      // batch finds out what else is lacking.
      guard writer.guest?.takeLack() == true else { throw unwritable(key, error) }
    }
  }

  /// - Throws: ``FieldsNeeded`` where the catalogue lacks fields of documents without a schema.
  @usableFromInline func checkDeclared() throws {
    let guest = writer.guest as? any DeclaringGuest
    if let needed = try guest?.missingFields(in: binding.collection) {
      throw FieldsNeeded(declaration: needed)
    }
  }

  private mutating func add(_ key: UnsafeRawBufferPointer, _ record: Range<Int>) {
    entries.append(
      Batch.Entry(
        chunk: UnsafeRawPointer(writer.base), keyStart: keyStart, keyCount: key.count,
        recordStart: record.lowerBound, recordCount: record.count))
  }

  /// Ends the chunk that is being written and begins another, which nobody needs behind the last.
  mutating func sealChunk(isLast: Bool = false) {
    guard writer.count > 0 else { return }
    chunks.byteCount += writer.count
    let chunk = writer.takeBytes(capacity: isLast ? 16 : Self.chunkByteCount)
    chunks.pointers.append(chunk)
    for index in firstOfChunk..<entries.count { entries[index].chunk = UnsafeRawPointer(chunk) }
    firstOfChunk = entries.count
  }

  private func unwritable(_ key: UnsafeRawBufferPointer, _ error: RecordError) -> StoreError {
    .unwritable(
      collection: binding.collection.name, key: binding.collection.keyKind.text(of: key),
      reason: error)
  }
}

extension CollectionBinding {
  func refused(_ key: UnsafeRawBufferPointer, _ error: CoercionError) -> StoreError {
    .valueRefused(
      collection: collection.name, key: collection.keyKind.text(of: key),
      field: error.path.joined(separator: "."), found: error.found, expected: error.expected)
  }
}
