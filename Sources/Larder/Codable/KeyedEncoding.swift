/// A keyed container that is being encoded.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: ValueEncoder
  let node: Int

  var codingPath: [any CodingKey] { encoder.codingPath }

  @inline(__always) private func write(_ key: Key, _ body: (inout RecordWriter) -> Void) {
    _ = encoder.output.addEntry(key, to: node, body)
  }

  func encodeNil(forKey key: Key) throws { write(key) { $0.putNil() } }

  func encode(_ value: Bool, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: String, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: Double, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: Float, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: Int, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: Int8, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: Int16, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: Int32, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: Int64, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: UInt, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: UInt8, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: UInt16, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: UInt32, forKey key: Key) throws { write(key) { value.store(into: &$0) } }
  func encode(_ value: UInt64, forKey key: Key) throws { write(key) { value.store(into: &$0) } }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoder.encode(value, at: encoder.output.addEntry(key, to: node), key)
  }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    if let value { try encode(value, forKey: key) }
  }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    guard let present = value else { return }
    // An optional inside the optional keeps its own level.
    if CodingTraits.of(Value.self).pointee.isOptional {
      try encode(value, forKey: key)
    } else {
      try encode(present, forKey: key)
    }
  }
}

// MARK: Containers inside

extension KeyedEncoding {
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    nested(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nested(key).unkeyed()
  }

  func superEncoder() -> any Encoder { nested(PathKey.super) }

  func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

  /// For a key that has a container already, the one that it has.
  private func nested(_ key: some CodingKey) -> ValueEncoder {
    let output = encoder.output
    let entry = output.entry(of: key, in: node) ?? output.addEntry(key, to: node)
    return ValueEncoder(entry, key, inside: encoder)
  }
}
