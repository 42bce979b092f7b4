/// Nil has no text in it.
extension QueryField where Value: FieldValue, Value.Bare == String {
  /// Whether Swift's function of this name holds: whole characters count.
  public func hasPrefix(_ prefix: String) -> Filter<Entity> { filter(operand, .hasPrefix(prefix)) }

  /// Whether Swift's function of this name holds: whole characters count.
  public func hasSuffix(_ suffix: String) -> Filter<Entity> { filter(operand, .hasSuffix(suffix)) }

  /// Whether Swift's function of this name holds: whole characters count.
  public func contains(_ text: String) -> Filter<Entity> { filter(operand, .containsText(text)) }
}

extension QueryField where Value == String {
  /// The text in small letters, as Swift's function of this name gives it, whatever the locale:
  /// `$0.name.lowercased().contains("bj\u{F8}rn")`. No index has it.
  public func lowercased() -> QueryField<Entity, String> {
    map(stored: derived(.lowercased)) { $0.lowercased() }
  }

  /// The text in capital letters, as Swift's function of this name gives it.
  public func uppercased() -> QueryField<Entity, String> {
    map(stored: derived(.uppercased)) { $0.uppercased() }
  }
}

extension QueryField where Value == String? {
  /// The text in small letters, as Swift's function of this name gives it; nil stays nil.
  public func lowercased() -> QueryField<Entity, String?> {
    map(stored: derived(.lowercased)) { $0?.lowercased() }
  }

  /// The text in capital letters, as Swift's function of this name gives it; nil stays nil.
  public func uppercased() -> QueryField<Entity, String?> {
    map(stored: derived(.uppercased)) { $0?.uppercased() }
  }
}

// MARK: Counts

/// Of text, arrays, sets, dictionaries and data.
extension QueryField where Value: Swift.Collection & SendableMetatype {
  /// Whether there is nothing in the field: no character, no element, no byte.
  public var isEmpty: QueryField<Entity, Bool> {
    map(stored: derived(.isEmpty)) { $0.isEmpty }
  }

  /// How many characters, elements or bytes there are: `$0.tags.count > 3`.
  public var count: QueryField<Entity, Int> {
    map(stored: isCountStored(Value.self) ? derived(.count) : nil) { $0.count }
  }
}

extension QueryField
where Value: OptionalCollection & SendableMetatype, Value.Elements: SendableMetatype {
  /// Whether there is nothing in the field; nil where the field is nil.
  public var isEmpty: QueryField<Entity, Bool?> {
    map(stored: derived(.isEmpty)) { $0._collection?.isEmpty }
  }

  /// How many characters, elements or bytes there are; nil where the field is nil.
  public var count: QueryField<Entity, Int?> {
    map(stored: isCountStored(Value.Elements.self) ? derived(.count) : nil) {
      $0._collection?.count
    }
  }
}

/// An optional text, array, set, dictionary or data.
@_documentation(visibility: internal)
public protocol OptionalCollection {
  associatedtype Elements: Swift.Collection
  /// The value; nil where it is nil.
  var _collection: Elements? { get }
}

extension Optional: OptionalCollection where Wrapped: Swift.Collection {
  public var _collection: Wrapped? { self }
}

// MARK: Booleans

extension QueryField where Value == Bool {
  public static prefix func ! (field: Self) -> Filter<Entity> { field == false }

  public static func && (left: Self, right: Self) -> Filter<Entity> {
    left == true && right == true
  }

  public static func && (left: Self, right: Filter<Entity>) -> Filter<Entity> {
    left == true && right
  }

  public static func && (left: Filter<Entity>, right: Self) -> Filter<Entity> {
    left && right == true
  }

  public static func || (left: Self, right: Self) -> Filter<Entity> {
    left == true || right == true
  }

  public static func || (left: Self, right: Filter<Entity>) -> Filter<Entity> {
    left == true || right
  }

  public static func || (left: Filter<Entity>, right: Self) -> Filter<Entity> {
    left || right == true
  }

  @_disfavoredOverload
  public static func && (left: Bool, right: Self) -> Filter<Entity> { left && right == true }

  @_disfavoredOverload
  public static func && (left: Self, right: Bool) -> Filter<Entity> { right && left == true }

  @_disfavoredOverload
  public static func || (left: Bool, right: Self) -> Filter<Entity> { left || right == true }

  @_disfavoredOverload
  public static func || (left: Self, right: Bool) -> Filter<Entity> { right || left == true }
}
