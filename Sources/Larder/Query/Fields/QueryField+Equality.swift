extension QueryField where Value: FieldValue {
  var operand: Operand { operand { $0.stored } }
}

extension QueryField where Value: Comparand {
  public static func == (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .equal(Larder.Value(storing: value)))
  }

  public static func != (field: Self, value: Value) -> Filter<Entity> { !(field == value) }

  /// Whether the field is one of `values`. Queries with the same values are equal, whatever their order.
  public func isIn(_ values: some Sequence<Value>) -> Filter<Entity> {
    filter(operand, .isOne(of: values.map { Larder.Value(storing: $0) }))
  }
}

extension QueryField {
  public static func == <Wrapped: Comparand>(
    field: Self, value: Wrapped?
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.operand, .equal(value.stored))
  }

  public static func != <Wrapped: Comparand>(
    field: Self, value: Wrapped?
  ) -> Filter<Entity> where Value == Wrapped? {
    !(field == value)
  }

  /// Whether the field is one of `values`; nil is none of them.
  @_disfavoredOverload  // A range of integers is a sequence too, but not one to enumerate.
  public func isIn<Wrapped: Comparand>(
    _ values: some Sequence<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    filter(operand, .isOne(of: values.map { Larder.Value(storing: $0) }))
  }

  /// Whether the field is one of `values`, among which nil may be.
  @_disfavoredOverload
  public func isIn<Wrapped: Comparand>(
    _ values: some Sequence<Wrapped?>
  ) -> Filter<Entity> where Value == Wrapped? {
    let stored = values.map(\.stored)
    let isAny = filter(operand, .isOne(of: stored.filter { $0 != .null }))
    return stored.contains(.null) ? isAny || isNil() : isAny
  }

  /// Whether the field is nil.
  public func isNil<Wrapped>() -> Filter<Entity> where Value == Wrapped? {
    filter(operand { $0 == nil ? .null : .bool(true) }, .equal(.null))
  }
}

/// Whether a field of any optional type is nil.
extension QueryField {
  public static func == <Wrapped>(
    field: Self, _: _OptionalNilComparisonType
  ) -> Filter<Entity> where Value == Wrapped? {
    field.isNil()
  }

  public static func != <Wrapped>(
    field: Self, _: _OptionalNilComparisonType
  ) -> Filter<Entity> where Value == Wrapped? {
    !field.isNil()
  }
}

// MARK: Raw values

/// An enum or a struct with a raw value is compared by that, whatever its own `==` says.
extension QueryField
where Value: RawRepresentable & Equatable & Sendable, Value.RawValue: Comparand {
  var rawOperand: Operand { operand { Larder.Value(storing: $0.rawValue) } }

  public static func == (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.rawOperand, .equal(Larder.Value(storing: value.rawValue)))
  }

  public static func != (field: Self, value: Value) -> Filter<Entity> { !(field == value) }

  /// Whether the field is one of `values`.
  public func isIn(_ values: some Sequence<Value>) -> Filter<Entity> {
    filter(rawOperand, .isOne(of: values.map { Larder.Value(storing: $0.rawValue) }))
  }
}

/// An optional one likewise; nil is equal to nil only.
extension QueryField {
  func optionalRawOperand<Wrapped: RawRepresentable>() -> Operand
  where Value == Wrapped?, Wrapped: Sendable, Wrapped.RawValue: Comparand {
    operand { $0.map { Larder.Value(storing: $0.rawValue) } ?? .null }
  }

  public static func == <Wrapped: RawRepresentable & Equatable & Sendable>(
    field: Self, value: Wrapped?
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    field.filter(
      field.optionalRawOperand(),
      .equal(value.map { Larder.Value(storing: $0.rawValue) } ?? .null))
  }

  public static func != <Wrapped: RawRepresentable & Equatable & Sendable>(
    field: Self, value: Wrapped?
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    !(field == value)
  }

  /// Whether the field is one of `values`; nil is none of them.
  public func isIn<Wrapped: RawRepresentable & Equatable & Sendable>(
    _ values: some Sequence<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    filter(optionalRawOperand(), .isOne(of: values.map { Larder.Value(storing: $0.rawValue) }))
  }
}
