/// Encodes one value into its entry. What a type's `encode(to:)` is given.
///
/// A few words that fit into an existential, so that none is allocated for each value.
struct ValueEncoder: Encoder {
  let output: CodableOutput
  let entry: Int32
  /// Containers that this value is inside of.
  let depth: Int32

  init(_ output: CodableOutput) {
    self.output = output
    entry = Int32(CodableOutput.root)
    depth = 0
  }

  @inline(__always) init(_ output: CodableOutput, _ entry: Int, depth: Int32) {
    self.output = output
    self.entry = Int32(truncatingIfNeeded: entry)
    self.depth = depth
  }

  var codingPath: [any CodingKey] { output.path(to: Int(entry)) }

  var userInfo: [CodingUserInfoKey: Any] { output.state.pointee.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let keys = KeyPlan.of(type)
    let node = node(keys)
    if let (cell, object) = output.state.pointee.containers.take(keys) {
      cell.node = node
      cell.depth = depth
      return KeyedEncodingContainer(object)
    }
    return newContainer(type, keys, node)
  }

  // Apart: the metadata of the container would be looked up each time.
  @inline(never) private func newContainer<Key: CodingKey>(
    _ type: Key.Type, _ keys: UnsafePointer<KeyPlan>, _ node: Int
  ) -> KeyedEncodingContainer<Key> {
    let cell = CodableOutput.EncodingCell(output, node, depth: depth, keys)
    let container = KeyedEncodingContainer(KeyedEncoding<Key>(cell: cell))
    if KeyedEncodingContainer<Key>.isOneObject {
      output.state.pointee.containers.add(cell, container.object)
    } else {
      output.state.pointee.containers.add(cell, cell)
    }
    return container
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { unkeyed() }

  func unkeyed() -> UnkeyedEncoding {
    UnkeyedEncoding(output: output, node: node(nil), depth: depth)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// The container that is this value. Asked for again, as a subclass and its superclass do, it
  /// is the same one.
  private func node(_ keys: UnsafePointer<KeyPlan>?) -> Int {
    let entry = Int(entry)
    let found = Int(output.state.pointee.entries[entry].node)
    if found >= 0, (output.state.pointee.nodes[found].keys == nil) == (keys == nil) {
      return found
    }
    if output.state.pointee.hasValue(entry) {
      fail("it encodes more than one value")
    } else if depth >= RecordFormat.maximumDepth {
      fail("it is nested deeper than \(RecordFormat.maximumDepth) levels")
    } else {
      return output.state.pointee.addNode(entry, keys: keys)
    }
    // A container that leads nowhere: the failure ends the encoding.
    return output.state.pointee.addNode(entry, keys: keys, isDetached: true)
  }

  /// Notes what cannot be thrown here; it is thrown by the next call that can.
  private func fail(_ reason: String) {
    guard !output.state.pointee.hasFailed else { return }
    output.state.pointee.failure = invalid(reason)
    output.state.pointee.hasFailed = true
  }

  private func invalid(_ reason: String) -> EncodingError {
    .invalidValue(
      (), EncodingError.Context(codingPath: codingPath, debugDescription: reason))
  }
}

// MARK: Values

extension ValueEncoder {
  /// Encodes a value of a type that is not native as this encoder's own.
  func encodeWhole<Value: Encodable>(
    _ value: Value, _ traits: UnsafePointer<CodingTraits>
  ) throws {
    // Before the value is asked: one that contains itself would never come to an end.
    try checkFailure()
    if traits.pointee.isDictionary {
      output.state.pointee.entries[Int(entry)].dictionary = StaticType(traits)
    }
    let takenCount = output.state.pointee.containers.takenCount
    defer { output.state.pointee.containers.give(back: takenCount) }
    if traits.pointee.isOptional, let store = traits.pointee.nestedStore {
      try withUnsafePointer(to: value) { try store($0, self) }
    } else {
      try value.encode(to: self)
      if traits.pointee.order == .sorted { sortElements() }
    }
    try checkFailure()
  }

  /// - Throws: The error that could not be thrown where it was found.
  @inline(__always) private func checkFailure() throws {
    guard _slowPath(output.state.pointee.hasFailed) else { return }
    if let failure = output.state.pointee.failure { throw failure }
  }

  private func sortElements() {
    let node = Int(output.state.pointee.entries[Int(entry)].node)
    if node >= 0, output.state.pointee.nodes[node].keys == nil {
      output.state.pointee.nodes[node].order = .sorted
    }
  }

  /// Encodes the value of an optional that is inside another.
  func encodeOnly<Value: Encodable>(_ value: Value) throws {
    let node = node(nil)
    output.state.pointee.nodes[node].isOptionalLevel = true
    try output.encodeElement(value, of: node, depth: depth)
  }
}

extension CodableOutput {
  /// Encodes a value of any type behind the last of an unkeyed container.
  func encodeElement<Value: Encodable>(_ value: Value, of node: Int, depth: Int32) throws {
    let traits = CodingTraits.of(Value.self)
    if let native = traits.pointee.native {
      return withUnsafePointer(to: value) { value in
        _ = state.pointee.addEntry(to: node, StaticType(traits)) { writer in
          native._withUnsafeGuaranteedRef { $0.store(value, into: &writer) }
        }
      }
    }
    let entry = state.pointee.addEntry(to: node, StaticType(traits))
    try ValueEncoder(self, entry, depth: depth &+ 1).encodeWhole(value, traits)
  }
}

extension CodableOutput.EncodingCell {
  /// Encodes a value of a type that is not native into an entry of the container.
  func encode<Value: Encodable>(
    _ value: Value, _ traits: UnsafePointer<CodingTraits>, at entry: Int
  ) throws {
    try withOutput {
      try ValueEncoder($0, entry, depth: depth &+ 1).encodeWhole(value, traits)
    }
  }
}

extension ValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try write { $0.putNil() } }

  func encode<Value: Encodable>(_ value: Value) throws {
    let traits = CodingTraits.of(Value.self)
    guard let native = traits.pointee.native else { return try encodeWhole(value, traits) }
    try withUnsafePointer(to: value) { value in
      try write { writer in native._withUnsafeGuaranteedRef { $0.store(value, into: &writer) } }
    }
  }

  func encode(_ value: Bool) throws { try write { value.store(into: &$0) } }
  func encode(_ value: String) throws { try write { value.store(into: &$0) } }
  func encode(_ value: Double) throws { try write { value.store(into: &$0) } }
  func encode(_ value: Float) throws { try write { value.store(into: &$0) } }
  func encode(_ value: Int) throws { try write { value.store(into: &$0) } }
  func encode(_ value: Int8) throws { try write { value.store(into: &$0) } }
  func encode(_ value: Int16) throws { try write { value.store(into: &$0) } }
  func encode(_ value: Int32) throws { try write { value.store(into: &$0) } }
  func encode(_ value: Int64) throws { try write { value.store(into: &$0) } }
  func encode(_ value: UInt) throws { try write { value.store(into: &$0) } }
  func encode(_ value: UInt8) throws { try write { value.store(into: &$0) } }
  func encode(_ value: UInt16) throws { try write { value.store(into: &$0) } }
  func encode(_ value: UInt32) throws { try write { value.store(into: &$0) } }
  func encode(_ value: UInt64) throws { try write { value.store(into: &$0) } }

  private func write(_ body: (inout RecordWriter) -> Void) throws {
    let entry = Int(entry)
    if output.state.pointee.hasValue(entry) { throw invalid("it encodes more than one value") }
    output.state.pointee.write(entry, body)
  }
}
