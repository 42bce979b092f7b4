// `ids.contains($0.id)`: the same as `$0.id.isIn(ids)`, in the words of Swift's own closures.

extension Sequence where Element: Comparand {
  /// Whether a field is one of these values: `Contact.where { cities.contains($0.city) }`.
  @_disfavoredOverload  // A range of integers is a sequence too, but not one to enumerate.
  public func contains<Entity>(_ field: QueryField<Entity, Element>) -> Filter<Entity> {
    field.isIn(self)
  }

  /// Whether a field that may be nil is one of these values; nil is none of them.
  @_disfavoredOverload
  public func contains<Entity>(_ field: QueryField<Entity, Element?>) -> Filter<Entity> {
    field.isIn(self)
  }
}

extension Sequence
where Element: RawRepresentable & Equatable & Sendable, Element.RawValue: Comparand {
  /// Whether a field is one of these values.
  public func contains<Entity>(_ field: QueryField<Entity, Element>) -> Filter<Entity> {
    field.isIn(self)
  }

  /// Whether a field that may be nil is one of these values; nil is none of them.
  public func contains<Entity>(_ field: QueryField<Entity, Element?>) -> Filter<Entity> {
    field.isIn(self)
  }
}

// MARK: Ranges

extension ClosedRange {
  /// Whether a field lies in this range: `Contact.where { (1...3).contains($0.order) }`.
  public func contains<Entity, Value: FieldValue>(
    _ field: QueryField<Entity, Value>
  ) -> Filter<Entity> where Value.Bare == Bound { field.isIn(self) }
}

extension Range {
  /// Whether a field lies in this range.
  public func contains<Entity, Value: FieldValue>(
    _ field: QueryField<Entity, Value>
  ) -> Filter<Entity> where Value.Bare == Bound { field.isIn(self) }
}

extension PartialRangeFrom {
  /// Whether a field lies in this range.
  public func contains<Entity, Value: FieldValue>(
    _ field: QueryField<Entity, Value>
  ) -> Filter<Entity> where Value.Bare == Bound { field.isIn(self) }
}

extension PartialRangeThrough {
  /// Whether a field lies in this range.
  public func contains<Entity, Value: FieldValue>(
    _ field: QueryField<Entity, Value>
  ) -> Filter<Entity> where Value.Bare == Bound { field.isIn(self) }
}

extension PartialRangeUpTo {
  /// Whether a field lies in this range.
  public func contains<Entity, Value: FieldValue>(
    _ field: QueryField<Entity, Value>
  ) -> Filter<Entity> where Value.Bare == Bound { field.isIn(self) }
}

extension RangeExpression
where
  Self: Sendable, Bound: RawRepresentable & Sendable, Bound.RawValue: Comparand
{
  /// Whether a field lies in this range, by the type's own order.
  public func contains<Entity>(_ field: QueryField<Entity, Bound>) -> Filter<Entity> {
    field.isIn(self)
  }

  /// Whether a field that may be nil lies in this range, by the type's own order; nil lies in none.
  public func contains<Entity>(_ field: QueryField<Entity, Bound?>) -> Filter<Entity> {
    field.isIn(self)
  }
}
