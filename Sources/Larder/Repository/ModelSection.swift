/// Models that follow each other and have the same value in a field, as a list shows them under one
/// heading.
public struct ModelSection<Key: Sendable, Model: Sendable>: Sendable {
  public let key: Key
  public let models: [Model]
}

extension ModelSection: Equatable where Key: Equatable, Model: Equatable {}

extension Repository where Model == Entity {
  /// What `query` selects, in sections by a field: the sections in the order of their values, the
  /// documents of each in the query's order. Where the query is sorted by the field already, its
  /// direction holds. Limit and offset count documents, not sections, and are applied in the query's
  /// own order: the sections hold exactly the documents that `fetch` gives.
  ///
  /// - Throws: ``StoreError`` when a document cannot be read.
  public func sections<Key: Comparand & Comparable>(
    by path: any KeyPath<Entity, Key> & Sendable, of query: Query<Entity> = Entity.all
  ) throws -> [ModelSection<Key, Model>] {
    try sections(QueryField<Entity, Key>(path).operand, query) { $0[keyPath: path] }
  }

  /// What `query` selects, in sections by a field that may be nil; nil comes first.
  ///
  /// - Throws: ``StoreError`` when a document cannot be read.
  public func sections<Key: Comparand & Comparable>(
    by path: any KeyPath<Entity, Key?> & Sendable, of query: Query<Entity> = Entity.all
  ) throws -> [ModelSection<Key?, Model>] {
    try sections(QueryField<Entity, Key?>(path).operand, query) { $0[keyPath: path] }
  }

  private func sections<Key: FieldValue & Sendable>(
    _ operand: Operand, _ query: Query<Entity>, _ key: (Model) -> Key
  ) throws -> [ModelSection<Key, Model>] {
    var rows = try fetch(query).map { model in
      let key = key(model)
      return (key: key, stored: key.stored.sortable, model: model)
    }
    if query.selection.order.first?.operand.isSameField(as: operand) != true {
      // After the limit, which holds in the query's own order. Ties keep that order: Swift's sort is
      // stable, but does not promise it.
      rows = rows.enumerated()
        .sorted { left, right in
          let order = left.element.stored.totalOrder(right.element.stored)
          return order != 0 ? order < 0 : left.offset < right.offset
        }
        .map(\.element)
    }
    var sections: [ModelSection<Key, Model>] = []
    var current: (key: Key, stored: Value, models: [Model])?
    for (key, stored, model) in rows {
      if let open = current, open.stored.totalOrder(stored) == 0 {
        current?.models.append(model)
        continue
      }
      if let current { sections.append(ModelSection(key: current.key, models: current.models)) }
      current = (key, stored, [model])
    }
    if let current { sections.append(ModelSection(key: current.key, models: current.models)) }
    return sections
  }
}

extension Operand {
  /// Whether both are one stored field: what is computed is never known to be the same.
  fileprivate func isSameField(as other: Operand) -> Bool {
    if case .field = self { self == other } else { false }
  }
}
