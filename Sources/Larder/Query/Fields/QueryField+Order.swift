extension QueryField where Value: Comparand & Comparable {
  public static func < (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .less(Larder.Value(storing: value)))
  }

  public static func <= (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .lessOrEqual(Larder.Value(storing: value)))
  }

  public static func > (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .greater(Larder.Value(storing: value)))
  }

  public static func >= (field: Self, value: Value) -> Filter<Entity> {
    field.filter(field.operand, .greaterOrEqual(Larder.Value(storing: value)))
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: ClosedRange<Value>) -> Filter<Entity> {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: Range<Value>) -> Filter<Entity> {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: PartialRangeFrom<Value>) -> Filter<Entity> {
    self >= range.lowerBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: PartialRangeThrough<Value>) -> Filter<Entity> {
    self <= range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn(_ range: PartialRangeUpTo<Value>) -> Filter<Entity> {
    self < range.upperBound
  }
}

/// Nil is neither below nor above anything.
extension QueryField {
  public static func < <Wrapped: Comparand & Comparable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.operand, .less(Larder.Value(storing: value)))
  }

  public static func <= <Wrapped: Comparand & Comparable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.operand, .lessOrEqual(Larder.Value(storing: value)))
  }

  public static func > <Wrapped: Comparand & Comparable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.operand, .greater(Larder.Value(storing: value)))
  }

  public static func >= <Wrapped: Comparand & Comparable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped? {
    field.filter(field.operand, .greaterOrEqual(Larder.Value(storing: value)))
  }

  /// Whether the field lies in `range`.
  public func isIn<Wrapped: Comparand & Comparable>(
    _ range: ClosedRange<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    self >= range.lowerBound && self <= range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn<Wrapped: Comparand & Comparable>(
    _ range: Range<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    self >= range.lowerBound && self < range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn<Wrapped: Comparand & Comparable>(
    _ range: PartialRangeFrom<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    self >= range.lowerBound
  }

  /// Whether the field lies in `range`.
  public func isIn<Wrapped: Comparand & Comparable>(
    _ range: PartialRangeThrough<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    self <= range.upperBound
  }

  /// Whether the field lies in `range`.
  public func isIn<Wrapped: Comparand & Comparable>(
    _ range: PartialRangeUpTo<Wrapped>
  ) -> Filter<Entity> where Value == Wrapped? {
    self < range.upperBound
  }
}
