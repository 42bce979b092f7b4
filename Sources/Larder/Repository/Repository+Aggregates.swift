extension Repository {
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
