extension DynamicCollection {
  /// The documents that `query` selects, in its order; none where there is no collection.
  ///
  /// - Throws: ``DynamicQueryError`` for a query that does not fit the collection's fields;
  ///   ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func fetch(_ query: DynamicQuery) throws -> [DynamicDocument] {
    var documents: [DynamicDocument] = []
    try forEach(query) { documents.append($0) }
    return documents
  }

  /// How many documents `query` selects.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func count(_ query: DynamicQuery) throws -> Int {
    try store.read { snapshot in
      guard let binding = snapshot.catalogue.binding(ofCollection: name) else { return 0 }
      return try snapshot.transaction.count(query.lowered(in: binding.collection), binding)
    }
  }

  /// Lends the documents that `query` selects, in its order, at one moment. Without an order
  /// memory holds one of them; with one, what all of them are sorted by.
  ///
  /// - Throws: As ``fetch(_:)``; whatever `body` throws, which ends it.
  public func forEach(
    _ query: DynamicQuery, file: StaticString = #fileID, line: UInt = #line,
    _ body: (DynamicDocument) throws -> Void
  ) throws {
    try store.read(file: file, line: line) { try $0.forEach(query, in: name, body) }
  }

  /// Answers the query, and says how; nothing is decoded that the filter does not need.
  ///
  /// - Throws: As ``fetch(_:)``; ``StoreError/noCollection(_:)``.
  public func explain(_ query: DynamicQuery) throws -> QueryPlan {
    try store.read { snapshot in
      guard let binding = snapshot.catalogue.binding(ofCollection: name) else {
        throw StoreError.noCollection(name)
      }
      return try snapshot.transaction.explain(query.lowered(in: binding.collection), binding)
    }
  }

  /// Finds out whether a query fits the collection's fields, where there is a collection.
  ///
  /// - Throws: ``DynamicQueryError`` when it does not; ``StoreError``.
  public func check(_ query: DynamicQuery) throws {
    try store.read { snapshot in
      guard let collection = snapshot.catalogue[name] else { return }
      try query.lowered(in: collection).checkDepth()
    }
  }
}

extension Snapshot {
  /// Lends the documents of a collection that `query` selects, in its order.
  ///
  /// - Throws: As ``DynamicCollection/forEach(_:_:)``.
  package borrowing func forEach(
    _ query: DynamicQuery, in collection: String, _ body: (DynamicDocument) throws -> Void
  ) throws {
    try forEachRecord(query, in: collection) { try body(try DynamicDocument($0)) }
  }
}
