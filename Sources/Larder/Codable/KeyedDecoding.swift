/// A keyed container that is being decoded.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  // All that it holds: it is copied with every call.
  let entries: KeyedEntries

  private var decoder: ValueDecoder { entries.decoder }

  var codingPath: [any CodingKey] { decoder.codingPath }

  var allKeys: [Key] {
    guard decoder.isLent else { return [] }
    return entries.names.compactMap { Key(stringValue: $0) }
  }

  func contains(_ key: Key) -> Bool { find(key) != nil }

  @inline(__always) private func find(_ key: some CodingKey) -> ValueReader? {
    guard decoder.isLent else { return nil }
    return entries[key.stringValue]
  }

  /// A reader in front of the value under `key`.
  @inline(__always) private func value(_ key: some CodingKey) throws -> ValueReader {
    guard let reader = find(key) else { throw notFound(key) }
    return reader
  }

  private func notFound(_ key: some CodingKey) -> any Error {
    do {
      try decoder.input.check()
    } catch {
      return DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: codingPath, debugDescription: "\(error)", underlyingError: error))
    }
    return DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "there is no `\(key.stringValue)`"))
  }

  @inline(__always) private func load<Value: NativeValue>(
    _ type: Value.Type, _ start: ValueReader, _ key: Key
  ) throws -> Value {
    var reader = start
    do {
      return try Value.load(from: &reader)
    } catch {
      throw decoder.decodingError(error, type, at: start, key)
    }
  }

  /// A reader in front of the value under `key`; nil where there is none, or nil.
  @inline(__always) private func present(_ key: Key) -> ValueReader? {
    guard let reader = find(key), !reader.nextIsNil else { return nil }
    return reader
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).nextIsNil }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try load(type, try value(key), key)
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try load(type, try value(key), key)
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try load(type, try value(key), key)
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try load(type, try value(key), key)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoder.decode(type, from: try value(key), key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try present(key).map { try load(type, $0, key) }
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try present(key).map { try load(type, $0, key) }
  }

  func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    guard let reader = present(key) else { return nil }
    // An optional inside the optional keeps its own level.
    if CodingTraits.of(type).pointee.isOptional {
      return try decoder.decode(Value?.self, from: reader, key)
    }
    return try decoder.decode(type, from: reader, key)
  }
}

// MARK: Containers inside

extension KeyedDecoding {
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

  private func nested(_ key: some CodingKey) throws -> ValueDecoder {
    ValueDecoder(try value(key), key, inside: decoder)
  }
}
