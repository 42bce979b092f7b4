/// Of an optional field nil is neither below nor above anything.
extension QueryField where Value: FieldValue, Value.Bare: Comparable {
  public static func < (field: Self, value: Value.Bare) -> Filter<Entity> {
    field.filter(field.operand, .less(Larder.Value(storing: value)))
  }

  public static func <= (field: Self, value: Value.Bare) -> Filter<Entity> {
    field.filter(field.operand, .lessOrEqual(Larder.Value(storing: value)))
  }

  public static func > (field: Self, value: Value.Bare) -> Filter<Entity> {
    field.filter(field.operand, .greater(Larder.Value(storing: value)))
  }

  public static func >= (field: Self, value: Value.Bare) -> Filter<Entity> {
    field.filter(field.operand, .greaterOrEqual(Larder.Value(storing: value)))
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: ClosedRange<Value.Bare>) -> Filter<Entity> {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: Range<Value.Bare>) -> Filter<Entity> {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: PartialRangeFrom<Value.Bare>) -> Filter<Entity> {
    self >= range.lowerBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: PartialRangeThrough<Value.Bare>) -> Filter<Entity> {
    self <= range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: PartialRangeUpTo<Value.Bare>) -> Filter<Entity> {
    self < range.upperBound
  }
}
