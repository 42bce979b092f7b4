internal import Synchronization

/// What all decoders of one value share.
final class CodableInput: Sendable {
  let userInfo: [CodingUserInfoKey: any Sendable]
  /// Whether the value is a document, which only a keyed container can be.
  let isDocument: Bool
  /// Set where a value may be text of what its type asks for.
  let textReading: TextReading?
  private let lent = Atomic(true)

  /// Whether the bytes may still be read: a type may keep its decoder for longer.
  @inline(__always) var isLent: Bool { lent.load(ordering: .relaxed) }

  private init(
    _ userInfo: [CodingUserInfoKey: any Sendable], isDocument: Bool, _ textReading: TextReading?
  ) {
    self.userInfo = userInfo
    self.isDocument = isDocument
    self.textReading = textReading
  }

  /// Lends a decoder of the value in front of which `reader` stands.
  static func lend<Result>(
    _ reader: ValueReader, _ userInfo: [CodingUserInfoKey: any Sendable] = [:],
    isDocument: Bool = false, _ body: (ValueDecoder) throws -> Result
  ) rethrows -> Result {
    let input = CodableInput(userInfo, isDocument: isDocument, reader.binding.textReading)
    defer { input.lent.store(false, ordering: .relaxed) }
    return try body(ValueDecoder(input, reader))
  }
}

/// Decodes one value. What a type's `init(from:)` is given.
final class ValueDecoder: Decoder {
  let input: CodableInput
  /// The decoder whose value this one is inside of.
  private let parent: ValueDecoder?
  /// What the value stands under there; nil inside an optional.
  private let key: (any CodingKey)?
  /// In front of the value. Only while the bytes are lent.
  let reader: ValueReader
  /// Containers that the value is inside of.
  private let depth: Int
  /// Whether the value is the one in a dictionary's place, so that pairs may be read from it.
  private let isDictionary: Bool

  fileprivate init(
    _ input: CodableInput, _ reader: ValueReader, in parent: ValueDecoder? = nil,
    _ key: (any CodingKey)? = nil, depth: Int = 0, isDictionary: Bool = false
  ) {
    self.input = input
    self.reader = reader
    self.parent = parent
    self.key = key
    self.depth = depth
    self.isDictionary = isDictionary
  }

  /// A decoder of a value inside of this one.
  func inner(
    _ reader: ValueReader, _ key: (any CodingKey)?, isDictionary: Bool = false
  ) -> ValueDecoder {
    ValueDecoder(input, reader, in: self, key, depth: depth + 1, isDictionary: isDictionary)
  }

  var codingPath: [any CodingKey] {
    let path = parent?.codingPath ?? []
    return key.map { path + [$0] } ?? path
  }

  var userInfo: [CodingUserInfoKey: Any] { input.userInfo }

  @inline(__always) var isLent: Bool { input.isLent }

  /// - Throws: ``RecordError/invalid(_:)`` when the bytes have been given back.
  @inline(__always) func checkLent() throws(RecordError) {
    guard isLent else {
      throw .invalid("a decoder was used after its value had been decoded")
    }
  }

  private func readerOfContainer() throws(RecordError) -> ValueReader {
    try checkLent()
    guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
    return reader
  }

  /// Runs `body`, whose errors become those that `Codable` has: with the path to the value that
  /// they concern.
  ///
  /// - Parameters:
  ///   - place: In front of the value, where it is not this decoder's own.
  ///   - key: What it then stands under.
  @inline(__always) func coding<Result>(
    _ type: Any.Type, at place: ValueReader? = nil,
    _ key: @autoclosure () -> (any CodingKey)? = nil,
    _ body: () throws(RecordError) -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch {
      throw decodingError(error, type, at: place, key())
    }
  }

  @inline(never) func decodingError(
    _ error: RecordError, _ type: Any.Type, at place: ValueReader?, _ key: (any CodingKey)?
  ) -> DecodingError {
    var error = error
    if input.isDocument, depth == 0, key == nil, case .unexpected = error {
      error = .invalid(
        "a document is read by way of a keyed container, not as a single value or array")
    }
    let context = DecodingError.Context(
      codingPath: codingPath + (key.map { [$0] } ?? []), debugDescription: "\(error)",
      underlyingError: error)
    switch error {
    case .unexpected where isLent && (place ?? reader).nextIsNil:
      return .valueNotFound(type, context)
    case .unexpected: return .typeMismatch(type, context)
    default: return .dataCorrupted(context)
    }
  }
}

// MARK: Containers

