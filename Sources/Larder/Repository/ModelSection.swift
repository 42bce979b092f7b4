#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

/// Models that follow each other and have the same value in a field, as a list shows them under one
/// heading.
public struct ModelSection<Key: Sendable, Model: Sendable>: Sendable {
  /// The value that all models of the section share, as the first one has it.
  public let key: Key
  /// The models, in the order of the query.
  public let models: [Model]
}

extension ModelSection: Equatable where Key: Equatable, Model: Equatable {}

extension Repository where Model == Entity {
  /// What `query` selects, in sections by a field: the sections in the order of their values, the
  /// documents of each in the query's order. Where the query is sorted by the field before any other, its
  /// direction holds. Limit and offset count documents, not sections, and are applied in the query's
  /// own order: the sections hold exactly the documents that `fetch` gives.
  ///
  /// - Throws: ``StoreError`` when a document cannot be read.
  public func sections<Key: Comparand & Comparable>(
    by path: any KeyPath<Entity, Key> & Sendable, of query: Query<Entity> = Entity.all
  ) throws -> [ModelSection<Key, Model>] {
    try sections(of: query, by: QueryField<Entity, Key>(path).operand, path, Value.init(sorting:)) {
      $0.totalOrder($1)
    }
  }

  /// What `query` selects, in sections by a field that may be nil; nil comes first, unless the query is
  /// sorted by the field before any other and brings it elsewhere.
  ///
  /// - Throws: ``StoreError`` when a document cannot be read.
  public func sections<Key: Comparand & Comparable>(
    by path: any KeyPath<Entity, Key?> & Sendable, of query: Query<Entity> = Entity.all
  ) throws -> [ModelSection<Key?, Model>] {
    try sections(of: query, by: QueryField<Entity, Key?>(path).operand, path, Value.init(sorting:))
    {
      $0.totalOrder($1)
    }
  }

  /// What `query` selects, in sections by an enum: the sections in its own order, those that it does
  /// not tell apart in the order of their raw values. As for other fields otherwise.
  ///
  /// - Throws: ``StoreError`` when a document cannot be read.
  public func sections<Key: RawRepresentable & Comparable & Sendable>(
    by path: any KeyPath<Entity, Key> & Sendable, of query: Query<Entity> = Entity.all
  ) throws -> [ModelSection<Key, Model>] where Key.RawValue: Comparand {
    try sections(of: query, by: QueryField<Entity, Key>(path).rawOperand, path, { $0 }) {
      $0.order($1)
    }
  }

  /// What `query` selects, in sections by an enum that may be nil; nil comes first, unless the query is
  /// sorted by the field before any other and brings it elsewhere.
  ///
  /// - Throws: ``StoreError`` when a document cannot be read.
  public func sections<Key: RawRepresentable & Comparable & Sendable>(
    by path: any KeyPath<Entity, Key?> & Sendable, of query: Query<Entity> = Entity.all
  ) throws -> [ModelSection<Key?, Model>] where Key.RawValue: Comparand {
    let operand: Operand = QueryField<Entity, Key?>(path).optionalRawOperand()
    return try sections(of: query, by: operand, path, { $0 }, isNil: { $0 == nil }) { $0.order($1) }
  }

