// What a query makes of values in memory, for repositories that are no part of Larder.

extension Query {
  /// What this query selects of values that are in memory: what a store that held them would give.
  ///
  /// ```swift
  /// func fetch(_ query: Query<Note>) throws -> [Note] { try query.results(of: notesInFile) }
  /// ```
  /// Filter, order, offset, limit and the place of a cursor (``after(_:)``) hold; where nothing is
  /// sorted by, the order is that of the keys. Of values with one key the last counts. The filter is
  /// evaluated on records, as in a store, so that its meaning is the same: each value is encoded,
  /// which suits thousands of values and not millions.
  ///
  /// - Parameter entities: In any order. With a mapper, only those that have a model: the others are
  ///   left out before offset and limit.
  /// - Throws: ``StoreError`` for a value that no store would keep, such as
  ///   ``StoreError/keyLength(collection:key:byteCount:limit:)``, and for a filter that is too deep.
  public func results(of entities: some Sequence<Entity>) throws -> [Entity] {
    try InMemoryCollection.matches(selection, among: Array(entities)).matches
      .dropFirst(selection.skipped).prefix(selection.maximum ?? .max).map(\.entity)
  }

  /// A page of what this query selects of values that are in memory; its limit is the size of the
  /// page.
  ///
  /// - Throws: As ``results(of:)``; ``StoreError/cursorRefused(collection:reason:)`` for a cursor of
  ///   another query.
  public func page(
    of entities: some Sequence<Entity>, after cursor: PageCursor? = nil
  ) throws -> Page<Entity> {
    let query = try cursor.map { try after($0) } ?? self
    var builder = PageBuilder<Entity>(query.selection)
    if builder.limit == 0 { return Page(models: [], next: nil) }
    let (matches, selection) = try InMemoryCollection.matches(
      query.selection, among: Array(entities))
    builder.selection = selection
    for match in matches {
      if builder.isFull || builder.isSkipping {
        if builder.pass() { continue } else { break }
      }
      builder.models.append(match.entity)
      if builder.isFull { builder.last = (match.values, match.key) }
    }
    return builder.page(in: Entity.schema.name)
  }

  /// Refuses a query that selects a part of what it matches, for an operation that is about all of
  /// it: deleting, and clearing before a save.
  ///
  /// - Throws: ``StoreError/queryNotAllowed(operation:reason:)`` for a limit, an offset or a cursor.
  public func checkMatchesWhole(_ operation: String) throws(StoreError) {
    try selection.checkMatchesWhole(operation)
  }
}

extension InMemoryCollection {
  /// The entities among these that a selection's filter matches, in its order; and the selection, with
  /// statistics where it ranks.
  fileprivate static func matches(
    _ selection: Selection, among entities: [Entity]
  ) throws -> (matches: [Match], selection: Selection) {
    try selection.checkDepth()
    var binding = try CollectionBinding(undeclared: Entity.self)
    var found: [[UInt8]: (entity: Entity, record: [UInt8])] = [:]
    for entity in entities {
      let record = try record(of: entity, &binding)
      found[entity.entityAccessorKey.encodedBytes] = (entity, record)
    }
    let selection = selection.ranked { condition in
      statistics(of: condition, in: binding, among: found.values.lazy.map(\.record))
    }
    let evaluation = Evaluation(selection.filter, order: selection.order, in: binding.collection)
    let matches = try found.compactMap { key, value -> Match? in
      try key.withUnsafeBytes { key in
        try value.record.withUnsafeBytes { record in
          guard try binding.matches(evaluation, key: key, record: record) else { return nil }
          let values = try binding.reading(record, key: key) { try evaluation.sortValues($0) }
          return Match(entity: value.entity, values: values, key: Array(key))
        }
      }
    }
    return (evaluation.sorted(matches), selection)
  }
}
