// One field of a document against another. Either may be optional: as in Swift, nil equals nil, and
// is neither below nor above anything.

extension QueryField where Value: FieldValue {
  public static func == <Other: FieldValue>(
    left: Self, right: QueryField<Entity, Other>
  ) -> Filter<Entity> where Other.Bare == Value.Bare {
    Filter(node: .relation(left.operand, .equal, right.operand))
  }

  public static func != <Other: FieldValue>(
    left: Self, right: QueryField<Entity, Other>
  ) -> Filter<Entity> where Other.Bare == Value.Bare {
    !(left == right)
  }

  public static func < <Other: FieldValue>(
    left: Self, right: QueryField<Entity, Other>
  ) -> Filter<Entity> where Other.Bare == Value.Bare, Value.Bare: Comparable {
    Filter(node: .relation(left.operand, .less, right.operand))
  }

  public static func <= <Other: FieldValue>(
    left: Self, right: QueryField<Entity, Other>
  ) -> Filter<Entity> where Other.Bare == Value.Bare, Value.Bare: Comparable {
    Filter(node: .relation(left.operand, .lessOrEqual, right.operand))
  }

  public static func > <Other: FieldValue>(
    left: Self, right: QueryField<Entity, Other>
  ) -> Filter<Entity> where Other.Bare == Value.Bare, Value.Bare: Comparable {
    Filter(node: .relation(right.operand, .less, left.operand))
  }

  public static func >= <Other: FieldValue>(
    left: Self, right: QueryField<Entity, Other>
  ) -> Filter<Entity> where Other.Bare == Value.Bare, Value.Bare: Comparable {
    Filter(node: .relation(right.operand, .lessOrEqual, left.operand))
  }
}

/// Enums and structs with a raw value are equal if their raw values are, whatever their own `==` says.
extension QueryField
where Value: RawRepresentable & Equatable & Sendable, Value.RawValue: Comparand {
  public static func == (left: Self, right: Self) -> Filter<Entity> {
    Filter(node: .relation(left.rawOperand, .equal, right.rawOperand))
  }

  public static func != (left: Self, right: Self) -> Filter<Entity> { !(left == right) }

  public static func == (left: Self, right: QueryField<Entity, Value?>) -> Filter<Entity> {
    Filter(node: .relation(left.rawOperand, .equal, right.optionalRawOperand()))
  }

  public static func != (left: Self, right: QueryField<Entity, Value?>) -> Filter<Entity> {
    !(left == right)
  }

  public static func == (left: QueryField<Entity, Value?>, right: Self) -> Filter<Entity> {
    right == left
  }

  public static func != (left: QueryField<Entity, Value?>, right: Self) -> Filter<Entity> {
    !(right == left)
  }
}

extension QueryField {
  public static func == <Wrapped: RawRepresentable & Equatable & Sendable>(
    left: Self, right: Self
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    Filter(node: .relation(left.optionalRawOperand(), .equal, right.optionalRawOperand()))
  }

  public static func != <Wrapped: RawRepresentable & Equatable & Sendable>(
    left: Self, right: Self
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    !(left == right)
  }
}
