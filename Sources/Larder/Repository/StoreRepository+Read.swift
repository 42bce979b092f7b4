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

  /// The documents under `keys` that exist and can be read, in the order of `keys`, from one moment.
  /// The others are reported, as ``Query/skippingUnreadable(_:)`` does.
  ///
  /// - Throws: ``StoreError``, but not for a document that cannot be read.
  public func get(
    keys: [Entity.Key], skippingUnreadable report: @escaping @Sendable (UnreadableDocument) -> Void
  ) throws -> [Entity] {
    try store.read { try $0.get(Entity.self, keys: keys, skippingUnreadable: report) }
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

  /// A page of the documents that `query` selects; its limit is the size of the page.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/cursorRefused(collection:reason:)``.
  public func page(
    _ query: Query<Entity>, after cursor: PageCursor? = nil
  ) throws -> Page<Entity> {
    try store.read { try $0.page(query, after: cursor) }
  }

  /// What an aggregate makes of the documents that `query` selects.
  ///
  /// - Throws: ``StoreError``; what the aggregate throws.
  public func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity> = Entity.all
  ) throws -> Result {
    try store.read { try $0.aggregate(aggregate, of: query) }
  }
}
