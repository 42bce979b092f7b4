extension StoreRepository: Repository {
  /// Saves documents in one transaction, with a say in what becomes of those that are stored
  /// already. With a query, what it matches and is not in `documents` is deleted in the same
  /// transaction.
  ///
  /// - Throws: ``StoreError``, or whatever the policy throws; nothing is kept then.
  @discardableResult
  public func save(
    _ documents: [Entity], clearBeforeSaving query: Query<Entity>? = nil,
    onConflict policy: ConflictPolicy<Entity>
  ) throws -> SaveReport {
    if case .replace = policy { return try save(documents, clearing: query) }
    return try store.write {
      try $0.save(documents, clearBeforeSaving: query, onConflict: policy)
    }
  }

  /// Saves documents in one transaction, as the synchronous one does.
  ///
  /// - Throws: ``StoreError``, whatever the policy throws, or `CancellationError` before the save
  ///   began; nothing is kept then.
  @discardableResult
  public func save(
    _ documents: [Entity], clearBeforeSaving query: Query<Entity>? = nil,
    onConflict policy: ConflictPolicy<Entity>
  ) async throws -> SaveReport {
    if case .replace = policy { return try await save(documents, clearing: query) }
    return try await store.write {
      try $0.save(documents, clearBeforeSaving: query, onConflict: policy)
    }
  }
}
