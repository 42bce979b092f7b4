// An enum with a raw value has an order only where its author gave it one, which need not be that
// of the raw values. So what it is compared with is turned into the cases for which Swift's own
// operator holds: conditions that an index can answer. A type whose values cannot be listed is
// decoded and asked.

extension QueryField
where Value: RawRepresentable & Comparable & Sendable, Value.RawValue: Comparand {
  public static func < (field: Self, value: Value) -> Filter<Entity> {
    field.filter { $0 < value }
  }

  public static func <= (field: Self, value: Value) -> Filter<Entity> {
    field.filter { $0 <= value }
  }

  public static func > (field: Self, value: Value) -> Filter<Entity> {
    field.filter { $0 > value }
  }

  public static func >= (field: Self, value: Value) -> Filter<Entity> {
    field.filter { $0 >= value }
  }

  /// Whether the field lies in `range`, by the type's own order.
  public func isIn<Bounds: RangeExpression<Value> & Sendable>(_ range: Bounds) -> Filter<Entity> {
    filter { range.contains($0) }
  }

  private func filter(_ holds: @escaping @Sendable (Value) -> Bool) -> Filter<Entity> {
    guard let cases = everyCase(of: Value.self) else { return computed(holds) }
    return filter(
      rawOperand, .isOne(of: cases.filter(holds).map { Larder.Value(storing: $0.rawValue) }))
  }
}

/// Nil is neither below nor above anything.
extension QueryField {
  public static func < <Wrapped: RawRepresentable & Comparable & Sendable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    field.filter { $0 < value }
  }

  public static func <= <Wrapped: RawRepresentable & Comparable & Sendable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    field.filter { $0 <= value }
  }

  public static func > <Wrapped: RawRepresentable & Comparable & Sendable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    field.filter { $0 > value }
  }

  public static func >= <Wrapped: RawRepresentable & Comparable & Sendable>(
    field: Self, value: Wrapped
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    field.filter { $0 >= value }
  }

  /// Whether the field lies in `range`, by the type's own order.
  public func isIn<
    Wrapped: RawRepresentable & Comparable & Sendable, Bounds: RangeExpression<Wrapped> & Sendable
  >(
    _ range: Bounds
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    filter { range.contains($0) }
  }

  private func filter<Wrapped: RawRepresentable & Comparable & Sendable>(
    _ holds: @escaping @Sendable (Wrapped) -> Bool
  ) -> Filter<Entity> where Value == Wrapped?, Wrapped.RawValue: Comparand {
    guard let cases = everyCase(of: Wrapped.self) else {
      return computed { $0.map(holds) ?? false }
    }
    return filter(
      optionalRawOperand(),
      .isOne(of: cases.filter(holds).map { Larder.Value(storing: $0.rawValue) }))
  }
}

/// All values of an enum that lists its cases; nil where there may be others: what a struct calls all its
/// cases need not be all that can be stored, nor does a list that is written by hand have each case.
private func everyCase<Value>(of type: Value.Type) -> [Value]? {
  guard let listed = type as? any CaseIterable.Type else { return nil }
  func all<Listed: CaseIterable>(_: Listed.Type) -> [Value]? { Array(Listed.allCases) as? [Value] }
  guard let cases = all(listed), let first = cases.first,
    Mirror(reflecting: first).displayStyle == .enum, isEveryCase(cases)
  else { return nil }
  return cases
}

/// Whether an enum has no other cases; false where its memory does not tell.
///
/// Swift numbers the cases of an enum without payloads from 0 on, in one byte up to 256, in two behind that, or in
/// none for a single case. In an optional, nil is the first number behind them, where there is one.
private func isEveryCase<Value>(_ cases: [Value]) -> Bool {
  func numbers<Number: FixedWidthInteger>(_: Number.Type) -> Set<Number> {
    Set(cases.map { withUnsafeBytes(of: $0) { $0.loadUnaligned(as: Number.self) } })
  }
  func isAll<Number: FixedWidthInteger>(_: Number.Type) -> Bool where Number.Stride == Int {
    let end = withUnsafeBytes(of: Value?.none) { $0.loadUnaligned(as: Number.self) }
    return numbers(Number.self) == Set(0..<end)
  }
  return switch (MemoryLayout<Value>.size, MemoryLayout<Value?>.size) {
  case (0, _): true
  case (1, 1): isAll(UInt8.self)
  case (1, 2): numbers(UInt8.self).count == 256
  case (2, 2): isAll(UInt16.self)
  default: false
  }
}

// MARK: Sorting

extension QueryField
where Value: RawRepresentable & Comparable & CaseIterable & Sendable, Value.RawValue: Comparand {
  func enumSortKey(isReversed: Bool) -> SortKey {
    if Value.isInRawOrder { return SortKey(operand: rawOperand, isReversed: isReversed) }
    let place = Value.place
    let operand = orderOperand { .integer(place($0)) }
    return SortKey(operand: operand, isReversed: isReversed)
  }
}

extension QueryField {
  func enumSortKey<Wrapped: RawRepresentable & Comparable & CaseIterable & Sendable>(
    isReversed: Bool
  ) -> SortKey where Value == Wrapped?, Wrapped.RawValue: Comparand {
    if Wrapped.isInRawOrder {
      return SortKey(operand: optionalRawOperand(), isReversed: isReversed)
    }
    let place = Wrapped.place
    let operand = orderOperand { $0.map { .integer(place($0)) } ?? .null }
    return SortKey(operand: operand, isReversed: isReversed)
  }

  /// The values in an order that is not that of what is stored.
  fileprivate func orderOperand(_ place: @escaping @Sendable (Value) -> Larder.Value) -> Operand {
    let read = read
    return .computed(
      Operand.Computed(orderOf: storedPath) { (reader) throws(RecordError) in
        place(try read(reader))
      })
  }
}

extension CaseIterable
where Self: RawRepresentable & Comparable & Sendable, RawValue: Comparand {
  /// Whether the cases, all of them, are in the order of their raw values, so that the stored
  /// order is theirs.
  fileprivate static var isInRawOrder: Bool {
    guard let cases = everyCase(of: Self.self) else { return false }
    let raw = cases.map { Value(storing: $0.rawValue).sortable }
    return cases.indices.allSatisfy { first in
      cases.indices.allSatisfy { second in
        (cases[first] < cases[second]) == (raw[first].totalOrder(raw[second]) < 0)
      }
    }
  }

  /// Gives values numbers that have their order. Of values that are not listed, those between the same two listed
  /// ones have the same number.
  fileprivate static var place: @Sendable (Self) -> Int64 {
    // Cursors of pages hold these numbers, so that they stay what they are where they are enough.
    if everyCase(of: Self.self) != nil {
      return { value in Int64(allCases.count { $0 < value }) }
    }
    return { value in
      let cases = Self.allCases
      return Int64(cases.count { $0 < value } + cases.count { !(value < $0) })
    }
  }
}
