extension Aggregate {
  /// The sum of a field; zero where nothing is selected. Nil counts for nothing.
  ///
  /// Integers are summed exactly: ``StoreError/sumOverflow(collection:field:sum:)`` is thrown for a
  /// sum that the result cannot hold. Doubles are added exactly, too, in whatever order, and the sum
  /// is rounded once, to the nearest double; one NaN makes it NaN. Decimals are added in the order of
  /// the keys, or in the query's if it has a limit or an offset, which matters beyond 38 digits.
  public static func sum<Value: FieldValue>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self where Value.Bare: Summable, Result == Value.Bare.Sum {
    sum(Fields()[keyPath: field].operand, Value.Bare.self)
  }

  /// The average of a field, of the values that are not nil; nil where there is none: their sum, divided
  /// by their number. That of integers, which is exact, becomes a double first; that of doubles may be
  /// larger than any double.
  public static func average<Value: FieldValue>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>
  ) -> Self where Value.Bare: Summable, Result == Value.Bare.Average? {
    average(Fields()[keyPath: field].operand, Value.Bare.self)
  }

  /// How many documents there are.
  public static func count() -> Self where Result == Int {
    Self(
      fromIndex: { try $0.transaction.count($1, $2) }, { _ in RunningCount() },
      resumed: { RunningCount(count: $0) })
  }

  private static func sum<Value: Summable>(
    _ operand: Operand, _: Value.Type
  ) -> Self where Result == Value.Sum {
    Self { collection in
      RunningTotal(of: operand, in: collection) { try $0.sum(Value.self, operand, collection) }
    }
  }

  private static func average<Value: Summable>(
    _ operand: Operand, _: Value.Type
  ) -> Self where Result == Value.Average? {
    Self { collection in
      RunningTotal(of: operand, in: collection) { $0.count == 0 ? nil : Value._average($0) }
    }
  }
}

extension FieldTotal {
  /// - Throws: ``StoreError/sumOverflow(collection:field:sum:)``.
  func sum<Value: Summable>(
    _: Value.Type, _ operand: Operand, _ collection: Collection
  ) throws(StoreError) -> Value.Sum {
    guard let sum = Value._sum(self) else {
      throw .sumOverflow(collection: collection.name, field: "\(operand)", sum: "\(integers)")
    }
    return sum
  }
}
