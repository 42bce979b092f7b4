extension Aggregate {
  /// The different values of a field, in the order of the values: nil first, NaN once and last.
  /// Texts that are canonically equivalent are one value.
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

  /// The sum of one field for each value of another, in the order of the values. As ``sum(_:)``
  /// otherwise.
  public static func sums<Value: Summable, Key: FieldValue & Storable & Sendable>(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self where Result == [ValueGroup<Key, Value.Sum>] {
    sums(Fields()[keyPath: field].operand, Value.self, Fields()[keyPath: other].operand)
  }

  /// The sum of a field that may be nil for each value of another.
  public static func sums<Value: Summable, Key: FieldValue & Storable & Sendable>(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self where Result == [ValueGroup<Key, Value.Sum>] {
    sums(Fields()[keyPath: field].operand, Value.self, Fields()[keyPath: other].operand)
  }

  /// The sum of a field for each value of an enum.
  public static func sums<
    Value: Summable, Key: RawRepresentable & Equatable & Storable & Sendable
  >(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key>>
  ) -> Self where Key.RawValue: Comparand, Result == [ValueGroup<Key, Value.Sum>] {
    sums(Fields()[keyPath: field].operand, Value.self, Fields()[keyPath: other].rawOperand)
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
      fromIndex: { snapshot, selection, binding in
        guard selection.maximum == nil, selection.skipped == 0,
          let groups = try snapshot.groups(
            of: operand, isCounting: isCounting, selection.filter, binding)
        else { return nil }
        return try groups.map {
          ValueGroup(key: try $0.value.decoded(in: binding.collection), value: $0.count)
        }
      },
      { collection, rows in
        let values = Evaluation(reading: [operand], in: collection)
        var table = GroupTable<Int>()
        try rows { _, record in
          try table.withGroup(of: record, values, new: 0) { $0 += 1 }
          return true
        }
        return try table.groups(in: collection) { count throws(StoreError) in count }
      })
  }

  private static func sums<Value: Summable, Key: Storable & Sendable>(
    _ operand: Operand, _: Value.Type, _ other: Operand
  ) -> Self where Result == [ValueGroup<Key, Value.Sum>] {
    Self { collection, rows in
      let values = Evaluation(reading: [other, operand], in: collection)
      var table = GroupTable<FieldTotal>()
      try rows { _, record in
        let value = try values.value(1, record)
        try table.withGroup(of: record, values, new: FieldTotal()) { $0.add(value) }
        return true
      }
      return try table.groups(in: collection) { total throws(StoreError) in
        try total.sum(Value.self, operand, collection)
      }
    }
  }
}

/// What has been seen of each value of a field, by the value's bytes in index entries.
private struct GroupTable<State>: ~Copyable {
  private var places: [[UInt8]: Int] = [:]
  private var rows: [(bytes: [UInt8], value: Value, state: State)] = []
  private var bytes = IndexBytes(capacity: 256)

  /// Lends the state of the group that a document belongs to.
  mutating func withGroup(
    of record: borrowing RecordReader, _ values: Evaluation, new: @autoclosure () -> State,
    _ body: (inout State) -> Void
  ) throws(RecordError) {
    bytes.removeAll()
    try values.putValue(0, record, into: &bytes)
    let key = Array(bytes.bytes)
    if let place = places[key] { return body(&rows[place].state) }
    var state = new()
    body(&state)
    places[key] = rows.count
    rows.append((key, try values.value(0, record), state))
  }

  consuming func groups<Key: Storable & Sendable, Value: Sendable>(
    in collection: Collection, _ finish: (State) throws(StoreError) -> Value
  ) throws(StoreError) -> [ValueGroup<Key, Value>] {
    rows.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    var groups: [ValueGroup<Key, Value>] = []
    for row in rows {
      groups.append(
        ValueGroup(key: try row.value.decoded(in: collection), value: try finish(row.state)))
    }
    return groups
  }
}
