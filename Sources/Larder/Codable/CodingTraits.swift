internal import LarderLMDB

/// What the coder has to know of a type; found out once per type.
struct CodingTraits: Sendable {
  /// The type, where the format has its values itself.
  let native: (any NativeValue.Type)?
  /// The kind of its values, as far as the type alone says it. What only its values can say is
  /// ``Kind/null``.
  let kind: Kind<Int>
  /// What it holds, where it is a container of the standard library; the values of a dictionary.
  let elementType: Any.Type?
  let order: ItemOrder
  /// Whether it is a dictionary whose keys are integers on disk, although Swift's own `Codable`
  /// has them as text.
  let hasIntegerKeys: Bool
  /// Whether it is an optional of an optional that is not native. Each level but the innermost is
  /// then an array of one element, as `Storable` has it too, so that `.some(nil)` is not `nil`.
  let isNestedOptional: Bool

  var isOptional: Bool { kind.isOptional }
  var isDictionary: Bool { order == .sortedPairs }

  private static let known = Locked<[ObjectIdentifier: CodingTraits]>([:])

  static func of(_ type: Any.Type) -> CodingTraits {
    let id = ObjectIdentifier(type)
    if let traits = known.withLock({ $0[id] }) { return traits }
    // Outside the lock: it asks for the traits of what the type holds.
    let traits = CodingTraits(type)
    known.withLock { $0[id] = traits }
    return traits
  }

  private init(_ type: Any.Type) {
    native = type as? any NativeValue.Type
    let contents = (type as? any CodedContainer.Type)?.contents
    // Native values hold no documents.
    kind = native?._kind.mapReferences { _ in 0 } ?? contents?.kind ?? .null
    elementType = contents?.elementType
    order = contents?.order ?? .asWritten
    hasIntegerKeys = contents?.hasIntegerKeys ?? false
    isNestedOptional =
      if native == nil, case .optional(.optional) = kind { true } else { false }
  }
}

/// The order in which the items of an array are kept.
enum ItemOrder: UInt8 {
  case asWritten
  /// By their bytes: a set, whose own order differs from process to process.
  case sorted
  /// Keys with the values behind them, by the bytes of both, as a dictionary: one with keys that
  /// are not text.
  case sortedPairs
}

// MARK: Containers of the standard library

/// A type of the standard library that holds values of others.
private protocol CodedContainer {
  static var contents: CodedContents { get }
}

private struct CodedContents {
  let kind: Kind<Int>
  let elementType: Any.Type
  var order = ItemOrder.asWritten
  var hasIntegerKeys = false
}

extension Optional: CodedContainer {
  fileprivate static var contents: CodedContents {
    CodedContents(kind: .optional(CodingTraits.of(Wrapped.self).kind), elementType: Wrapped.self)
  }
}

extension Array: CodedContainer {
  fileprivate static var contents: CodedContents {
    CodedContents(kind: .array(CodingTraits.of(Element.self).kind), elementType: Element.self)
  }
}

extension Set: CodedContainer {
  fileprivate static var contents: CodedContents {
    CodedContents(
      kind: .set(CodingTraits.of(Element.self).kind), elementType: Element.self, order: .sorted)
  }
}

extension Dictionary: CodedContainer {
  fileprivate static var contents: CodedContents {
    // Of other types that are `CodingKeyRepresentable` than enums and structs over `Int`, nobody
    // can tell whether a number is all of the key.
    func rawIsInt<Raw: RawRepresentable>(_: Raw.Type) -> Bool { Raw.RawValue.self is Int.Type }
    let hasIntegers =
      Key.self is Int.Type || (Key.self as? any RawRepresentable.Type).map { rawIsInt($0) } ?? false
    let key = hasIntegers ? .integer(.int64) : CodingTraits.of(Key.self).kind
    return CodedContents(
      kind: .dictionary(key, CodingTraits.of(Value.self).kind), elementType: Value.self,
      order: .sortedPairs, hasIntegerKeys: hasIntegers)
  }
}

// MARK: Optionals of optionals

/// An optional whose values can be encoded, as a type that is known at run time only.
protocol EncodableOptional {
  /// - Parameter value: A value of this very type.
  static func encode<Value>(_ value: Value, to encoder: ValueEncoder) throws
}

extension Optional: EncodableOptional where Wrapped: Encodable {
  static func encode<Value>(_ value: Value, to encoder: ValueEncoder) throws {
    guard let value = unsafeBitCast(value, to: Self.self) else { return try encoder.encodeNil() }
    try encoder.encodeLevel(value)
  }
}

/// The same for decoding.
protocol DecodableOptional {
  /// - Parameter type: This very type.
  static func decode<Value>(_ type: Value.Type, from decoder: ValueDecoder) throws -> Value
}

extension Optional: DecodableOptional where Wrapped: Decodable {
  static func decode<Value>(_ type: Value.Type, from decoder: ValueDecoder) throws -> Value {
    let value: Self = decoder.decodeNil() ? nil : try decoder.decodeLevel(Wrapped.self)
    return unsafeBitCast(value, to: type)
  }
}

// MARK: Kinds

extension Kind where Reference == Int {
  /// Whether a field of this kind takes values of a type, as far as the type alone says it.
  func takes(_ type: Any.Type, isOptional: Bool) -> Bool {
    let kind = CodingTraits.of(type).kind
    return holds(isOptional ? .optional(kind) : kind)
  }

  /// Whether declaring `kind` for a field of this one would change nothing.
  private func holds(_ kind: Kind) -> Bool {
    switch (self, kind) {
    case (_, .null), (.any, _): true
    case (.optional(.optional), .optional(.null)): true
    case (.optional(.optional(let stored)), .optional(.optional(let declared))):
      Kind.optional(stored).holds(.optional(declared))
    case (.optional(.optional), _), (_, .optional(.optional)): false
    case (.optional(let stored), .optional(let declared)): stored.holds(declared)
    case (.optional(let stored), _): stored.holds(kind)
    case (_, .optional): false
    case (.array(let stored), .array(let declared)), (.set(let stored), .set(let declared)):
      stored.holds(declared)
    case (.dictionary(let storedKey, let stored), .dictionary(let declaredKey, let declared)):
      storedKey.holds(declaredKey) && stored.holds(declared)
    case (.array, _), (.set, _), (.dictionary, _), (.document, _): false
    default: Kind.widened(self, kind) == self
    }
  }
}
