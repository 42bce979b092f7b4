/// Decodes the one value that its frame is for. What a type's `init(from:)` is given.
///
/// A few words that fit into an existential, so that none is allocated for each value.
struct ValueDecoder: Decoder {
  let input: CodableInput
  private let index: Int32
  private let generation: UInt32

  @inline(__always) init(_ input: CodableInput, _ frame: Int, _ generation: UInt32) {
    self.input = input
    index = Int32(truncatingIfNeeded: frame)
    self.generation = generation
  }

  @inline(__always) var frame: Int { Int(index) }

  var codingPath: [any CodingKey] { isLent ? input.path(to: frame) : [] }

  var userInfo: [CodingUserInfoKey: Any] { input.state.pointee.userInfo }

  /// Whether the bytes may still be read.
  @inline(__always) var isLent: Bool { input.state.pointee.isLent(frame, generation) }

  /// - Throws: ``RecordError/invalid(_:)`` when the bytes have been given back.
  @inline(__always) func check() throws(RecordError) {
    guard isLent else {
      throw .invalid("a decoder was used after its value had been decoded")
    }
  }

  /// In front of the value. Only while the bytes are lent.
  @inline(__always) var reader: ValueReader {
    input.state.pointee.reader(frame, at: input.state.pointee.frames.base[frame].start)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    do {
      try check()
      let record = try input.state.pointee.readKeyed(frame)
      let keys = KeyPlan.of(type)
      var slots: UnsafePointer<SlotPlan>?
      if let table = record?.table, keys.pointee.isCompact {
        slots = input.state.pointee.frames.base[frame].binding._withUnsafeGuaranteedRef {
          $0.slotPlans.plan(keys, table)
        }
      }
      return container(type, keys, slots)
    } catch {
      throw decodingError(error, [String: Any].self)
    }
  }

  @inline(__always) private func container<Key: CodingKey>(
    _ type: Key.Type, _ keys: UnsafePointer<KeyPlan>, _ slots: UnsafePointer<SlotPlan>?
  ) -> KeyedDecodingContainer<Key> {
    if let (cell, object) = input.state.pointee.containers.take(keys) {
      cell.frame = frame
      cell.generation = generation
      cell.slots = slots
      return KeyedDecodingContainer(object)
    }
    return newContainer(type, keys, slots)
  }

