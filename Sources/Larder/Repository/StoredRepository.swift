/// Models that a store keeps as the documents of a collection: domain models by way of a mapper, as
/// ``MappedRepository``, or values of a plain type, as ``CodableRepository``.
///
/// As ``StoreRepository`` otherwise: the same transactions, reports and errors. Queries name the
/// fields of the entity.
public struct StoredRepository<Model: Sendable, Entity: Document>: Repository {
  /// The store that the documents are in.
  public let store: Store
  let form: ModelForm<Model, Entity>
  let saver: ModelSaver<Model, Entity>
  let key: @Sendable (Model) -> Entity.Key

  @usableFromInline init(
    store: Store, form: ModelForm<Model, Entity>, saver: ModelSaver<Model, Entity>,
    key: @escaping @Sendable (Model) -> Entity.Key
  ) {
    (self.store, self.form, self.saver, self.key) = (store, form, saver, key)
  }

  /// The name of the collection that they are in.
  public var collection: String { form.collection }
}

// MARK: Saving

extension StoredRepository {
  /// Saves models in one transaction: new ones are inserted, the policy decides about those under a
  /// key that exists, those with equal bytes are not written. Of models with one key the last wins.
  /// Fields that a newer version of the type has stored stay. With a query, what it matches and
  /// is not in `models` is deleted in the same transaction.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/keyChanged(collection:key:found:)`` and
  ///   ``StoreError/unwritable(collection:key:reason:)`` with the coding path; whatever the policy
  ///   throws. Nothing is kept then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) throws -> SaveReport {
    let save = try PendingSave(models, clearing: query, policy)
    let batch = try encoded(save)
    return try store.write(as: origin) { try saver.save(&$0, save, batch) }
  }

  /// Saves models in one transaction, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, or `CancellationError` before the save began; nothing is
  ///   kept then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) async throws -> SaveReport {
    let save = try PendingSave(models, clearing: query, policy)
    let entry = try await store.roomEntry()
    let batch = try encoded(save)
    return try await store.submit(
      as: origin, isLarge: batch == nil && models.count > Batch.largestCount,
      byteCount: batch?.batch.byteCount ?? models.count * MemoryLayout<Model>.stride, entry: entry
    ) { try saver.save(&$0, save, batch) }
  }

  private func encoded(_ save: PendingSave<Model>) throws -> BoundBatch? {
    try store.checkOpen()
    return try saver.encode(save, store.engine.catalogue)
  }
}

// MARK: Changing in place

extension StoredRepository {
  /// Changes the model under `key` in place, in one transaction: reads it, lends it to `body`, and
  /// writes what the mapper makes of it where the bytes have changed.
  ///
  /// - Returns: The model as ``get(_:)`` gives it now; nil where there was none, and `body` was not
  ///   called.
  /// - Throws: Whatever `body` throws; ``StoreError``, among them
  ///   ``StoreError/keyChanged(collection:key:found:)`` when it gives the model another key. Nothing
  ///   is changed then.
  @discardableResult
  public func update(
    _ key: Entity.Key, as origin: ChangeOrigin, _ body: (inout Model) throws -> Void
  ) throws -> Model? {
    try store.write(as: origin) { try saver.update(&$0, key, body) }
  }

  /// Changes the model under `key` in place, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is changed
  ///   then.
  @discardableResult
  public func update(
    _ key: Entity.Key, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> Model? {
    try await store.write(as: origin) { try saver.update(&$0, key, body) }
  }

  /// Changes the models that `query` selects in place, in one transaction: lends each of them to `body`, in the
  /// query's order, and writes what the mapper makes of it where the bytes have changed. What is selected is
  /// found before the first model is changed, so that each is changed once.
  ///
  /// - Returns: How many were updated, and how many left unchanged.
  /// - Throws: As for one model; ``StoreError/damagedIndex(collection:index:reason:)``. Nothing is changed then.
  @discardableResult
  public func update(
    _ query: Query<Entity>, as origin: ChangeOrigin, _ body: (inout Model) throws -> Void
  ) throws -> SaveReport {
    try store.write(as: origin) { try saver.updateAll(&$0, query, body) }
  }

  /// Changes the models that `query` selects in place, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is changed
  ///   then.
  @discardableResult
  public func update(
    _ query: Query<Entity>, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> SaveReport {
    try await store.write(as: origin) { try saver.updateAll(&$0, query, body) }
  }
}

// MARK: Reading

extension StoredRepository {
  /// The model under `key`; nil where there is no entity, or no model of it.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func get(_ key: Entity.Key) throws -> Model? {
    try get(keys: [key]).first
  }

  /// The models under `keys` that exist, in the order of `keys`, from one moment.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func get(keys: [Entity.Key]) throws -> [Model] {
    try store.read { try $0.moment.get(keys: keys, form) }
  }

