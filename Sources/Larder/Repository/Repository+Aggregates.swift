extension Repository {
  /// The first model that `query` selects, in its order; nil if it selects none.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func first(_ query: Query<Entity> = Entity.all) throws -> Model? {
    try fetch(query.limit(1)).first
  }

  /// Whether `query` selects anything.
  ///
  /// - Throws: ``StoreError`` when what it looks at cannot be read.
  public func exists(_ query: Query<Entity>) throws -> Bool { try count(query.limit(1)) > 0 }

  /// The keys of what `query` selects, in its order. Nothing is decoded.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func keys(of query: Query<Entity> = Entity.all) throws -> [Entity.Key] {
    try aggregate(.keys(), of: query)
  }

  /// The sum of a field; zero where nothing is selected. Nil counts for nothing. See
  /// `Aggregate.sum(_:)`.
  ///
  /// - Throws: As ``aggregate(_:of:)``; ``StoreError/sumOverflow(collection:field:sum:)``.
  public func sum<Value: FieldValue>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    of query: Query<Entity> = Entity.all
  ) throws -> Value.Bare.Sum where Value.Bare: Summable {
    try aggregate(.sum(field), of: query)
  }

  /// The average of a field, of the values that are not nil; nil where there is none. See
  /// `Aggregate.average(_:)`.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func average<Value: FieldValue>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    of query: Query<Entity> = Entity.all
  ) throws -> Value.Bare.Average? where Value.Bare: Summable {
    try aggregate(.average(field), of: query)
  }

  /// The smallest value of a field that is neither nil nor NaN; nil where there is none.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func min<Value: FieldValue>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    of query: Query<Entity> = Entity.all
  ) throws -> Value.Bare? where Value.Bare: Comparable {
    try aggregate(.min(field), of: query)
  }

  /// The largest value of a field that is neither nil nor NaN; nil where there is none.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func max<Value: FieldValue>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    of query: Query<Entity> = Entity.all
  ) throws -> Value.Bare? where Value.Bare: Comparable {
    try aggregate(.max(field), of: query)
  }

  /// The different values of a field, ascending. See `Aggregate.distinct(_:)`.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func distinct<Key: FieldValue & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Key>>,
    of query: Query<Entity> = Entity.all
  ) throws -> [Key] {
    try aggregate(.distinct(field), of: query)
  }

  /// How many documents have each value of a field, in the order of the values.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func counts<Key: FieldValue & Storable & Sendable>(
    by field: KeyPath<Fields<Entity>, QueryField<Entity, Key>>,
    of query: Query<Entity> = Entity.all
  ) throws -> [ValueGroup<Key, Int>] {
    try aggregate(.counts(by: field), of: query)
  }

  /// The sum of one field for each value of another, in the order of the values.
  ///
  /// - Throws: As ``aggregate(_:of:)``; ``StoreError/sumOverflow(collection:field:sum:)``.
  public func sums<Value: FieldValue, Key: FieldValue & Storable & Sendable>(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key>>,
    in query: Query<Entity> = Entity.all
  ) throws -> [ValueGroup<Key, Value.Bare.Sum>] where Value.Bare: Summable {
    try aggregate(.sums(of: field, by: other), of: query)
  }
}

// MARK: Enums

extension Repository {
  /// The smallest value of an enum, by its own order; nil where there is none.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func min<Value: RawRepresentable & Comparable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    of query: Query<Entity> = Entity.all
  ) throws -> Value? where Value.RawValue: Comparand {
    try aggregate(.min(field), of: query)
  }

  /// The smallest value of an enum that may be nil, by its own order; nil where there is none.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func min<Value: RawRepresentable & Comparable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>,
    of query: Query<Entity> = Entity.all
  ) throws -> Value? where Value.RawValue: Comparand {
    try aggregate(.min(field), of: query)
  }

  /// The largest value of an enum, by its own order; nil where there is none.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func max<Value: RawRepresentable & Comparable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    of query: Query<Entity> = Entity.all
  ) throws -> Value? where Value.RawValue: Comparand {
    try aggregate(.max(field), of: query)
  }

  /// The largest value of an enum that may be nil, by its own order; nil where there is none.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func max<Value: RawRepresentable & Comparable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Value?>>,
    of query: Query<Entity> = Entity.all
  ) throws -> Value? where Value.RawValue: Comparand {
    try aggregate(.max(field), of: query)
  }

  /// The different values of an enum, in the order of their raw values.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func distinct<Key: RawRepresentable & Equatable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Key>>,
    of query: Query<Entity> = Entity.all
  ) throws -> [Key] where Key.RawValue: Comparand {
    try aggregate(.distinct(field), of: query)
  }

  /// The different values of an enum that may be nil, nil first, then in the order of their raw values.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func distinct<Key: RawRepresentable & Equatable & Storable & Sendable>(
    _ field: KeyPath<Fields<Entity>, QueryField<Entity, Key?>>,
    of query: Query<Entity> = Entity.all
  ) throws -> [Key?] where Key.RawValue: Comparand {
    try aggregate(.distinct(field), of: query)
  }

  /// How many documents have each value of an enum, in the order of the raw values.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func counts<Key: RawRepresentable & Equatable & Storable & Sendable>(
    by field: KeyPath<Fields<Entity>, QueryField<Entity, Key>>,
    of query: Query<Entity> = Entity.all
  ) throws -> [ValueGroup<Key, Int>] where Key.RawValue: Comparand {
    try aggregate(.counts(by: field), of: query)
  }

  /// How many documents have each value of an enum that may be nil, in the order of the raw values, nil first.
  ///
  /// - Throws: As ``aggregate(_:of:)``.
  public func counts<Key: RawRepresentable & Equatable & Storable & Sendable>(
    by field: KeyPath<Fields<Entity>, QueryField<Entity, Key?>>,
    of query: Query<Entity> = Entity.all
  ) throws -> [ValueGroup<Key?, Int>] where Key.RawValue: Comparand {
    try aggregate(.counts(by: field), of: query)
  }

  /// The sum of a field for each value of an enum, in the order of the raw values.
  ///
  /// - Throws: As ``aggregate(_:of:)``; ``StoreError/sumOverflow(collection:field:sum:)``.
  public func sums<Value: FieldValue, Key: RawRepresentable & Equatable & Storable & Sendable>(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key>>,
    in query: Query<Entity> = Entity.all
  ) throws -> [ValueGroup<Key, Value.Bare.Sum>]
  where Value.Bare: Summable, Key.RawValue: Comparand {
    try aggregate(.sums(of: field, by: other), of: query)
  }

  /// The sum of a field for each value of an enum that may be nil, in the order of the raw values, nil first.
  ///
  /// - Throws: As ``aggregate(_:of:)``; ``StoreError/sumOverflow(collection:field:sum:)``.
  public func sums<Value: FieldValue, Key: RawRepresentable & Equatable & Storable & Sendable>(
    of field: KeyPath<Fields<Entity>, QueryField<Entity, Value>>,
    by other: KeyPath<Fields<Entity>, QueryField<Entity, Key?>>,
    in query: Query<Entity> = Entity.all
  ) throws -> [ValueGroup<Key?, Value.Bare.Sum>]
  where Value.Bare: Summable, Key.RawValue: Comparand {
    try aggregate(.sums(of: field, by: other), of: query)
  }
}
