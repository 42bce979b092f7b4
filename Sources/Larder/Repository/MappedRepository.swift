/// Domain models that know nothing of storage, kept in a store as the entities of a mapper.
///
/// As ``StoreRepository`` otherwise: the same transactions, reports and errors. Queries name the
/// fields of the entity.
public struct MappedRepository<Mapper: EntityMapper>: Repository {
  public typealias Model = Mapper.Model
  public typealias Entity = Mapper.Entity

  /// The store that the entities are in.
  public let store: Store
  public let mapper: Mapper
}

extension Store {
  /// Domain models, by way of the entities that `mapper` makes of them. Costs nothing.
  public func repository<Mapper: EntityMapper>(
    of type: Mapper.Entity.Type = Mapper.Entity.self, mappedBy mapper: Mapper
  ) -> MappedRepository<Mapper> {
    MappedRepository(store: self, mapper: mapper)
  }
}

// MARK: Saving

extension MappedRepository {
  /// Saves models in one transaction. Those that are stored already update their entities, which
  /// are read inside the transaction, so that fields which the mapper does not touch stay.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/keyChanged(collection:key:found:)``, or
  ///   whatever the policy throws; nothing is kept then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) throws -> SaveReport {
    try query?.selection.checkMatchesWhole("clearBeforeSaving")
    return try store.write(as: origin) {
      try $0.save(models, mappedBy: mapper, clearBeforeSaving: query, onConflict: policy)
    }
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
    try query?.selection.checkMatchesWhole("clearBeforeSaving")
    return try await store.write(as: origin) {
      try $0.save(models, mappedBy: mapper, clearBeforeSaving: query, onConflict: policy)
    }
  }
}

// MARK: Reading

extension MappedRepository {
  /// The model under `key`; nil where there is no entity, or no model of it.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func get(_ key: Entity.Key) throws -> Model? {
    try store.read { try $0.get(key, mappedBy: mapper) }
  }

  /// The models under `keys` that exist, in the order of `keys`, from one moment.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func get(keys: [Entity.Key]) throws -> [Model] {
    try store.read { snapshot in
      var models: [Model] = []
      for key in keys {
        if let model = try snapshot.get(key, mappedBy: mapper) { models.append(model) }
      }
      return models
    }
  }

  /// The models of the entities that `query` selects, in its order. Entities that have no model
  /// are left out before offset and limit.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func fetch(_ query: Query<Entity>) throws -> [Model] {
    try store.read { try $0.fetch(query, mappedBy: mapper) }
  }

  /// A page of the models of the entities that `query` selects.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/cursorRefused(collection:reason:)``.
  public func page(_ query: Query<Entity>, after cursor: PageCursor? = nil) throws -> Page<Model> {
    try store.read { try $0.page(query, after: cursor, mappedBy: mapper) }
  }

  /// What an aggregate makes of the entities that `query` selects and that have a model. Decodes
  /// every entity that the filter matches.
  ///
  /// - Throws: ``StoreError``; what the aggregate throws.
  public func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity> = Entity.all
  ) throws -> Result {
    try store.read { try $0.aggregate(aggregate, of: query, mappedBy: mapper) }
  }

  /// How many models ``fetch(_:)`` would give. Decodes every entity that the filter matches.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func count(_ query: Query<Entity>) throws -> Int {
    try store.read { try $0.count(query, mappedBy: mapper) }
  }
}

// MARK: Deleting

extension MappedRepository {
  private var entities: StoreRepository<Entity> { StoreRepository(store: store) }

  /// Deletes the entities that `query` matches, also those that have no model; returns how many
  /// they were.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/queryNotAllowed(operation:reason:)`` for a
  ///   limit or an offset; nothing is deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) throws -> Int {
    try entities.delete(query, as: origin)
  }

  /// Deletes what `query` matches, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one; `CancellationError` before its turn came; nothing is deleted
  ///   then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) async throws -> Int {
    try await entities.delete(query, as: origin)
  }

  /// Deletes the entities under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Entity.Key], as origin: ChangeOrigin) throws -> Int {
    try entities.delete(keys: keys, as: origin)
  }

  /// Deletes the entities under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``; `CancellationError` before its turn came; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Entity.Key], as origin: ChangeOrigin) async throws -> Int {
    try await entities.delete(keys: keys, as: origin)
  }

  /// Deletes every entity of the collection; returns how many there were.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) throws -> Int {
    try entities.eraseAllData(as: origin)
  }

  /// Deletes every entity of the collection; returns how many there were.
  ///
  /// - Throws: ``StoreError``; `CancellationError` before its turn came; nothing is deleted then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) async throws -> Int {
    try await entities.eraseAllData(as: origin)
  }
}
