/// A keyed container that is being encoded.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let output: CodableOutput
  let node: Int
  /// Containers that this one is inside of.
  let depth: Int32

  var codingPath: [any CodingKey] { output.path(to: output.state.pointee.nodes[node].owner) }

  func encodeNil(forKey key: Key) throws {
    output.state.pointee.addNil(output.state.pointee.entry(key, in: node))
  }

  // The compiler makes one of its own for each type that the protocol names.
  @inline(__always) func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try output.add(value, output.state.pointee.entry(key, in: node), depth: depth)
  }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    // An optional inside the optional keeps its own level.
    let traits = output.state.pointee.traits(of: Value.self)
    if value != nil, traits.isOptional { return try encode(value, forKey: key) }
    try put(value, key, traits)
  }

  // The protocol's own would not call the one above, and would pass over a nil.
  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try put(value, key) }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try put(value, key) }

  @inline(__always) private func put<Value: Encodable>(
    _ value: Value?, _ key: Key, _ traits: CodingTraits? = nil
  ) throws {
    var entry = output.state.pointee.entry(key, in: node)
    entry.isOptional = true
    if let value { return try output.add(value, entry, depth: depth, traits) }
    entry.type = Value.self
    entry.isAbsent = true
    _ = output.state.pointee.add(entry)
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
    nested(key).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    nested(CodableOutput.Entry(parent: node, key: PathKey.super.stringValue))
  }

  func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

  private func nested(_ key: Key) -> ValueEncoder {
    nested(output.state.pointee.entry(key, in: node))
  }

  /// For a key that has a container already, the one that it has.
  private func nested(_ new: CodableOutput.Entry) -> ValueEncoder {
    let known = output.state.pointee.lastEntry(under: new.key, in: node)
    let entry = known ?? output.state.pointee.add(new)
    return ValueEncoder(output: output, entry: Int32(entry), depth: depth + 1)
  }
}