  /// - Parameters:
  ///   - operand: The field as it is stored.
  ///   - place: What a value is compared by.
  ///   - isNil: Asked where the type's own order says how values follow each other.
  ///   - order: Below zero where the first comes before the second; zero where both are in one section.
  private func sections<Key: Sendable, Place>(
    of query: Query<Entity>, by operand: Operand, _ path: KeyPath<Entity, Key>,
    _ place: (Key) -> Place, isNil: (Place) -> Bool = { _ in false }, _ order: (Place, Place) -> Int
  ) throws -> [ModelSection<Key, Model>] {
    #if LARDER_MUTANTS
      var query = query
      if Mutant.limitedSections.isOn {
        query.selection.order.insert(SortKey(operand: operand, isReversed: false), at: 0)
      }
    #endif
    var rows = try fetch(query).map { model in
      let key = model[keyPath: path]
      return (key: key, place: place(key), model: model)
    }
    let sectionOrder = query.sectionOrder(by: operand)
    if !sectionOrder.isWhole {
      // After the limit, which holds in the query's own order. Ties keep that order: Swift's sort is
      // stable, but does not promise it.
      rows = rows.enumerated()
        .sorted { left, right in
          let order = sectionOrder.directed(
            order(left.element.place, right.element.place),
            isOfNil: isNil(left.element.place) != isNil(right.element.place))
          return order != 0 ? order < 0 : left.offset < right.offset
        }
        .map(\.element)
    }
    var sections: [ModelSection<Key, Model>] = []
    var current: (key: Key, place: Place, models: [Model])?
    for (key, place, model) in rows {
      if let open = current, order(open.place, place) == 0 {
        current?.models.append(model)
        continue
      }
      if let current { sections.append(ModelSection(key: current.key, models: current.models)) }
      current = (key, place, [model])
    }
    if let current { sections.append(ModelSection(key: current.key, models: current.models)) }
    return sections
  }
}

extension Value {
  init(sorting key: some FieldValue) { self = key.stored.sortable }
}

extension RawRepresentable where Self: Comparable, RawValue: Comparand {
  /// Below zero where this value comes before another, by the type's own order and then by the raw
  /// values; zero for equal ones.
  func order(_ other: Self) -> Int {
    if self < other { return -1 }
    if other < self { return 1 }
    return Value(storing: rawValue).sortable.totalOrder(Value(storing: other.rawValue).sortable)
  }
}

extension Optional where Wrapped: RawRepresentable & Comparable, Wrapped.RawValue: Comparand {
  /// As of the values themselves; nil comes before all of them.
  func order(_ other: Self) -> Int {
    switch (self, other) {
    case (let value?, let other?): value.order(other)
    case (nil, nil): 0
    case (nil, _): -1
    case (_, nil): 1
    }
  }
}

// MARK: The order of sections

/// How far a query's own order is that of sections by a field.
struct SectionOrder {
  /// How many levels of the query's order are about the field, before any others: with nil elsewhere than where
  /// it comes by itself they are two.
  fileprivate(set) var levelCount = 0
  fileprivate(set) var isReversed = false
  /// Whether equal values follow each other already. A type's own order may not tell all values apart.
  fileprivate(set) var isWhole = false

  /// - Parameters:
  ///   - order: How two values compare, ascending and with nil first.
  ///   - isOfNil: Whether one of them is nil, and the other one is not.
  /// - Returns: How they compare in this order.
  func directed(_ order: Int, isOfNil: Bool) -> Int {
    // A level of its own brings nil to the end at which it is not by itself.
    isReversed != (isOfNil && levelCount == 2) ? -order : order
  }
}

extension Query {
  /// What this query's order is for sections by a field.
  func sectionOrder(by field: Operand) -> SectionOrder {
    let levels = selection.order
    var order = SectionOrder()
    let start = levels.first?.operand.isNilOrder(of: field) == true ? 1 : 0
    guard start < levels.count else { return order }
    let level = levels[start]
    order.isWhole = level.operand.isSameField(as: field)
    guard order.isWhole || level.operand.isOrder(of: field) else { return order }
    order.levelCount = start + 1
    order.isReversed = level.isReversed
    return order
  }
}

extension Operand {
  /// Whether both are one stored field: what is computed is never known to be the same.
  fileprivate func isSameField(as other: Operand) -> Bool {
    if case .field = self { self == other } else { false }
  }

  /// Whether this puts the values of a stored field in their own order, which is not the stored one.
  fileprivate func isOrder(of field: Operand) -> Bool {
    guard case .computed(let computed) = self, case .field(let path) = field else { return false }
    return computed.orderedPath == path
  }

  /// Whether this only keeps nil apart from the values of a stored field.
  fileprivate func isNilOrder(of field: Operand) -> Bool {
    guard case .derived(let own, .isNil) = self, case .field(let path) = field else { return false }
    return own == path
  }
}
