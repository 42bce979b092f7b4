extension StoreRepository {
  /// Changes the document under `key` in place, in one transaction: reads it, lends it to `body`, and
  /// writes it where its bytes have changed. Fields that a newer version of the type has stored stay.
  ///
  /// - Returns: The document as it is now; nil when there is none, and `body` was not called.
  /// - Throws: Whatever `body` throws; ``StoreError``, among them
  ///   ``StoreError/keyChanged(collection:key:found:)`` when it gives the document another key.
  ///   Nothing is changed then.
  @discardableResult
  public func update(
    _ key: Entity.Key, as origin: ChangeOrigin, _ body: (inout Entity) throws -> Void
  ) throws -> Entity? {
    try store.write(as: origin) { try $0.update(Entity.self, key, body) }
  }

  /// Changes the document under `key` in place, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is changed
  ///   then.
  @discardableResult
  public func update(
    _ key: Entity.Key, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Entity) throws -> Void
  ) async throws -> Entity? {
    try await store.write(as: origin) { try $0.update(Entity.self, key, body) }
  }

  /// Changes the documents that `query` selects in place, in one transaction: lends each of them to `body`, in
  /// the query's order, and writes those whose bytes have changed. What is selected is found before the first
  /// document is changed, so that each is changed once.
  ///
  /// - Returns: How many were updated, and how many left unchanged.
  /// - Throws: As for one document; ``StoreError/damagedIndex(collection:index:reason:)``. Nothing is changed then.
  @discardableResult
  public func update(
    _ query: Query<Entity>, as origin: ChangeOrigin, _ body: (inout Entity) throws -> Void
  ) throws -> SaveReport {
    try store.write(as: origin) { try $0.update(query, body) }
  }

  /// Changes the documents that `query` selects in place, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is changed
  ///   then.
  @discardableResult
  public func update(
    _ query: Query<Entity>, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Entity) throws -> Void
  ) async throws -> SaveReport {
    try await store.write(as: origin) { try $0.update(query, body) }
  }
}
