extension StoreRepository {
  /// The document under `key`, or nil.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  @inlinable public func get(_ key: Entity.Key) throws -> Entity? {
    try store.read { try $0.get(Entity.self, key) }
  }

  /// The documents under `keys` that exist, in the order of `keys`, from one moment.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  @inlinable public func get(keys: some Sequence<Entity.Key>) throws -> [Entity] {
    try store.read { try $0.get(Entity.self, keys: keys) }
  }

  /// The documents that `query` selects, in its order.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  @inlinable public func fetch(_ query: Query<Entity>) throws -> [Entity] {
    try store.read { try $0.fetch(query) }
  }

  /// How many documents `query` selects.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  @inlinable public func count(_ query: Query<Entity> = Entity.all) throws -> Int {
    try store.read { try $0.count(query) }
  }

  /// The same reads off the caller's thread: `try await contacts.async.fetch(query)`.
  public var async: AsyncReads { AsyncReads(repository: self) }

  /// Reads that run on the concurrent pool and not on the caller's actor.
  ///
  /// Every one throws what its synchronous twin throws.
  public struct AsyncReads: Sendable {
    @usableFromInline let repository: StoreRepository

    @usableFromInline init(repository: StoreRepository) { self.repository = repository }

    /// - Throws: ``StoreError``, as ``StoreRepository/get(_:)``.
    @concurrent public func get(_ key: Entity.Key) async throws -> Entity? {
      try repository.get(key)
    }

    /// - Throws: ``StoreError``, as ``StoreRepository/get(keys:)``.
    @concurrent public func get(keys: [Entity.Key]) async throws -> [Entity] {
      try repository.get(keys: keys)
    }

    /// - Throws: ``StoreError``, as ``StoreRepository/fetch(_:)``.
    @concurrent public func fetch(_ query: Query<Entity>) async throws -> [Entity] {
      try repository.fetch(query)
    }

    /// - Throws: ``StoreError``, as ``StoreRepository/count(_:)``.
    @concurrent public func count(_ query: Query<Entity> = Entity.all) async throws -> Int {
      try repository.count(query)
    }
  }
}
