/// An unkeyed container that is being encoded.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
  let output: CodableOutput
  let node: Int
  /// Containers that this one is inside of.
  let depth: Int32

  var codingPath: [any CodingKey] {
    output.path(to: Int(output.state.pointee.nodes[node].owner))
  }

  var count: Int { Int(output.state.pointee.nodes[node].count) }

  @inline(__always) private func write(
    _ type: StaticType, _ body: (inout RecordWriter) -> Void
  ) {
    _ = output.state.pointee.addEntry(to: node, type, body)
  }

  func encodeNil() throws { write(.none) { $0.putNil() } }

  func encode(_ value: Bool) throws { write(.bool) { value.store(into: &$0) } }
  func encode(_ value: String) throws { write(.string) { value.store(into: &$0) } }
  func encode(_ value: Double) throws { write(.double) { value.store(into: &$0) } }
  func encode(_ value: Float) throws { write(.float) { value.store(into: &$0) } }
  func encode(_ value: Int) throws { write(.int) { value.store(into: &$0) } }
  func encode(_ value: Int8) throws { write(.int8) { value.store(into: &$0) } }
  func encode(_ value: Int16) throws { write(.int16) { value.store(into: &$0) } }
  func encode(_ value: Int32) throws { write(.int32) { value.store(into: &$0) } }
  func encode(_ value: Int64) throws { write(.int64) { value.store(into: &$0) } }
  func encode(_ value: UInt) throws { write(.uint) { value.store(into: &$0) } }
  func encode(_ value: UInt8) throws { write(.uint8) { value.store(into: &$0) } }
  func encode(_ value: UInt16) throws { write(.uint16) { value.store(into: &$0) } }
  func encode(_ value: UInt32) throws { write(.uint32) { value.store(into: &$0) } }
  func encode(_ value: UInt64) throws { write(.uint64) { value.store(into: &$0) } }

  func encode<Value: Encodable>(_ value: Value) throws {
    try output.encodeElement(value, of: node, depth: depth)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    nested().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyed() }

  func superEncoder() -> any Encoder { nested() }

  private func nested() -> ValueEncoder {
    ValueEncoder(output, output.state.pointee.addEntry(to: node, .none), depth: depth &+ 1)
  }
}
