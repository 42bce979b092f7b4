internal import Synchronization

/// A keyed container that is being decoded.
struct KeyedDecoding<Key: CodingKey, Members: KeyedMembers>: KeyedDecodingContainerProtocol {
  let members: Members

  private var decoder: ValueDecoder { members.decoder }

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] { decoder.isLent ? members.allKeys() : [] }

  // Where this throws, reading the value says what is wrong.
  func contains(_ key: Key) -> Bool { (try? find(key) != nil) ?? true }

  /// A reader in front of the value under a key; nil where there is none.
  @inline(__always)
  private func find<Other: CodingKey>(_ key: Other) throws -> ValueReader? {
    guard decoder.isLent else { return nil }
    do {
      return try members.find(key)
    } catch {
      throw decoder.decodingError(error, Any.self, key)
    }
  }

  @inline(__always)
  private func value<Other: CodingKey>(_ key: Other) throws -> ValueReader {
    if let reader = try find(key) { return reader }
    throw notFound(key)
  }

  @inline(never) private func notFound(_ key: any CodingKey) -> any Error {
    do {
      try decoder.checkLent()
    } catch {
      return decoder.decodingError(error, Any.self)
    }
    return DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "there is no `\(key.stringValue)`"))
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).nextIsNil }

  // The compiler makes one of its own for each type that the protocol names.
  @inline(__always)
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    var reader = try value(key)
    return try decoder.decode(type, from: &reader, key)
  }

  func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    guard var reader = try find(key), !reader.nextIsNil else { return nil }
    // An optional inside the optional keeps its own level.
    if CodingTraits.of(type).isOptional {
      return try decoder.decode(Value?.self, from: &reader, key)
    }
    return try decoder.decode(type, from: &reader, key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try nested(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nested(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try nested(PathKey.super) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }

  private func nested<Other: CodingKey>(_ key: Other) throws -> ValueDecoder {
    decoder.inner(try value(key), key)
  }
}

/// The values of a keyed container, by their keys. Only while the bytes are lent.
protocol KeyedMembers: AnyObject {
  var decoder: ValueDecoder { get }
  /// A reader in front of the value under a key; nil where there is none.
  func find<Key: CodingKey>(_ key: Key) throws(RecordError) -> ValueReader?
  /// The keys that a type has for what is here.
  func allKeys<Key: CodingKey>() -> [Key]
}

// MARK: Records

final class RecordMembers: KeyedMembers {
  let decoder: ValueDecoder
  private let record: RecordReader
  private let table: FieldTable
  /// Where the next key often is, as types ask for their keys in one order each time.
  private let next = Atomic(0)

  init(_ reader: ValueReader, _ decoder: ValueDecoder) throws(RecordError) {
    guard reader.depth < RecordFormat.maximumDepth else { throw .tooDeep }
    let binding = reader.binding
    record = try RecordReader(
      reader.rest, binding: binding, schema: binding.anonymous, depth: reader.depth + 1)
    table = binding.collection.tables[record.table]
    self.decoder = decoder
  }

  @inline(__always)
  func find<Key: CodingKey>(_ key: Key) throws(RecordError) -> ValueReader? {
    let name = key.stringValue
    var slot = next.load(ordering: .relaxed)
    if slot >= table.fields.count || table.fields[slot].name != name {
      guard let found = table.slot(of: name) else { return nil }
      slot = found
    }
    next.store(slot + 1, ordering: .relaxed)
    return try record.value(inSlot: slot)
  }

  func allKeys<Key: CodingKey>() -> [Key] {
    (0..<min(record.slotCount, table.fields.count)).compactMap { slot in
      // Where this throws, reading the value says what is wrong.
      let isThere = (try? record.value(inSlot: slot) != nil) ?? true
      return isThere ? Key(stringValue: table.fields[slot].name) : nil
    }
  }
}

// MARK: Dictionaries

final class MapMembers: KeyedMembers {
  let decoder: ValueDecoder
  private let pairs: [Pair]
  private let hasNumbers: Bool
  private let next = Atomic(0)

  private struct Pair {
    /// nil for a key that is not text.
    var text: UnsafeRawBufferPointer?
    /// nil for a key that is no integer.
    var number: Int?
    /// In front of the value.
    let value: ValueReader
  }

  init(_ reader: ValueReader, _ decoder: ValueDecoder) throws(RecordError) {
    self.decoder = decoder
    var reader = reader
    let count = try reader.mapCount()
    var pairs: [Pair] = []
    pairs.reserveCapacity(min(count, 1024))
    for _ in 0..<count {
      var key = reader
      try reader.skipOne()
      var pair = Pair(value: reader)
      if key.nextIsString {
        pair.text = try key.stringBytes()
      } else if case .integer(let number)? = try? key.value() {  // Others are no keys.
        pair.number = Int(exactly: number)
      }
      pairs.append(pair)
      try reader.skipOne()
    }
    self.pairs = pairs
    hasNumbers = pairs.contains { $0.number != nil }
  }

  func find<Key: CodingKey>(_ key: Key) throws(RecordError) -> ValueReader? {
    var name = key.stringValue
    let byName = name.withUTF8 { name in
      value { $0.text.map { Bytes.equal($0, UnsafeRawBufferPointer(name)) } ?? false }
    }
    if byName != nil || !hasNumbers { return byName }
    return key.intValue.flatMap { number in value { $0.number == number } }
  }

  @inline(__always) private func value(where isIt: (Pair) -> Bool) -> ValueReader? {
    // Types ask for their keys in one order each time; the next one is often the next here.
    let first = next.load(ordering: .relaxed)
    for distance in pairs.indices {
      let index = first + distance < pairs.count ? first + distance : first + distance - pairs.count
      if isIt(pairs[index]) {
        next.store(index + 1, ordering: .relaxed)
        return pairs[index].value
      }
    }
    return nil
  }

  func allKeys<Key: CodingKey>() -> [Key] {
    pairs.compactMap { pair in
      if let number = pair.number { return Key(intValue: number) }
      return pair.text.flatMap { String(validating: $0, as: UTF8.self) }.flatMap {
        Key(stringValue: $0)
      }
    }
  }
}
