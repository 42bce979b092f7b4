/// A keyed container that is being encoded.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  // All that it holds: it is copied with every call.
  let cell: CodableOutput.EncodingCell

  var codingPath: [any CodingKey] {
    cell.withOutput { $0.path(to: Int($0.state.pointee.nodes[cell.node].owner)) } ?? []
  }

  @inline(__always) private func write(
    _ key: Key, _ type: @autoclosure () -> StaticType, _ body: (inout RecordWriter) -> Void
  ) {
    guard let state = cell.state else { return }
    _ = state.pointee.addEntry(key, cell.keys, to: cell.node, type(), body)
  }

  @inline(__always) private func write<Value: NativeValue>(
    ifPresent value: Value?, _ key: Key, _ type: @autoclosure () -> StaticType
  ) {
    if let value {
      write(key, type().optional) { value.store(into: &$0) }
    } else {
      noteAbsent(key, type())
    }
  }

  @inline(__always) private func noteAbsent(_ key: Key, _ type: @autoclosure () -> StaticType) {
    guard let state = cell.state, _slowPath(state.pointee.isDeclaring) else { return }
    _ = state.pointee.addEntry(key, cell.keys, to: cell.node, type().optional, isAbsent: true)
  }

  func encodeNil(forKey key: Key) throws { write(key, .none) { $0.putNil() } }

  func encode(_ value: Bool, forKey key: Key) throws {
    write(key, .bool) { value.store(into: &$0) }
  }
  func encode(_ value: String, forKey key: Key) throws {
    write(key, .string) { value.store(into: &$0) }
  }
  func encode(_ value: Double, forKey key: Key) throws {
    write(key, .double) { value.store(into: &$0) }
  }
  func encode(_ value: Float, forKey key: Key) throws {
    write(key, .float) { value.store(into: &$0) }
  }
  func encode(_ value: Int, forKey key: Key) throws {
    write(key, .int) { value.store(into: &$0) }
  }
  func encode(_ value: Int8, forKey key: Key) throws {
    write(key, .int8) { value.store(into: &$0) }
  }
  func encode(_ value: Int16, forKey key: Key) throws {
    write(key, .int16) { value.store(into: &$0) }
  }
  func encode(_ value: Int32, forKey key: Key) throws {
    write(key, .int32) { value.store(into: &$0) }
  }
  func encode(_ value: Int64, forKey key: Key) throws {
    write(key, .int64) { value.store(into: &$0) }
  }
  func encode(_ value: UInt, forKey key: Key) throws {
    write(key, .uint) { value.store(into: &$0) }
  }
  func encode(_ value: UInt8, forKey key: Key) throws {
    write(key, .uint8) { value.store(into: &$0) }
  }
  func encode(_ value: UInt16, forKey key: Key) throws {
    write(key, .uint16) { value.store(into: &$0) }
  }
  func encode(_ value: UInt32, forKey key: Key) throws {
    write(key, .uint32) { value.store(into: &$0) }
  }
  func encode(_ value: UInt64, forKey key: Key) throws {
    write(key, .uint64) { value.store(into: &$0) }
  }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encode(value, key, CodingTraits.of(Value.self), isOptional: false)
  }

  @inline(__always) private func encode<Value: Encodable>(
    _ value: Value, _ key: Key, _ traits: UnsafePointer<CodingTraits>, isOptional: Bool
  ) throws {
    guard let state = cell.state else { return }
    let type = isOptional ? StaticType(traits).optional : StaticType(traits)
    if let native = traits.pointee.native {
      return withUnsafePointer(to: value) { value in
        _ = state.pointee.addEntry(key, cell.keys, to: cell.node, type) { writer in
          native._withUnsafeGuaranteedRef { $0.store(value, into: &writer) }
        }
      }
    }
    let entry = state.pointee.addEntry(key, cell.keys, to: cell.node, type)
    try cell.encode(value, traits, at: entry)
  }

  func encodeIfPresent(_ value: Bool?, forKey key: Key) throws {
    write(ifPresent: value, key, .bool)
  }
  func encodeIfPresent(_ value: String?, forKey key: Key) throws {
    write(ifPresent: value, key, .string)
  }
  func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
    write(ifPresent: value, key, .double)
  }
  func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
    write(ifPresent: value, key, .float)
  }
  func encodeIfPresent(_ value: Int?, forKey key: Key) throws {
    write(ifPresent: value, key, .int)
  }
  func encodeIfPresent(_ value: Int8?, forKey key: Key) throws {
    write(ifPresent: value, key, .int8)
  }
  func encodeIfPresent(_ value: Int16?, forKey key: Key) throws {
    write(ifPresent: value, key, .int16)
  }
  func encodeIfPresent(_ value: Int32?, forKey key: Key) throws {
    write(ifPresent: value, key, .int32)
  }
  func encodeIfPresent(_ value: Int64?, forKey key: Key) throws {
    write(ifPresent: value, key, .int64)
  }
  func encodeIfPresent(_ value: UInt?, forKey key: Key) throws {
    write(ifPresent: value, key, .uint)
  }
  func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws {
    write(ifPresent: value, key, .uint8)
  }
  func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws {
    write(ifPresent: value, key, .uint16)
  }
  func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws {
    write(ifPresent: value, key, .uint32)
  }
  func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws {
    write(ifPresent: value, key, .uint64)
  }

  func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    let traits = CodingTraits.of(Value.self)
    guard let present = value else { return noteAbsent(key, StaticType(traits)) }
    // An optional inside the optional keeps its own level.
    if traits.pointee.isOptional { return try encode(value, forKey: key) }
    try encode(present, key, traits, isOptional: true)
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
  private func nested<Other: CodingKey>(_ key: Other) -> ValueEncoder {
    cell.withOutput { output in
      let entry =
        output.entry(of: key, in: cell.node)
        ?? output.state.pointee.addEntry(key, KeyPlan.of(Other.self), to: cell.node, .none)
      return ValueEncoder(output, entry, depth: cell.depth &+ 1)
    } ?? ValueEncoder(CodableOutput())
  }
}
