extension Kind where Reference == Int {
  /// The kind of a `Codable` type, as far as the type alone says it. What only its values can say
  /// is ``null``.
  init(coding type: Any.Type) {
    if let native = CodingTraits.of(type).pointee.native {
      // Native values hold no documents.
      self = native._withUnsafeGuaranteedRef { $0.kind.mapReferences { _ in 0 } }
    } else {
      self = (type as? any CodedContainer.Type)?.codedKind ?? .null
    }
  }

  /// Whether a field of this kind takes values of a type, as far as the type alone says it.
  func takes(_ type: StaticType) -> Bool {
    guard let traits = type.traits else { return true }
    let kind = Kind(coding: traits.pointee.type)
    return holds(type.isOptional ? .optional(kind) : kind)
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

/// A type of the standard library that holds values of others.
protocol CodedContainer {
  static var codedKind: Kind<Int> { get }
  /// What it holds; the values of a dictionary.
  static var elementType: Any.Type { get }
}

extension Optional: CodedContainer {
  static var codedKind: Kind<Int> { .optional(Kind(coding: Wrapped.self)) }
  static var elementType: Any.Type { Wrapped.self }
}

extension Array: CodedContainer {
  static var codedKind: Kind<Int> { .array(Kind(coding: Element.self)) }
  static var elementType: Any.Type { Element.self }
}

extension Set: CodedContainer {
  static var codedKind: Kind<Int> { .set(Kind(coding: Element.self)) }
  static var elementType: Any.Type { Element.self }
}

extension Dictionary: CodedContainer {
  static var codedKind: Kind<Int> {
    let hasIntegers = CodingTraits.of(Self.self).pointee.hasIntegerKeys
    return .dictionary(
      hasIntegers ? .integer(.int64) : Kind(coding: Key.self), Kind(coding: Value.self))
  }
  static var elementType: Any.Type { Value.self }
}
