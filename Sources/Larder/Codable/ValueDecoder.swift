internal import Synchronization

/// What all decoders of one value share.
final class CodableInput: Sendable {
  /// Whether the bytes may still be read: a type's `init(from:)` could keep a decoder and ask it
  /// for more when the transaction is gone.
  private let mayRead = Atomic(true)
  let userInfo: [CodingUserInfoKey: any Sendable]

  init(_ userInfo: [CodingUserInfoKey: any Sendable]) { self.userInfo = userInfo }

  func end() { mayRead.store(false, ordering: .relaxed) }

  @inline(__always) var isLent: Bool { mayRead.load(ordering: .relaxed) }

  /// - Throws: ``RecordError/invalid(_:)`` when the bytes have been given back.
  @inline(__always) func check() throws(RecordError) {
    guard isLent else {
      throw .invalid("a decoder was used after its value had been decoded")
    }
  }
}

/// Decodes the one value that its reader stands in front of. What a type's `init(from:)` is given.
final class ValueDecoder: Decoder {
  let input: CodableInput
  private let reader: ValueReader
  private let parent: ValueDecoder?
  /// nil for the value itself, and inside an optional.
  private let key: (any CodingKey)?
  /// Containers that this value is inside of.
  private let depth: Int

  init(_ reader: ValueReader, _ input: CodableInput) {
    self.input = input
    self.reader = reader
    parent = nil
    key = nil
    depth = 0
  }

  init(_ reader: ValueReader, _ key: (any CodingKey)?, inside parent: ValueDecoder) {
    input = parent.input
    self.reader = reader
    self.parent = parent
    self.key = key
    depth = parent.depth + 1
  }

  var codingPath: [any CodingKey] {
    var path: [any CodingKey] = []
    var decoder: ValueDecoder? = self
    while let current = decoder {
      if let key = current.key { path.append(key) }
      decoder = current.parent
    }
    return path.reversed()
  }

  var userInfo: [CodingUserInfoKey: Any] { input.userInfo }

  /// Whether the bytes may still be read.
  var isLent: Bool { input.isLent }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let entries = try read([String: Any].self) { (reader) throws(RecordError) in
      try checkDepth()
      return try KeyedEntries(&reader, self)
    }
    return KeyedDecodingContainer(KeyedDecoding(entries: entries))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    var reader = reader
    do {
      try input.check()
      try checkDepth()
      let count = try reader.arrayCount()
      return UnkeyedDecoding(decoder: self, reader: reader, elementCount: count)
    } catch {
      throw decodingError(error, [Any].self, at: self.reader, nil)
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private func checkDepth() throws(RecordError) {
    if depth >= RecordFormat.maximumDepth { throw .tooDeep }
  }

  /// Reads from the value, with errors as `Codable` has them.
  @inline(__always) private func read<Value>(
    _ type: Any.Type, _ body: (inout ValueReader) throws(RecordError) -> Value
  ) throws -> Value {
    var reader = reader
    do {
      try input.check()
      return try body(&reader)
    } catch {
      throw decodingError(error, type, at: self.reader, nil)
    }
  }
}

// MARK: Values

extension ValueDecoder {
  /// Decodes a value of any type inside of this one.
  ///
  /// - Parameter reader: In front of the value; it stays there.
  @inline(__always) func decode<Value: Decodable>(
    _ type: Value.Type, from reader: ValueReader, _ key: @autoclosure () -> (any CodingKey)?
  ) throws -> Value {
    let traits = CodingTraits.of(type)
    if let native = traits.pointee.native {
      return try load(type, native, from: reader, key())
    }
    return try ValueDecoder(reader, key(), inside: self).decodeWhole(type, traits)
  }

  @inline(__always) private func load<Value>(
    _ type: Value.Type, _ native: CodingTraits.Native, from start: ValueReader,
    _ key: @autoclosure () -> (any CodingKey)?
  ) throws -> Value {
    var reader = start
    do {
      try input.check()
      return try Self.initialized { (place) throws(RecordError) in
        try native.load(&reader, place)
      }
    } catch let error as RecordError {
      throw decodingError(error, type, at: start, key())
    }
  }

  /// Decodes a value of a type that is not native from this decoder's own.
  private func decodeWhole<Value: Decodable>(
    _ type: Value.Type, _ traits: UnsafePointer<CodingTraits>
  ) throws -> Value {
    guard let load = traits.pointee.nestedLoad else { return try Value(from: self) }
    return try Self.initialized { try load(self, $0) }
  }

  /// The value that `body` puts in a place of its own.
  @inline(__always) private static func initialized<Value>(
    _ body: (UnsafeMutableRawPointer) throws -> Void
  ) throws -> Value {
    // In bytes: a typed buffer's own metadata would be looked up each time.
    try withUnsafeTemporaryAllocation(
      byteCount: MemoryLayout<Value>.size, alignment: MemoryLayout<Value>.alignment
    ) { place in
      guard let place = place.baseAddress else { preconditionFailure("room for one value") }
      try body(place)
      return place.assumingMemoryBound(to: Value.self).move()
    }
  }

  /// Decodes the value of an optional that is inside another.
  func decodeOnly<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let inner = try read(type) { (reader) throws(RecordError) in
      try checkDepth()
      let count = try reader.arrayCount()
      guard count == 1 else { throw .invalid("a nested optional holds \(count) values") }
      return reader
    }
    return try decode(type, from: inner, nil)
  }

  /// An error as `Codable` has it: with the path to the value that it concerns.
  func decodingError(
    _ error: RecordError, _ type: Any.Type, at reader: ValueReader, _ key: (any CodingKey)?
  ) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: "\(error)",
      underlyingError: error)
    switch error {
    case .unexpected where isLent && reader.nextIsNil: return .valueNotFound(type, context)
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
    return try load(type, native, from: reader, nil)
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
