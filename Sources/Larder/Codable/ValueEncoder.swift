/// Encodes one value into its entry. What a type's `encode(to:)` is given.
///
/// A few words that fit into an existential, so that none is allocated for each value.
struct ValueEncoder: Encoder {
  let output: CodableOutput
  let entry: Int32
  /// Containers that this value is inside of.
  let depth: Int32

  private var state: UnsafeMutablePointer<CodableOutput.State> { output.state }

  var codingPath: [any CodingKey] { output.path(to: Int(entry)) }

  var userInfo: [CodingUserInfoKey: Any] { state.pointee.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedEncoding<Key>(output: output, node: node(type), depth: depth))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    UnkeyedEncoding(output: output, node: node(nil), depth: depth)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// The container that is this value. Asked for again, as a subclass and its superclass do, it
  /// is the same one.
  private func node(_ keys: (any CodingKey.Type)?) -> Int {
    let entry = Int(entry)
    let found = state.pointee.entries[entry].node
    if found >= 0, (state.pointee.nodes[found].keys == nil) == (keys == nil) { return found }
    var reason: String?
    if state.pointee.hasValue(entry) {
      reason = "it encodes more than one value"
    } else if depth >= RecordFormat.maximumDepth {
      reason = "it is nested deeper than \(RecordFormat.maximumDepth) levels"
    }
    // Thrown by the next call that can; until then the container leads nowhere.
    if let reason, !state.pointee.hasFailed {
      state.pointee.failure = invalid(reason)
      state.pointee.hasFailed = true
    }
    return state.pointee.addNode(entry, keys: keys, isDetached: reason != nil)
  }

  private func invalid(_ reason: String) -> EncodingError {
    .invalidValue(
      (), EncodingError.Context(codingPath: codingPath, debugDescription: reason))
  }
}

// MARK: Values

extension ValueEncoder {
  /// Encodes a value of a type that is not native as this encoder's own.
  func encodeWhole<Value: Encodable>(_ value: Value, _ traits: CodingTraits) throws {
    // Before the value is asked: one that contains itself would never come to an end.
    if state.pointee.hasFailed, let failure = state.pointee.failure { throw failure }
    if traits.isDictionary { state.pointee.entries[Int(entry)].isDictionary = true }
    if traits.hasIntegerKeys { state.pointee.entries[Int(entry)].hasIntegerKeys = true }
    if traits.isNestedOptional, let optional = Value.self as? any EncodableOptional.Type {
      try optional.encode(value, to: self)
    } else {
      try value.encode(to: self)
      let node = state.pointee.entries[Int(entry)].node
      if traits.order == .sorted, node >= 0, state.pointee.nodes[node].keys == nil {
        state.pointee.nodes[node].order = .sorted
      }
    }
    if state.pointee.hasFailed, let failure = state.pointee.failure { throw failure }
  }

  /// Encodes the value of an optional that is inside another.
  func encodeLevel<Value: Encodable>(_ value: Value) throws {
    let node = node(nil)
    state.pointee.nodes[node].isOptionalLevel = true
    try output.add(value, CodableOutput.Entry(parent: node), depth: depth)
  }
}

extension ValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try write { $0.putNil() } }

  func encode<Value: Encodable>(_ value: Value) throws {
    let traits = state.pointee.traits(of: Value.self)
    guard let native = traits.native else { return try encodeWhole(value, traits) }
    try write { native.store(value, into: &$0) }
  }

  private func write(_ body: (inout RecordWriter) -> Void) throws {
    let entry = Int(entry)
    if state.pointee.hasValue(entry) { throw invalid("it encodes more than one value") }
    let start = state.pointee.bytes.count
    body(&state.pointee.bytes)
    try output.checkStored(entry)
    state.pointee.entries[entry].place = start..<state.pointee.bytes.count
  }
}

// MARK: Unkeyed containers

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
  let output: CodableOutput
  let node: Int
  /// Containers that this one is inside of.
  let depth: Int32

  var codingPath: [any CodingKey] { output.path(to: output.state.pointee.nodes[node].owner) }

  var count: Int { output.state.pointee.nodes[node].count }

  func encodeNil() throws { output.state.pointee.addNil(CodableOutput.Entry(parent: node)) }

  @inline(__always) func encode<Value: Encodable>(_ value: Value) throws {
    try output.add(value, CodableOutput.Entry(parent: node), depth: depth)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    nested().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }

  func superEncoder() -> any Encoder { nested() }

  private func nested() -> ValueEncoder {
    let entry = output.state.pointee.add(CodableOutput.Entry(parent: node))
    return ValueEncoder(output: output, entry: Int32(entry), depth: depth + 1)
  }
}
