/// An unkeyed container that is being decoded.
struct UnkeyedDecoding: UnkeyedDecodingContainer {
  private let decoder: ValueDecoder
  /// In front of the next element.
  private var reader: ValueReader
  private let elementCount: Int
  private(set) var currentIndex = 0

  init(decoder: ValueDecoder, reader: ValueReader, elementCount: Int) {
    self.decoder = decoder
    self.reader = reader
    self.elementCount = elementCount
  }

  var codingPath: [any CodingKey] { decoder.codingPath }

  var count: Int? { elementCount }

  var isAtEnd: Bool { currentIndex >= elementCount }

  /// - Throws: `DecodingError` behind the last element, and when the bytes have been given back.
  @inline(__always) private func check(_ type: Any.Type) throws {
    if _slowPath(isAtEnd) {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath + [PathKey(index: currentIndex)],
          debugDescription: "the array has no more elements"))
    }
    do {
      try decoder.check()
    } catch {
      throw decoder.decodingError(error, type)
    }
  }

  /// Reads the next element; stays in front of it when that fails.
  @inline(__always) private mutating func next<Value>(
    _ type: Any.Type, _ body: (inout ValueReader) throws(RecordError) -> Value
  ) throws -> Value {
    try check(type)
    var ahead = reader
    do {
      let value = try body(&ahead)
      reader = ahead
      currentIndex += 1
      return value
    } catch {
      throw decoder.decodingError(error, type, at: reader, .index(currentIndex))
    }
  }

  /// A reader in front of the next element, which then is passed over.
  private mutating func passed(_ type: Any.Type) throws -> ValueReader {
    try next(type) { (ahead) throws(RecordError) in
      let start = ahead
      try ahead.skip()
      return start
    }
  }

  mutating func decodeNil() throws -> Bool {
    if isAtEnd { try check(Any?.self) }
    guard decoder.isLent, reader.skipNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try next(type) { (reader) throws(RecordError) in try Bool.load(from: &reader) }
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try next(type) { (reader) throws(RecordError) in try String.load(from: &reader) }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try next(type) { (reader) throws(RecordError) in try Double.load(from: &reader) }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try next(type) { (reader) throws(RecordError) in try Float.load(from: &reader) }
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try next(type) { (reader) throws(RecordError) in try Int.load(from: &reader) }
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try next(type) { (reader) throws(RecordError) in try Int8.load(from: &reader) }
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try next(type) { (reader) throws(RecordError) in try Int16.load(from: &reader) }
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try next(type) { (reader) throws(RecordError) in try Int32.load(from: &reader) }
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try next(type) { (reader) throws(RecordError) in try Int64.load(from: &reader) }
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try next(type) { (reader) throws(RecordError) in try UInt.load(from: &reader) }
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try next(type) { (reader) throws(RecordError) in try UInt8.load(from: &reader) }
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try next(type) { (reader) throws(RecordError) in try UInt16.load(from: &reader) }
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try next(type) { (reader) throws(RecordError) in try UInt32.load(from: &reader) }
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try next(type) { (reader) throws(RecordError) in try UInt64.load(from: &reader) }
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try check(type)
    var ahead = reader
    let value = try decoder.decode(type, from: &ahead, .index(currentIndex))
    if ahead.at == reader.at {
      _ = try passed(type)
    } else {
      reader = ahead
      currentIndex += 1
    }
    return value
  }
}

// MARK: Containers inside

extension UnkeyedDecoding {
  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try check([String: Any].self)
    let container = try nested(reader).container(keyedBy: type)
    _ = try passed([String: Any].self)
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try check([Any].self)
    let container = try nested(reader).unkeyedContainer()
    _ = try passed([Any].self)
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    try check((any Decoder).self)
    let decoder = nested(reader)
    _ = try passed((any Decoder).self)
    return decoder
  }

  /// A frame that stays on the stack until this container's value has been decoded.
  private func nested(_ reader: ValueReader) -> ValueDecoder {
    let depth = decoder.input.state.pointee.frames[decoder.frame].depth &+ 1
    return decoder.input.push(reader, .index(currentIndex), parent: decoder.frame, depth: depth)
  }
}
