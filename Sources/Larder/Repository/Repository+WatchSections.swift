internal import LarderLMDB

extension Repository where Model == Entity {
  /// What `query` selects, in sections by a field, each time that it has changed.
  ///
  /// ```swift
  /// for try await cities in contacts.watch(sections: Contact.all.sorted(by: \.name), by: \.city) {
  ///   show(cities)  // for city in cities { city.key; city.rows }
  /// }
  /// ```
  /// Each element is what `sections(by:of:)` gives of that moment: the sections in the order of their
  /// values, the documents of each in the query's order. Where the query is sorted by the field already,
  /// its direction holds.
  ///
  /// An element costs what has changed, in time and in memory: it shares with the one before all sections
  /// that have not changed, and of a section that has, all but a chunk. Only where the query has a limit
  /// or an offset and is not sorted by the field first does an element cost what the whole result does,
  /// because the query's own order decides which documents there are.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for an element; they come with the
  ///   next one that is made for others.
  public func watch<Key: Comparand & Comparable>(
    sections query: Query<Entity>, by path: any KeyPath<Entity, Key> & Sendable,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<Rows<RowSection<Key, Model>>> {
    watch(query, QueryField<Entity, Key>(path).operand, ignored) { $0[keyPath: path] }
  }

  /// What `query` selects, in sections by a field that may be nil, each time that it has changed; nil
  /// comes first, unless the query is sorted by the field and brings it elsewhere.
  ///
  /// As the other one.
  public func watch<Key: Comparand & Comparable>(
    sections query: Query<Entity>, by path: any KeyPath<Entity, Key?> & Sendable,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<Rows<RowSection<Key?, Model>>> {
    watch(query, QueryField<Entity, Key?>(path).operand, ignored) { $0[keyPath: path] }
  }

  /// What `query` selects, in sections by an enum, in its own order, each time that it has changed.
  ///
  /// As the other ones.
  public func watch<Key: RawRepresentable & Comparable & CaseIterable & Sendable>(
    sections query: Query<Entity>, by path: any KeyPath<Entity, Key> & Sendable,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<Rows<RowSection<Key, Model>>> where Key.RawValue: Comparand {
    let field = QueryField<Entity, Key>(path)
    return watch(
      query, field.rawOperand, [field.enumSortKey(isReversed: false)], ignored,
      key: { $0[keyPath: path] }, place: { $0 }, order: { $0.order($1) })
  }

  /// What `query` selects, in sections by an enum that may be nil, each time that it has changed; nil
  /// comes first, unless the query is sorted by the field and brings it elsewhere.
  ///
  /// As the other ones.
  public func watch<Key: RawRepresentable & Comparable & CaseIterable & Sendable>(
    sections query: Query<Entity>, by path: any KeyPath<Entity, Key?> & Sendable,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<Rows<RowSection<Key?, Model>>> where Key.RawValue: Comparand {
    let field = QueryField<Entity, Key?>(path)
    return watch(
      query, field.optionalRawOperand(), [field.enumSortKey(isReversed: false)], ignored,
      key: { $0[keyPath: path] }, place: { $0 }, isNil: { $0 == nil }, order: { $0.order($1) })
  }

  private func watch<Key: FieldValue & Sendable>(
    _ query: Query<Entity>, _ operand: Operand, _ ignored: Set<ChangeOrigin>,
    key: @escaping @Sendable (Model) -> Key
  ) -> WatchSequence<Rows<RowSection<Key, Model>>> {
    watch(
      query, operand, [], ignored, key: key,
      place: Value.init(sorting:), order: { $0.totalOrder($1) })
  }

  /// - Parameters:
  ///   - operand: The field as it is stored.
  ///   - ownOrder: Puts documents into the order of the sections, where the stored values do not.
  ///   - place: What a value is compared by.
  ///   - isNil: Asked where the type's own order says how values follow each other.
  ///   - order: Below zero where the first comes before the second; zero where both are in one section.
  private func watch<Key: Sendable, Place>(
    _ query: Query<Entity>, _ operand: Operand, _ ownOrder: [SortKey], _ ignored: Set<ChangeOrigin>,
    key: @escaping @Sendable (Model) -> Key, place: @escaping @Sendable (Key) -> Place,
    isNil: @escaping @Sendable (Place) -> Bool = { _ in false },
    order: @escaping @Sendable (Place, Place) -> Int
  ) -> WatchSequence<Rows<RowSection<Key, Model>>> {
    let isSame: @Sendable (Key, Key) -> Bool = { order(place($0), place($1)) == 0 }
    if let sorted = query.sorted(firstBy: operand, ownOrder) {
      return watch(sorted, ignoring: ignored).sections(by: key, isSame: isSame)
    }
    // The rows are in another order than the sections, and all of them are sorted anew.
    let sectionOrder = query.sectionOrder(by: operand)
    return values(of: query, ignoring: ignored).map { rows in
      var runs = SectionRuns<Key, Model>(by: key, isSame: isSame)
      let sorted = rows.map { (place: place(key($0)), model: $0) }.enumerated()
        .sorted { left, right in
          let order = sectionOrder.directed(
            order(left.element.place, right.element.place),
            isOfNil: isNil(left.element.place) != isNil(right.element.place))
          return order != 0 ? order < 0 : left.offset < right.offset
        }
      runs.apply(.initial(Rows(sorted.lazy.map(\.element.model)), sequence: 0))
      return runs.sections
    }
  }
}

extension Repository {
  /// What `query` selects, cut into sections wherever a value changes from one row to the next, each time
  /// that it has changed.
  ///
  /// ```swift
  /// let shelves = books.watch(sections: Book.all.sorted(by: \.shelf), splitBy: { $0.shelf })
  /// ```
  /// For repositories with a mapper, and for values that no field has. Sort the query so that rows with
  /// one value follow each other; where they do not, sections come again with the same key. An element
  /// costs what has changed, as with `watch(sections:by:ignoring:)`.
  ///
  /// - Parameters:
  ///   - key: The value that the rows of a section have in common. Must give equal values for equal
  ///     models.
  ///   - ignored: Changes of these origins are no reason for an element; they come with the next one
  ///     that is made for others.
  public func watch<Key: Equatable & Sendable>(
    sections query: Query<Entity>, splitBy key: @escaping @Sendable (Model) -> Key,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<Rows<RowSection<Key, Model>>> {
    watch(query, ignoring: ignored).sections(by: key, isSame: ==)
  }
}

extension Query {
  /// The same documents in the order of a field first, and in their own within it; nil where the
  /// query's own order decides which documents there are.
  fileprivate func sorted(firstBy operand: Operand, _ ownOrder: [SortKey]) -> Self? {
    let order = sectionOrder(by: operand)
    if order.isWhole { return self }
    guard selection.maximum == nil, selection.skipped == 0,
      selection.filter.splitAtPosition.0 == nil
    else { return nil }
    var query = self
    // The stored value keeps apart what a type's own order does not.
    if order.levelCount > 0 {
      let key = SortKey(operand: operand, isReversed: order.isReversed)
      query.selection.order.insert(key, at: order.levelCount)
    } else {
      let keys = ownOrder + [SortKey(operand: operand, isReversed: false)]
      query.selection.order.insert(contentsOf: keys, at: 0)
    }
    return query
  }
}

extension WatchSequence {
  fileprivate func sections<Key, Model>(
    by key: @escaping @Sendable (Model) -> Key, isSame: @escaping @Sendable (Key, Key) -> Bool
  ) -> WatchSequence<Rows<RowSection<Key, Model>>> where Element == ResultChange<Model> {
    WatchSequence<Rows<RowSection<Key, Model>>> {
      let step = makeAsyncIterator().step
      let runs = Locked(SectionRuns(by: key, isSame: isSame))
      return {
        guard let change = try await step() else { return nil }
        return runs.withLock { runs in
          runs.apply(change)
          return runs.sections
        }
      }
    }
  }

  fileprivate func map<Other>(
    _ transform: @escaping @Sendable (Element) -> Other
  ) -> WatchSequence<Other> {
    WatchSequence<Other> {
      let step = makeAsyncIterator().step
      return { try await step().map(transform) }
    }
  }
}
