/// An unkeyed container that is being encoded.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
  let encoder: ValueEncoder
  let node: Int

  var codingPath: [any CodingKey] { encoder.codingPath }

  var count: Int { encoder.output.state.pointee.nodes[node].count }

  @inline(__always) private func write(_ body: (inout RecordWriter) -> Void) {
    encoder.output.write(encoder.output.addEntry(to: node), body)
  }

  func encodeNil() throws { write { $0.putNil() } }

  func encode(_ value: Bool) throws { write { value.store(into: &$0) } }
  func encode(_ value: String) throws { write { value.store(into: &$0) } }
  func encode(_ value: Double) throws { write { value.store(into: &$0) } }
  func encode(_ value: Float) throws { write { value.store(into: &$0) } }
  func encode(_ value: Int) throws { write { value.store(into: &$0) } }
  func encode(_ value: Int8) throws { write { value.store(into: &$0) } }
  func encode(_ value: Int16) throws { write { value.store(into: &$0) } }
  func encode(_ value: Int32) throws { write { value.store(into: &$0) } }
  func encode(_ value: Int64) throws { write { value.store(into: &$0) } }
  func encode(_ value: UInt) throws { write { value.store(into: &$0) } }
  func encode(_ value: UInt8) throws { write { value.store(into: &$0) } }
  func encode(_ value: UInt16) throws { write { value.store(into: &$0) } }
  func encode(_ value: UInt32) throws { write { value.store(into: &$0) } }
  func encode(_ value: UInt64) throws { write { value.store(into: &$0) } }

  func encode<Value: Encodable>(_ value: Value) throws {
    let index = count
    try encoder.encode(value, at: encoder.output.addEntry(to: node), PathKey(index: index))
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    nested().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyed() }

  func superEncoder() -> any Encoder { nested() }

  private func nested() -> ValueEncoder {
    let index = count
    return ValueEncoder(
      encoder.output.addEntry(to: node), PathKey(index: index), inside: encoder)
  }
}