  /// The models under `keys` that exist and can be read, in the order of `keys`, from one moment.
  /// The others are reported, as ``Query/skippingUnreadable(_:)`` does.
  ///
  /// - Throws: ``StoreError``, but not for a model that cannot be read.
  public func get(
    keys: [Entity.Key], skippingUnreadable report: @escaping @Sendable (UnreadableDocument) -> Void
  ) throws -> [Model] {
    let form = form.skipping(UnreadableHandler(report: report))
    return try store.read { try $0.moment.get(keys: keys, form) }
  }

  /// The models of the entities that `query` selects, in its order. Entities that have no model
  /// are left out before offset and limit.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func fetch(_ query: Query<Entity>) throws -> [Model] {
    try store.read { try $0.moment.fetch(query, form) }
  }

  /// A page of the models of the entities that `query` selects.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/cursorRefused(collection:reason:)``.
  public func page(_ query: Query<Entity>, after cursor: PageCursor? = nil) throws -> Page<Model> {
    try store.read { try $0.moment.page(query, after: cursor, form) }
  }

  /// What an aggregate makes of the entities that `query` selects and that have a model. Decodes
  /// every entity that the filter matches, where not all have one.
  ///
  /// - Throws: ``StoreError``; what the aggregate throws.
  public func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity> = Entity.all
  ) throws -> Result {
    try store.read { try $0.moment.aggregate(aggregate, of: query, form) }
  }

  /// How many models ``fetch(_:)`` would give.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func count(_ query: Query<Entity>) throws -> Int {
    try store.read { try $0.moment.count(query, form) }
  }
}

// MARK: Deleting

extension StoredRepository {
  /// The key of the entity that a model is kept as.
  public func entityAccessorKey(_ model: Model) -> Entity.Key { key(model) }

  /// Deletes the entities that `query` matches, also those that have no model; returns how many
  /// they were. Its order is ignored.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/queryNotAllowed(operation:reason:)`` for a
  ///   limit or an offset; nothing is deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) throws -> Int {
    try store.write(as: origin) { try $0.delete(query, form) }
  }

  /// Deletes what `query` matches, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is
  ///   deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) async throws -> Int {
    try await store.write(as: origin) { try $0.delete(query, form) }
  }

  /// Deletes the entities under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Entity.Key], as origin: ChangeOrigin) throws -> Int {
    try store.write(as: origin) { try $0.delete(keys: keys, form) }
  }

  /// Deletes the entities under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Entity.Key], as origin: ChangeOrigin) async throws -> Int {
    try await store.write(as: origin) { try $0.delete(keys: keys, form) }
  }

  /// Deletes every document of the collection; returns how many there were.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) throws -> Int {
    let collection = store.collection(collection)
    return try store.write(as: origin) { try $0.eraseAllData(of: collection) }
  }

  /// Deletes every document of the collection; returns how many there were.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began; nothing is deleted then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) async throws -> Int {
    let collection = store.collection(collection)
    return try await store.write(as: origin) { try $0.eraseAllData(of: collection) }
  }
}

extension WriteScope {
  fileprivate mutating func delete<Model, Entity>(
    _ query: Query<Entity>, _ form: ModelForm<Model, Entity>
  ) throws -> Int {
    try query.selection.checkMatchesWhole("delete")
    guard let binding = try form.binding(catalogue) else { return 0 }
    return try delete(query.selection, binding)
  }

  fileprivate mutating func delete<Model, Entity>(
    keys: [Entity.Key], _ form: ModelForm<Model, Entity>
  ) throws -> Int {
    guard let binding = try form.binding(catalogue) else { return 0 }
    return try delete(keys: keys, binding.collection)
  }
}
