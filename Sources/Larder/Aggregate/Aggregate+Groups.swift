extension Aggregate {
  /// The different values of a field, in the order of the values: nil first, NaN once and last.
  /// Texts that are canonically equivalent are one value, in normalization form C.
  public static func distinct<Key: FieldValue & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self where Result == [Key] {
    distinct(Fields()[keyPath: field].operand)
  }

  /// The different values of an enum, in the order of their raw values.
  public static func distinct<Key: RawRepresentable & Equatable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self where Key.RawValue: Comparand, Result == [Key] {
    distinct(Fields()[keyPath: field].rawOperand)
  }

  /// The different values of an enum that may be nil, nil first.
  public static func distinct<Key: RawRepresentable & Equatable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Key?>>
  ) -> Self where Key.RawValue: Comparand, Result == [Key?] {
    distinct(Fields()[keyPath: field].optionalRawOperand())
  }

  /// How many documents have each value of a field, in the order of the values.
  public static func counts<Key: FieldValue & Storable & Sendable>(
    by field: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self where Result == [ValueGroup<Key, Int>] {
    counted(Fields()[keyPath: field].operand, isCounting: true)
  }

  /// How many documents have each value of an enum, in the order of the raw values.
  public static func counts<Key: RawRepresentable & Equatable & Storable & Sendable>(
    by field: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self where Key.RawValue: Comparand, Result == [ValueGroup<Key, Int>] {
    counted(Fields()[keyPath: field].rawOperand, isCounting: true)
  }

  /// How many documents have each value of an enum that may be nil, nil first.
  public static func counts<Key: RawRepresentable & Equatable & Storable & Sendable>(
    by field: KeyPath<Fields<Entity>, QueryField<Entity, Key?>>
  ) -> Self where Key.RawValue: Comparand, Result == [ValueGroup<Key?, Int>] {
    counted(Fields()[keyPath: field].optionalRawOperand(), isCounting: true)
  }

  /// The sum of one field for each value of another, in the order of the values. As `sum(_:)`
  /// otherwise.
  public static func sums<Value: FieldValue, Key: FieldValue & Storable & Sendable>(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self where Value.Bare: Summable, Result == [ValueGroup<Key, Value.Bare.Sum>] {
    sums(Fields()[keyPath: field].operand, Value.Bare.self, Fields()[keyPath: other].operand)
  }

  /// The sum of a field for each value of an enum.
  public static func sums<
    Value: FieldValue, Key: RawRepresentable & Equatable & Storable & Sendable
  >(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self
  where
    Value.Bare: Summable, Key.RawValue: Comparand, Result == [ValueGroup<Key, Value.Bare.Sum>]
  {
    sums(Fields()[keyPath: field].operand, Value.Bare.self, Fields()[keyPath: other].rawOperand)
  }

  /// The sum of a field for each value of an enum that may be nil, nil first.
  public static func sums<
    Value: FieldValue, Key: RawRepresentable & Equatable & Storable & Sendable
  >(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key?>>
  ) -> Self
  where
    Value.Bare: Summable, Key.RawValue: Comparand, Result == [ValueGroup<Key?, Value.Bare.Sum>]
  {
    sums(
      Fields()[keyPath: field].operand, Value.Bare.self,
      Fields()[keyPath: other].optionalRawOperand())
  }
}

// MARK: Making them

extension Aggregate {
  private static func distinct<Key: Storable & Sendable>(
    _ operand: Operand
  ) -> Self where Result == [Key] {
    Aggregate<Entity, [ValueGroup<Key, Int>]>.counted(operand, isCounting: false)
      .map { $0.map(\.key) }
  }

  fileprivate static func counted<Key: Storable & Sendable>(
    _ operand: Operand, isCounting: Bool
  ) -> Self where Result == [ValueGroup<Key, Int>] {
    Self(
      fromIndex: { moment, selection, binding in
        guard selection.maximum == nil, selection.skipped == 0,
          let groups = try moment.groups(
            of: operand, isCounting: isCounting, selection.filter, binding)
        else { return nil }
        do throws(RecordError) {
          return try groups.map { (group) throws(RecordError) in
            ValueGroup(key: try group.value.oneSpelling.decoded(from: operand), value: group.count)
          }
        } catch {
          return nil  // The documents are asked themselves: the error has to name one.
        }
      },
      { RunningGroups(by: operand, in: $0) { count, _ in count } })
  }

  private static func sums<Value: Summable, Key: Storable & Sendable>(
    _ operand: Operand, _: Value.Type, _ other: Operand
  ) -> Self where Result == [ValueGroup<Key, Value.Sum>] {
    Self { collection in
      RunningGroups(by: other, totalOf: operand, in: collection) { _, total in
        try total.sum(Value.self, operand, collection)
      }
    }
  }
}
