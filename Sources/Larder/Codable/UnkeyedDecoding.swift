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

  private var key: PathKey { .index(currentIndex) }

  /// - Throws: `DecodingError` behind the last element, and when the bytes have been given back.
  @inline(__always) private func check(_ type: Any.Type) throws {
    if _slowPath(isAtEnd) {
      throw DecodingError.valueNotFound(
        type,
        DecodingError.Context(
          codingPath: codingPath + [key], debugDescription: "the array has no more elements"))
    }
    try decoder.coding(type) { () throws(RecordError) in try decoder.checkLent() }
  }

  /// Passes over the next element.
  private mutating func pass(_ type: Any.Type) throws {
    var ahead = reader
    try decoder.coding(type, at: reader, key) { () throws(RecordError) in try ahead.skipOne() }
    reader = ahead
    currentIndex += 1
  }

  mutating func decodeNil() throws -> Bool {
    if isAtEnd { try check(Any?.self) }
    guard decoder.isLent, reader.skipNil() else { return false }
    currentIndex += 1
    return true
  }

  // The compiler makes one of its own for each type that the protocol names.
  @inline(__always) mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try check(type)
    var ahead = reader
    let value = try decoder.decode(type, from: &ahead, key)
    if ahead.at == reader.at {
      try pass(type)
    } else {
      reader = ahead
      currentIndex += 1
    }
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    try nested([String: Any].self) { try $0.container(keyedBy: type) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try nested([Any].self) { try $0.unkeyedContainer() }
  }

  mutating func superDecoder() throws -> any Decoder { try nested((any Decoder).self) { $0 } }

  private mutating func nested<Container>(
    _ type: Any.Type, _ body: (ValueDecoder) throws -> Container
  ) throws -> Container {
    try check(type)
    let container = try body(decoder.inner(reader, key))
    try pass(type)
    return container
  }
}
