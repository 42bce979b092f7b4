/// Records that are ready to be written, sorted by their keys, each key once.
///
/// Made on the caller's side, before the writer's line, and never changed afterwards.
@usableFromInline final class Batch: @unchecked Sendable {  // Immutable after init.
  private let bytes: RecordWriter
  let entries: [Entry]
  /// Earlier values of keys that stood several times; the last of each is in the batch.
  let duplicateCount: Int

  struct Entry {
    /// The first 8 bytes of the key behind what all keys begin with: most comparisons end here.
    var prefix: UInt64 = 0
    let keyStart: Int
    let keyCount: Int
    let record: Range<Int>
  }

  init(_ bytes: consuming RecordWriter, _ entries: consuming [Entry]) {
    var entries = entries
    let found = bytes.withBytes { Self.sort(&entries, $0) }
    self.bytes = bytes
    self.entries = entries
    duplicateCount = found
  }

  @usableFromInline var isEmpty: Bool { entries.isEmpty }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withBytes(body)
  }

  /// Sorts by key and drops all but the last of equal ones; returns how many it dropped.
  ///
  /// A sorted batch, as servers and files often give it, is found so in one pass.
  private static func sort(_ entries: inout [Entry], _ bytes: UnsafeRawBufferPointer) -> Int {
    guard !isAscending(entries, bytes) else { return 0 }
    let common = commonPrefixCount(entries, bytes)
    for index in entries.indices {
      entries[index].prefix = prefix(bytes.key(of: entries[index]), from: common)
    }
    entries.sort { left, right in
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      let order = Bytes.compare(bytes.key(of: left), bytes.key(of: right))
      return order != 0 ? order < 0 : left.keyStart < right.keyStart
    }
    var kept: [Entry] = []
    kept.reserveCapacity(entries.count)
    for entry in entries {
      if let last = kept.last, Bytes.equal(bytes.key(of: last), bytes.key(of: entry)) {
        kept[kept.count - 1] = entry
      } else {
        kept.append(entry)
      }
    }
    let dropped = entries.count - kept.count
    entries = kept
    return dropped
  }

  private static func isAscending(_ entries: [Entry], _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard var last = entries.first else { return true }
    for entry in entries.dropFirst() {
      if Bytes.compare(bytes.key(of: last), bytes.key(of: entry)) >= 0 { return false }
      last = entry
    }
    return true
  }

  private static func commonPrefixCount(
    _ entries: [Entry], _ bytes: UnsafeRawBufferPointer
  ) -> Int {
    guard let first = entries.first else { return 0 }
    let model = bytes.key(of: first)
    var common = model.count
    for entry in entries where common > 0 {
      let key = bytes.key(of: entry)
      var place = 0
      while place < min(common, key.count), key[place] == model[place] { place += 1 }
      common = place
    }
    return common
  }

  private static func prefix(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
    if key.count >= start + 8 {
      return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var prefix: UInt64 = 0
    for place in start..<start + 8 {
      prefix = prefix << 8 | (place < key.count ? UInt64(key[place]) : 0)
    }
    return prefix
  }
}

extension UnsafeRawBufferPointer {
  func key(of entry: Batch.Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[entry.keyStart..<entry.keyStart + entry.keyCount])
  }

  func record(of entry: Batch.Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: self[entry.record])
  }
}

/// Encodes documents one by one into a batch.
@usableFromInline struct BatchBuilder: ~Copyable {
  @usableFromInline var writer: RecordWriter
  var entries: [Batch.Entry] = []
  @usableFromInline let binding: CollectionBinding

  @usableFromInline init(_ binding: CollectionBinding, count: Int) {
    self.binding = binding
    writer = RecordWriter(binding: binding, capacity: min(max(count, 1), 4096) * 256)
    entries.reserveCapacity(count)
  }

  /// - Throws: ``StoreError/keyLength(collection:key:byteCount:limit:)`` or
  ///   ``StoreError/unwritable(collection:key:reason:)``. The builder must then be let go of.
  @inlinable mutating func append<Entity: Document>(_ document: Entity) throws {
    try document.entityAccessorKey.withEncodedKey { key in
      try begin(key)
      let outer = writer.beginDocument()
      document.encode(into: &writer)
      try end(outer, key)
    }
  }

  /// Adds a document without a type.
  ///
  /// - Throws: As for a typed document, and ``StoreError/valueRefused`` for a value that does
  ///   not fit its field.
  mutating func append(_ document: DynamicDocument, key: UnsafeRawBufferPointer) throws {
    try begin(key)
    let start = writer.count - key.count
    do {
      let record = try writer.putDocument(document, key: key)
      entries.append(Batch.Entry(keyStart: start, keyCount: key.count, record: record))
    } catch let error as CoercionError {
      throw StoreError.valueRefused(
        collection: binding.collection.name, key: binding.collection.keyKind.text(of: key),
        field: error.path.joined(separator: "."), found: error.found, expected: error.expected)
    } catch let error as RecordError {
      throw unwritable(key, error)
    }
  }

  @usableFromInline mutating func begin(_ key: UnsafeRawBufferPointer) throws {
    guard (1...KeyKind.maximumByteCount).contains(key.count) else {
      throw StoreError.keyLength(
        collection: binding.collection.name, key: binding.collection.keyKind.text(of: key),
        byteCount: key.count, limit: KeyKind.maximumByteCount)
    }
    writer.append(key)
  }

  @usableFromInline mutating func end(
    _ outer: RecordWriter.Frame, _ key: UnsafeRawBufferPointer
  ) throws {
    let room = RecordWriter.widestHeader(slotCount: writer.frame.reserved)
    let start = writer.frame.values - room - key.count
    do {
      let record = try writer.endDocument(outer, key: key)
      entries.append(Batch.Entry(keyStart: start, keyCount: key.count, record: record))
    } catch {
      throw unwritable(key, error)
    }
  }

  private func unwritable(_ key: UnsafeRawBufferPointer, _ error: RecordError) -> StoreError {
    .unwritable(
      collection: binding.collection.name, key: binding.collection.keyKind.text(of: key),
      reason: error)
  }
}
