extension StoreRepository: Repository {
  /// Saves documents in one transaction, with a say in what becomes of those that are stored
  /// already. With a query, what it matches and is not in `documents` is deleted in the same
  /// transaction.
  ///
  /// - Throws: ``StoreError``, or whatever the policy throws; nothing is kept then.
  @discardableResult
  public func save(
    _ documents: [Entity], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Entity>, as origin: ChangeOrigin
  ) throws -> SaveReport {
    if case .replace = policy { return try save(documents, clearing: query, as: origin) }
    return try store.write(as: origin) {
      try $0.save(documents, clearBeforeSaving: query, onConflict: policy)
    }
  }

  /// Saves documents in one transaction, as the synchronous one does.
  ///
  /// - Throws: ``StoreError``, whatever the policy throws, or `CancellationError` before the save
  ///   began; nothing is kept then.
  @discardableResult
  public func save(
    _ documents: [Entity], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Entity>, as origin: ChangeOrigin
  ) async throws -> SaveReport {
    if case .replace = policy { return try await save(documents, clearing: query, as: origin) }
    return try await store.write(as: origin) {
      try $0.save(documents, clearBeforeSaving: query, onConflict: policy)
    }
  }
}
