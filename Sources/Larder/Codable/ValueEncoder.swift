/// Encodes one value into its entry. What a type's `encode(to:)` is given.
final class ValueEncoder: Encoder {
  let output: CodableOutput
  let entry: Int
  private let parent: ValueEncoder?
  /// nil for the value itself, and inside an optional.
  private let key: (any CodingKey)?
  /// Containers that this value is inside of.
  private let depth: Int

  init(_ output: CodableOutput) {
    self.output = output
    entry = CodableOutput.root
    parent = nil
    key = nil
    depth = 0
  }

  init(_ entry: Int, _ key: (any CodingKey)?, inside parent: ValueEncoder) {
    output = parent.output
    self.entry = entry
    self.parent = parent
    self.key = key
    depth = parent.depth + 1
  }

  var codingPath: [any CodingKey] {
    var path: [any CodingKey] = []
    var encoder: ValueEncoder? = self
    while let current = encoder {
      if let key = current.key { path.append(key) }
      encoder = current.parent
    }
    return path.reversed()
  }

  var userInfo: [CodingUserInfoKey: Any] { output.state.pointee.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(KeyedEncoding(encoder: self, node: node(isKeyed: true)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer { unkeyed() }

  func unkeyed() -> UnkeyedEncoding {
    UnkeyedEncoding(encoder: self, node: node(isKeyed: false))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  /// The container that is this value. Asked for again, as a subclass and its superclass do, it
  /// is the same one.
  private func node(isKeyed: Bool) -> Int {
    let found = output.state.pointee.entries[entry].node
    if found >= 0, output.state.pointee.nodes[found].isKeyed == isKeyed { return found }
    if output.hasValue(entry) {
      fail("it encodes more than one value")
    } else if depth >= RecordFormat.maximumDepth {
      fail("it is nested deeper than \(RecordFormat.maximumDepth) levels")
    } else {
      return output.addNode(entry, isKeyed: isKeyed)
    }
    // A container that leads nowhere: the failure ends the encoding.
    return output.addDetachedNode(isKeyed: isKeyed)
  }

  /// Notes what cannot be thrown here; it is thrown by the next call that can.
  private func fail(_ reason: String) {
    if output.state.pointee.failure == nil {
      output.state.pointee.failure = invalid(reason)
    }
  }

  private func invalid(_ reason: String) -> EncodingError {
    .invalidValue(
      (),
      EncodingError.Context(codingPath: codingPath, debugDescription: reason))
  }
}

// MARK: Values

extension ValueEncoder {
  /// Encodes a value of any type into an entry inside of this one.
  @inline(__always) func encode<Value: Encodable>(
    _ value: Value, at entry: Int, _ key: @autoclosure () -> (any CodingKey)?
  ) throws {
    let traits = CodingTraits.of(Value.self)
    if let native = traits.pointee.native {
      withUnsafePointer(to: value) { value in
        output.write(entry) { native.store(value, &$0) }
      }
    } else {
      try ValueEncoder(entry, key(), inside: self).encodeWhole(value, traits)
    }
  }

  /// Encodes a value of a type that is not native as this encoder's own.
  private func encodeWhole<Value: Encodable>(
    _ value: Value, _ traits: UnsafePointer<CodingTraits>
  ) throws {
    // Before the value is asked: one that contains itself would never come to an end.
    try checkFailure()
    if let store = traits.pointee.nestedStore {
      try withUnsafePointer(to: value) { try store($0, self) }
    } else {
      try value.encode(to: self)
      if traits.pointee.order != .asWritten { setOrder(traits.pointee.order) }
    }
    try checkFailure()
  }

  /// - Throws: The error that could not be thrown where it was found.
  private func checkFailure() throws {
    if let failure = output.state.pointee.failure { throw failure }
  }

  private func setOrder(_ order: ItemOrder) {
    let node = output.state.pointee.entries[entry].node
    if node >= 0, !output.state.pointee.nodes[node].isKeyed {
      output.state.pointee.nodes[node].order = order
    }
  }

  /// Encodes the value of an optional that is inside another.
  func encodeOnly<Value: Encodable>(_ value: Value) throws {
    let node = node(isKeyed: false)
    try encode(value, at: output.addEntry(to: node), nil)
  }
}

extension ValueEncoder: SingleValueEncodingContainer {
  func encodeNil() throws { try write { $0.putNil() } }

  func encode<Value: Encodable>(_ value: Value) throws {
    let traits = CodingTraits.of(Value.self)
    guard let native = traits.pointee.native else { return try encodeWhole(value, traits) }
    try withUnsafePointer(to: value) { value in try write { native.store(value, &$0) } }
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
    if output.hasValue(entry) { throw invalid("it encodes more than one value") }
    output.write(entry, body)
  }
}
