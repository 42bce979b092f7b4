// What callers write: the requirements, without what is seldom given.

extension Repository {
  /// The first page of the models of what `query` selects; its limit is the size of the page.
  ///
  /// - Throws: As ``page(_:after:)``.
  public func page(_ query: Query<Entity>) throws -> Page<Model> {
    try page(query, after: nil)
  }

  /// Saves models; those that are stored already are replaced.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], as origin: ChangeOrigin = .local
  ) throws -> SaveReport {
    try save(models, clearBeforeSaving: nil, onConflict: .replace, as: origin)
  }

  /// Saves models; those that are stored already are replaced.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], as origin: ChangeOrigin = .local
  ) async throws -> SaveReport {
    try await save(models, clearBeforeSaving: nil, onConflict: .replace, as: origin)
  }

  /// Saves one model.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ model: Model, as origin: ChangeOrigin = .local
  ) throws -> SaveReport {
    try save([model], clearBeforeSaving: nil, onConflict: .replace, as: origin)
  }

  /// Saves one model.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ model: Model, as origin: ChangeOrigin = .local
  ) async throws -> SaveReport {
    try await save([model], clearBeforeSaving: nil, onConflict: .replace, as: origin)
  }

  /// Replaces what `query` matches by `models`.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>, as origin: ChangeOrigin = .local
  ) throws -> SaveReport {
    try save(models, clearBeforeSaving: query, onConflict: .replace, as: origin)
  }

  /// Replaces what `query` matches by `models`.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>, as origin: ChangeOrigin = .local
  ) async throws -> SaveReport {
    try await save(models, clearBeforeSaving: query, onConflict: .replace, as: origin)
  }

  /// Saves models, with a say in what becomes of those that are stored already.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin = .local
  ) throws -> SaveReport {
    try save(models, clearBeforeSaving: nil, onConflict: policy, as: origin)
  }

  /// Saves models, with a say in what becomes of those that are stored already.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin = .local
  ) async throws -> SaveReport {
    try await save(models, clearBeforeSaving: nil, onConflict: policy, as: origin)
  }

  /// Saves models as the app's own change, with a say in what becomes of those that are stored
  /// already.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>
  ) throws -> SaveReport {
    try save(models, clearBeforeSaving: query, onConflict: policy, as: .local)
  }

  /// Saves models as the app's own change, as the synchronous one does.
  ///
  /// - Throws: As `save(_:clearBeforeSaving:onConflict:as:)`. Nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>
  ) async throws -> SaveReport {
    try await save(models, clearBeforeSaving: query, onConflict: policy, as: .local)
  }

  /// Changes the model under `key` in one step, as the app's own change; nil where there is none.
  ///
  /// ```swift
  /// try await contacts.update("seller-1") { $0.isFavourite = true }
  /// ```
  /// - Throws: As `update(_:as:_:)`. Nothing is changed then.
  @discardableResult
  public func update(
    _ key: Entity.Key, _ body: (inout Model) throws -> Void
  ) throws -> Model? {
    try update(key, as: .local, body)
  }

  /// Changes the model under `key` in one step, as the app's own change; nil where there is none.
  ///
  /// - Throws: As `update(_:as:_:)`. Nothing is changed then.
  @discardableResult
  public func update(
    _ key: Entity.Key, _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> Model? {
    try await update(key, as: .local, body)
  }

  /// Changes the models that `query` selects in one step, as the app's own change.
  ///
  /// ```swift
  /// try await notes.update(Note.where { !$0.isRead }) { $0.isRead = true }
  /// ```
  /// - Throws: As `update(_:as:_:)`. Nothing is changed then.
  @discardableResult
  public func update(
    _ query: Query<Entity>, _ body: (inout Model) throws -> Void
  ) throws -> SaveReport {
    try update(query, as: .local, body)
  }

  /// Changes the models that `query` selects in one step, as the app's own change.
  ///
  /// - Throws: As `update(_:as:_:)`. Nothing is changed then.
  @discardableResult
  public func update(
    _ query: Query<Entity>, _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> SaveReport {
    try await update(query, as: .local, body)
  }

  /// Deletes what `query` matches, as the app's own change; returns how many entities that were.
  ///
  /// - Throws: As `delete(_:as:)`. Nothing is deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>) throws -> Int { try delete(query, as: .local) }

  /// Deletes what `query` matches, as the app's own change; returns how many entities that were.
  ///
  /// - Throws: As `delete(_:as:)`. Nothing is deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>) async throws -> Int {
    try await delete(query, as: .local)
  }

  /// Deletes the entities under `keys`, as the app's own change; returns how many there were.
  ///
  /// - Throws: As `delete(keys:as:)`. Nothing is deleted then.
  @discardableResult
  public func delete(keys: [Entity.Key]) throws -> Int { try delete(keys: keys, as: .local) }

  /// Deletes the entities under `keys`, as the app's own change; returns how many there were.
  ///
  /// - Throws: As `delete(keys:as:)`. Nothing is deleted then.
  @discardableResult
  public func delete(keys: [Entity.Key]) async throws -> Int {
    try await delete(keys: keys, as: .local)
  }

  /// Deletes every entity, as the app's own change; returns how many there were.
  ///
  /// - Throws: As `eraseAllData(as:)`. Nothing is deleted then.
  @discardableResult
  public func eraseAllData() throws -> Int { try eraseAllData(as: .local) }

  /// Deletes every entity, as the app's own change; returns how many there were.
  ///
  /// - Throws: As `eraseAllData(as:)`. Nothing is deleted then.
  @discardableResult
  public func eraseAllData() async throws -> Int { try await eraseAllData(as: .local) }

  /// How many models there are.
  ///
  /// - Throws: ``StoreError`` when one cannot be read.
  public func count() throws -> Int { try count(Entity.all) }
}