  // Apart: the metadata of the container would be looked up each time.
  @inline(never) private func newContainer<Key: CodingKey>(
    _ type: Key.Type, _ keys: UnsafePointer<KeyPlan>, _ slots: UnsafePointer<SlotPlan>?
  ) -> KeyedDecodingContainer<Key> {
    let cell = CodableInput.DecodingCell(input, keys)
    cell.frame = frame
    cell.generation = generation
    cell.slots = slots
    let container = KeyedDecodingContainer(KeyedDecoding<Key>(cell: cell))
    if KeyedDecodingContainer<Key>.isOneObject {
      input.state.pointee.containers.add(cell, container.object)
    } else {
      input.state.pointee.containers.add(cell, cell)
    }
    return container
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    do {
      try check()
      try input.state.pointee.checkNotDocument(frame)
      try input.state.pointee.checkDepth(frame)
      var reader = reader
      let count = try input.state.pointee.elementCount(frame, &reader)
      return UnkeyedDecoding(decoder: self, reader: reader, elementCount: count)
    } catch {
      throw decodingError(error, [Any].self)
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  /// Reads from the value, with errors as `Codable` has them.
  @inline(__always) private func read<Value>(
    _ type: Any.Type, _ body: (inout ValueReader) throws(RecordError) -> Value
  ) throws -> Value {
    do {
      try check()
      try input.state.pointee.checkNotDocument(frame)
      var reader = reader
      return try body(&reader)
    } catch {
      throw decodingError(error, type)
    }
  }
}

// MARK: Values

extension ValueDecoder {
  /// Decodes a value of any type inside of this one, while the bytes are lent.
  ///
  /// - Parameter reader: In front of the value. Where the value's end was found it stands behind
  ///   it afterwards, else still in front of it.
  @inline(__always) func decode<Value: Decodable>(
    _ type: Value.Type, from reader: inout ValueReader, _ key: KeyPlace
  ) throws -> Value {
    let traits = CodingTraits.of(type)
    if let native = traits.pointee.native {
      let start = reader
      do {
        return try native._withUnsafeGuaranteedRef { try $0.load(type, from: &reader) }
      } catch let error as RecordError {
        throw decodingError(error, type, at: start, key)
      }
    }
    let height = input.state.pointee.height
    let depth = input.state.pointee.frames.base[frame].depth &+ 1
    let decoder = input.push(reader, key, parent: frame, depth: depth)
    defer { input.state.pointee.pop(to: height) }
    let value = try decoder.decodeWhole(type, traits)
    if let end = input.state.pointee.frames.base[height.frame].valueEnd { reader.at = end }
    return value
  }

  /// Decodes a value of a type that is not native from this decoder's own.
  @inline(__always) func decodeWhole<Value: Decodable>(
    _ type: Value.Type, _ traits: UnsafePointer<CodingTraits>
  ) throws -> Value {
    if traits.pointee.isDictionary {
      input.state.pointee.frames.base[frame].isDictionary = true
    }
    if let loader = traits.pointee.nestedLoad {
      return try loader._withUnsafeGuaranteedRef { try $0.load(type, from: self) }
    }
    return try Value(from: self)
  }

  /// Decodes the value of an optional that is inside another.
  func decodeOnly<Value: Decodable>(_ type: Value.Type) throws -> Value {
    var inner = try read(type) { (reader) throws(RecordError) in
      try input.state.pointee.checkDepth(frame)
      let count = try reader.arrayCount()
      guard count == 1 else { throw .invalid("a nested optional holds \(count) values") }
      return reader
    }
    return try decode(type, from: &inner, .none)
  }

  /// An error as `Codable` has it: with the path to the value that it concerns.
  @inline(never) func decodingError(
    _ error: RecordError, _ type: Any.Type, at reader: ValueReader? = nil, _ key: KeyPlace = .none
  ) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: isLent ? input.path(to: frame, key) : [], debugDescription: "\(error)",
      underlyingError: error)
    switch error {
    case .unexpected where isLent && (reader ?? self.reader).nextIsNil:
      return .valueNotFound(type, context)
    case .unexpected: return .typeMismatch(type, context)
    default: return .dataCorrupted(context)
    }
  }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { isLent && reader.nextIsNil }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let traits = CodingTraits.of(type)
    guard let native = traits.pointee.native else { return try decodeWhole(type, traits) }
    var reader = try read(type) { (reader) throws(RecordError) in reader }
    do {
      return try native._withUnsafeGuaranteedRef { try $0.load(type, from: &reader) }
    } catch let error as RecordError {
      throw decodingError(error, type)
    }
  }

  func decode(_ type: Bool.Type) throws -> Bool {
    try read(type) { (reader) throws(RecordError) in try Bool.load(from: &reader) }
  }
  func decode(_ type: String.Type) throws -> String {
    try read(type) { (reader) throws(RecordError) in try String.load(from: &reader) }
  }
  func decode(_ type: Double.Type) throws -> Double {
    try read(type) { (reader) throws(RecordError) in try Double.load(from: &reader) }
  }
  func decode(_ type: Float.Type) throws -> Float {
    try read(type) { (reader) throws(RecordError) in try Float.load(from: &reader) }
  }
  func decode(_ type: Int.Type) throws -> Int {
    try read(type) { (reader) throws(RecordError) in try Int.load(from: &reader) }
  }
  func decode(_ type: Int8.Type) throws -> Int8 {
    try read(type) { (reader) throws(RecordError) in try Int8.load(from: &reader) }
  }
  func decode(_ type: Int16.Type) throws -> Int16 {
    try read(type) { (reader) throws(RecordError) in try Int16.load(from: &reader) }
  }
  func decode(_ type: Int32.Type) throws -> Int32 {
    try read(type) { (reader) throws(RecordError) in try Int32.load(from: &reader) }
  }
  func decode(_ type: Int64.Type) throws -> Int64 {
    try read(type) { (reader) throws(RecordError) in try Int64.load(from: &reader) }
  }
  func decode(_ type: UInt.Type) throws -> UInt {
    try read(type) { (reader) throws(RecordError) in try UInt.load(from: &reader) }
  }
  func decode(_ type: UInt8.Type) throws -> UInt8 {
    try read(type) { (reader) throws(RecordError) in try UInt8.load(from: &reader) }
  }
  func decode(_ type: UInt16.Type) throws -> UInt16 {
    try read(type) { (reader) throws(RecordError) in try UInt16.load(from: &reader) }
  }
  func decode(_ type: UInt32.Type) throws -> UInt32 {
    try read(type) { (reader) throws(RecordError) in try UInt32.load(from: &reader) }
  }
  func decode(_ type: UInt64.Type) throws -> UInt64 {
    try read(type) { (reader) throws(RecordError) in try UInt64.load(from: &reader) }
  }
}