extension ValueDecoder {
  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try coding([String: Any].self) { () throws(RecordError) in
      let reader = try readerOfContainer()
      if reader.nextIsRecord {
        return KeyedDecodingContainer(
          KeyedDecoding<Key>(members: try RecordMembers(reader, self)))
      }
      return KeyedDecodingContainer(KeyedDecoding<Key>(members: try MapMembers(reader, self)))
    }
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try coding([Any].self) { () throws(RecordError) in
      var reader = try readerOfContainer()
      // Of a dictionary with other keys than text, as of every one that is to be a dictionary, keys
      // and values are elements in turn.
      var pairs = reader
      if let count = try? pairs.mapCount(), isDictionary || count > 0 && !pairs.nextIsString {
        return UnkeyedDecoding(decoder: self, reader: pairs, elementCount: 2 * count)
      }
      let count = try reader.arrayCount()  // For what is no array it says so.
      return UnkeyedDecoding(decoder: self, reader: reader, elementCount: count)
    }
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }
}

// MARK: Values

extension ValueDecoder {
  /// Decodes a value of any type inside of this one, while the bytes are lent. Of a native type,
  /// the reader stands behind it afterwards, else still in front of it.
  @inline(__always) func decode<Value: Decodable>(
    _ type: Value.Type, from reader: inout ValueReader, _ key: @autoclosure () -> any CodingKey
  ) throws -> Value {
    let start = reader
    do throws(RecordError) {
      if let value = try reader.frequent(type) { return value }
    } catch {
      reader = start
      return try decodeText(type, at: start, key(), insteadOf: error)
    }
    return try decodeOther(type, from: &reader, key())
  }

  @inline(never) func decodeOther<Value: Decodable>(
    _ type: Value.Type, from reader: inout ValueReader, _ key: (any CodingKey)?
  ) throws -> Value {
    try decode(type, CodingTraits.of(type), from: &reader, key)
  }

  /// The same for a type whose traits are known.
  func decode<Value: Decodable>(
    _ type: Value.Type, _ traits: CodingTraits, from reader: inout ValueReader,
    _ key: (any CodingKey)?
  ) throws -> Value {
    let start = reader
    if let native = traits.native {
      do throws(RecordError) {
        return try native.load(type, from: &reader)
      } catch {
        reader = start
        return try decodeText(type, at: start, key, insteadOf: error)
      }
    }
    return try inner(reader, key, isDictionary: traits.isDictionary).decodeWhole(type, traits)
  }

  /// Decodes a value of a type that is not native from this decoder's own.
  private func decodeWhole<Value: Decodable>(
    _ type: Value.Type, _ traits: CodingTraits
  ) throws -> Value {
    if traits.isNestedOptional, let optional = type as? any DecodableOptional.Type {
      return try optional.decode(type, from: self)
    }
    do {
      return try Value(from: self)
    } catch let error as DecodingError {
      throw unknownCase(of: type, error) ?? error
    }
  }

  /// The error of the `init(from:)` that the compiler writes for an enum, when it meets a raw value or
  /// a case that the type does not have; nil for any other error.
  @inline(never)
  private func unknownCase(of type: Any.Type, _ error: DecodingError) -> DecodingError? {
    // Errors of this decoder have an underlying one.
    func isOwn(_ context: DecodingError.Context) -> Bool {
      context.underlyingError == nil && context.codingPath.count == codingPath.count
    }
    var reader = reader
    guard isLent, let value = try? reader.value() else { return nil }
    let found: String
    switch (error, value) {
    case (.dataCorrupted(let context), .string(let text))
    where isOwn(context) && type is any RawRepresentable.Type:
      found = text
    case (.dataCorrupted(let context), _)
    where isOwn(context) && type is any RawRepresentable.Type:
      found = value.description
    case (.typeMismatch(let expected, let context), .dictionary(let pairs))
    where isOwn(context) && expected == type && pairs.count == 1:
      guard case .string(let name)? = pairs.keys.first else { return nil }
      found = name
    case (.typeMismatch(let expected, let context), .document(let document))
    where isOwn(context) && expected == type && document.fields.count == 1:
      found = document.fields[0].name
    default: return nil
    }
    let reason = RecordError.unknownCase(found, type: "\(type)")
    return .dataCorrupted(
      DecodingError.Context(
        codingPath: codingPath, debugDescription: "\(reason)", underlyingError: reason))
  }

  /// Decodes the value of an optional that is inside another.
  func decodeLevel<Value: Decodable>(_ type: Value.Type) throws -> Value {
    var value = try coding(type) { () throws(RecordError) in
      var value = try readerOfContainer()
      let count = try value.arrayCount()
      guard count == 1 else {
        throw RecordError.invalid("a nested optional holds \(count) values")
      }
      return value
    }
    return try decodeOther(type, from: &value, nil)
  }
}

extension ValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { isLent && reader.nextIsNil }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let traits = CodingTraits.of(type)
    if let native = traits.native {
      do throws(RecordError) {
        try checkLent()
        var reader = reader
        return try native.load(type, from: &reader)
      } catch {
        return try decodeText(type, at: nil, nil, insteadOf: error)
      }
    }
    guard traits.isDictionary else { return try decodeWhole(type, traits) }
    return try Value(
      from: ValueDecoder(input, reader, in: self, depth: depth, isDictionary: true))
  }
}
