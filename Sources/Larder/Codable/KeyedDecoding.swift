/// A keyed container that is being decoded.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  // All that it holds: it is copied with every call.
  let cell: CodableInput.DecodingCell

  var codingPath: [any CodingKey] { cell.decoder?.codingPath ?? [] }

  var allKeys: [Key] { cell.lentState?.pointee.allKeys(cell.frame) ?? [] }

  func contains(_ key: Key) -> Bool {
    guard let state = cell.lentState else { return false }
    do {
      return try find(key, state) != nil
    } catch {
      return true  // Reading the value then says what is wrong.
    }
  }

  /// Where the value under a key is; nil where there is none.
  @inline(__always) private func find(
    _ key: Key, _ state: UnsafeMutablePointer<CodableInput.State>
  ) throws(RecordError) -> UnsafeRawPointer? {
    guard let name = cell.keys.name(of: key) else {
      return try state.pointee.value(key, cell.frame)
    }
    if let slots = cell.slots { return try state.pointee.value(name, slots, cell.frame) }
    return state.pointee.value(name, cell.frame)
  }

  /// A reader in front of the value under a key.
  @inline(__always) private func value(_ key: Key) throws -> ValueReader {
    guard let reader = try foundValue(key) else { throw notFound(key) }
    return reader
  }

  /// A reader in front of the value under a key; nil where there is none, or nil.
  @inline(__always) private func present(_ key: Key) throws -> ValueReader? {
    guard let reader = try foundValue(key), !reader.nextIsNil else { return nil }
    return reader
  }

  @inline(__always) private func foundValue(_ key: Key) throws -> ValueReader? {
    guard let state = cell.lentState else { return nil }
    do {
      guard let place = try find(key, state) else { return nil }
      return state.pointee.reader(cell.frame, at: place)
    } catch {
      throw decodingError(error, Any.self, at: nil, key)
    }
  }

  @inline(never) private func notFound(_ key: any CodingKey) -> any Error {
    guard cell.lentState != nil else { return DecodingError.usedTooLate }
    return DecodingError.keyNotFound(
      key,
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "there is no `\(key.stringValue)`"))
  }

  @inline(never) private func decodingError(
    _ error: RecordError, _ type: Any.Type, at reader: ValueReader?, _ key: Key
  ) -> any Error {
    guard let decoder = cell.decoder else { return DecodingError.usedTooLate }
    return decoder.decodingError(error, type, at: reader, keyPlace(key))
  }

  @inline(__always) private func keyPlace(_ key: Key) -> KeyPlace {
    if let name = cell.keys.name(of: key) { return .name(name) }
    return cell.state?.pointee.keyPlace(key, cell.frame) ?? .none
  }

  @inline(__always) private func load<Value: NativeValue>(
    _ type: Value.Type, _ start: ValueReader, _ key: Key
  ) throws -> Value {
    var reader = start
    do {
      return try Value.load(from: &reader)
    } catch {
      throw decodingError(error, type, at: start, key)
    }
  }

  @inline(__always) private func loadIfPresent<Value: NativeValue>(
    _ type: Value.Type, _ key: Key
  ) throws -> Value? {
    guard let reader = try present(key) else { return nil }
    return try load(type, reader, key)
  }

  /// Decodes a value of any type.
  @inline(__always) private func decode<Value: Decodable>(
    _ type: Value.Type, at reader: inout ValueReader, _ key: Key
  ) throws -> Value {
    guard let decoder = cell.decoder else { throw DecodingError.usedTooLate }
    return try decoder.decode(type, from: &reader, keyPlace(key))
  }

  func decodeNil(forKey key: Key) throws -> Bool { try value(key).nextIsNil }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try load(type, try value(key), key)
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try load(type, try value(key), key)
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try load(type, try value(key), key)
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try load(type, try value(key), key)
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try load(type, try value(key), key)
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try load(type, try value(key), key)
  }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    var reader = try value(key)
    return try decode(type, at: &reader, key)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try loadIfPresent(type, key)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try loadIfPresent(type, key)
  }

  func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    guard var reader = try present(key) else { return nil }
    // An optional inside the optional keeps its own level.
    if CodingTraits.of(type).pointee.isOptional {
      return try decode(Value?.self, at: &reader, key)
    }
    return try decode(type, at: &reader, key)
  }
}

// MARK: Containers inside

extension KeyedDecoding {
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try nested(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try nested(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    // With keys of another type, of which this container makes itself one.
    try KeyedDecoding<PathKey>(cell: cell.withOtherKeys(PathKey.self)).nested(.super)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try nested(key) }

  /// A frame that stays on the stack until this container's value has been decoded.
  private func nested(_ key: Key) throws -> ValueDecoder {
    let reader = try value(key)
    guard let decoder = cell.decoder else { throw DecodingError.usedTooLate }
    let depth = decoder.input.state.pointee.frames[decoder.frame].depth &+ 1
    return decoder.input.push(reader, keyPlace(key), parent: decoder.frame, depth: depth)
  }
}

extension CodableInput.DecodingCell {
  /// One for the same value that asks by keys of another type, and is never used again.
  fileprivate func withOtherKeys<Key: CodingKey>(
    _ type: Key.Type
  ) throws -> CodableInput.DecodingCell {
    guard let decoder else { throw DecodingError.usedTooLate }
    let cell = CodableInput.DecodingCell(decoder.input, KeyPlan.of(type))
    cell.frame = frame
    cell.generation = generation
    return cell
  }
}

extension DecodingError {
  /// What a container throws that a type has kept.
  fileprivate static var usedTooLate: DecodingError {
    let error = RecordError.invalid("a decoder was used after its value had been decoded")
    return .dataCorrupted(
      Context(codingPath: [], debugDescription: "\(error)", underlyingError: error))
  }
}
