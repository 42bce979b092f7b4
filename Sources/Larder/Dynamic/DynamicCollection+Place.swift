extension DynamicCollection {
  /// The documents' place, of which the fields are members; nil where there is no collection.
  ///
  /// - Throws: ``StoreError``.
  package func place() throws -> FieldPlace? { try store.read { $0.place(of: name) } }
}

extension Snapshot {
  /// The place of a collection's documents; nil where there is no such collection.
  package borrowing func place(of collection: String) -> FieldPlace? {
    catalogue[collection].map { FieldPlace($0.tables, table: $0.documentTable) }
  }
}
