// The same from a moment of its own.

extension StoreRepository {
  /// The documents under `keys` that exist, by their keys, each read once.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func documents(keys: some Sequence<Entity.Key>) throws -> [Entity.Key: Entity] {
    try store.read { try $0.documents(Entity.self, keys: keys) }
  }

  /// The documents that `query` selects, each with the one that its field refers to, from one moment:
  /// `orders.fetch(query, including: \.contactID, of: Contact.self)`.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func fetch<Other: Document>(
    _ query: Query<Entity>, including key: KeyPath<Entity, Other.Key>, of type: Other.Type
  ) throws -> [Included<Entity, Other?>] {
    try store.read { try $0.fetch(query, including: key, of: type) }
  }

  /// The documents that `query` selects, each with the one that its field refers to, if it does.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func fetch<Other: Document>(
    _ query: Query<Entity>, including key: KeyPath<Entity, Other.Key?>, of type: Other.Type
  ) throws -> [Included<Entity, Other?>] {
    try store.read { try $0.fetch(query, including: key, of: type) }
  }

  /// The documents that `query` selects, each with those that its field refers to.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func fetch<Other: Document>(
    _ query: Query<Entity>, including keys: KeyPath<Entity, [Other.Key]>, of type: Other.Type
  ) throws -> [Included<Entity, [Other]>] {
    try store.read { try $0.fetch(query, including: keys, of: type) }
  }

  /// The documents that `query` selects, each with those of another collection that refer to it,
  /// from one moment: `contacts.fetch(query, collecting: Order.all, by: \.contactID)`.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/queryNotAllowed(operation:reason:)`` for
  ///   `others` with a limit or an offset.
  public func fetch<Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>,
    by key: any KeyPath<Other, Entity.Key> & Sendable
  ) throws -> [Included<Entity, [Other]>] where Entity.Key: Comparand {
    try store.read { try $0.fetch(query, collecting: others, by: key) }
  }

  /// The documents that `query` selects, each with those of another collection that refer to it by a
  /// field that may be nil.
  ///
  /// - Throws: As the other one.
  public func fetch<Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>,
    by key: any KeyPath<Other, Entity.Key?> & Sendable
  ) throws -> [Included<Entity, [Other]>] where Entity.Key: Comparand {
    try store.read { try $0.fetch(query, collecting: others, by: key) }
  }

  /// The documents that `query` selects, each with those of another collection that refer to it,
  /// where keys have a type of their own with a raw value.
  ///
  /// - Throws: As the other ones.
  public func fetch<Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>,
    by key: any KeyPath<Other, Entity.Key> & Sendable
  ) throws -> [Included<Entity, [Other]>]
  where Entity.Key: RawRepresentable & Equatable & Sendable, Entity.Key.RawValue: Comparand {
    try store.read { try $0.fetch(query, collecting: others, by: key) }
  }

  /// The documents that `query` selects, each with those of another collection that refer to it by a
  /// field that may be nil, where keys have a type of their own with a raw value.
  ///
  /// - Throws: As the other ones.
  public func fetch<Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>,
    by key: any KeyPath<Other, Entity.Key?> & Sendable
  ) throws -> [Included<Entity, [Other]>]
  where Entity.Key: RawRepresentable & Equatable & Sendable, Entity.Key.RawValue: Comparand {
    try store.read { try $0.fetch(query, collecting: others, by: key) }
  }
}
