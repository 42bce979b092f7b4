extension StoreRepository {
  /// Lends a view of the document under `key`; nil where there is none.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``; whatever
  ///   else `body` throws.
  public func view<Result>(
    _ key: Entity.Key, file: StaticString = #fileID, line: UInt = #line,
    _ body: (borrowing DocumentView<Entity>) throws -> Result
  ) throws -> Result? {
    try store.read(file: file, line: line) { try $0.view(Entity.self, key, body) }
  }

  /// Lends the documents that `query` selects at one moment, in its order, until `body` says false.
  /// The moment lasts as long as this does, and keeps what is deleted meanwhile from being used
  /// again: for long work take ``Repository/batches(of:size:)``.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``; whatever
  ///   `body` throws.
  public func forEach(
    _ query: Query<Entity> = Entity.all, file: StaticString = #fileID, line: UInt = #line,
    _ body: (Entity) throws -> Bool
  ) throws {
    try store.read(file: file, line: line) { try $0.forEach(query, body) }
  }
}
