extension Repository where Model == Entity {
  /// A document's own key.
  public func entityAccessorKey(_ model: Model) -> Entity.Key { model.entityAccessorKey }
}

extension Repository {
  /// Deletes the entity under `key`; false where there is none.
  ///
  /// - Throws: ``StoreError``. Nothing is deleted then.
  @discardableResult
  public func delete(key: Entity.Key, as origin: ChangeOrigin = .local) throws -> Bool {
    try delete(keys: [key], as: origin) == 1
  }

  /// Deletes the entity under `key`; false where there is none.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began. Nothing is deleted then.
  @discardableResult
  public func delete(key: Entity.Key, as origin: ChangeOrigin = .local) async throws -> Bool {
    try await delete(keys: [key], as: origin) == 1
  }

  /// Deletes what is stored under the model's key, whether it is equal to the model or not; false where
  /// there is nothing.
  ///
  /// - Throws: ``StoreError``. Nothing is deleted then.
  @discardableResult
  public func delete(_ model: Model, as origin: ChangeOrigin = .local) throws -> Bool {
    try delete(key: entityAccessorKey(model), as: origin)
  }

  /// Deletes what is stored under the model's key, whether it is equal to the model or not; false where
  /// there is nothing.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began. Nothing is deleted then.
  @discardableResult
  public func delete(_ model: Model, as origin: ChangeOrigin = .local) async throws -> Bool {
    try await delete(key: entityAccessorKey(model), as: origin)
  }

  /// Deletes what is stored under the models' keys; returns how many entities that were.
  ///
  /// - Throws: ``StoreError``. Nothing is deleted then.
  @discardableResult
  public func delete(_ models: [Model], as origin: ChangeOrigin = .local) throws -> Int {
    try delete(keys: models.map(entityAccessorKey), as: origin)
  }

  /// Deletes what is stored under the models' keys; returns how many entities that were.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began. Nothing is deleted then.
  @discardableResult
  public func delete(_ models: [Model], as origin: ChangeOrigin = .local) async throws -> Int {
    try await delete(keys: models.map(entityAccessorKey), as: origin)
  }
}

// MARK: What to write instead

extension Repository {
  @available(
    *, unavailable,
    message: """
      write `delete(key:)` to delete what is stored under a key, or `delete(keys:)` for several keys
      """
  )
  @discardableResult
  public func delete(_ key: Entity.Key, as origin: ChangeOrigin = .local) throws -> Bool {
    fatalError("unavailable")
  }

  @available(
    *, unavailable,
    message: "write `delete(keys:)` to delete what is stored under some keys"
  )
  @discardableResult
  public func delete(_ keys: [Entity.Key], as origin: ChangeOrigin = .local) throws -> Int {
    fatalError("unavailable")
  }
}
