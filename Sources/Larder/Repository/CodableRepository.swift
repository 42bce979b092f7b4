/// Values of a plain `Codable & Identifiable` type, kept in a store as ordinary documents.
///
/// ```swift
/// struct Note: Codable, Identifiable, Sendable {
///   var id: UUID
///   var title: String
///   var city: String?
/// }
///
/// let notes = store.repository(of: Note.self)
/// try await notes.save(note)
/// let inOslo = try notes.fetch(notes.where { $0.city == "Oslo" }.sorted(by: \.title))
/// ```
/// As ``StoreRepository`` otherwise: the same transactions, reports and errors, and the same
/// records, so that the command line and a ``Document`` of the same fields read them. The type's
/// own coding costs time, and no condition can be told from a key path what the type calls the
/// field: conditions and orders decode every document that they look at.
public struct CodableRepository<Model: Codable & Identifiable & Sendable>: Repository
where Model.ID: DocumentKey {
  public typealias Entity = CodableDocument<Model>

  /// The store that the values are in.
  public let store: Store
  /// The name of the collection that they are in.
  public let collection: String
}

extension Store {
  /// The values of a plain `Codable` type, in a collection that is named after the type. Costs
  /// nothing: the collection comes into being with its first save, and until then reads as empty.
  @_disfavoredOverload  // Of a type that is a `Document` as well, the documents are meant.
  public func repository<Model: Codable & Identifiable & Sendable>(
    of type: Model.Type = Model.self
  ) -> CodableRepository<Model> where Model.ID: DocumentKey {
    repository(of: type, collection: CodableDocument<Model>.schema.name)
  }

  /// The values of a plain `Codable` type that are in the collection of this name.
  public func repository<Model: Codable & Identifiable & Sendable>(
    of type: Model.Type = Model.self, collection: String
  ) -> CodableRepository<Model> where Model.ID: DocumentKey {
    CodableRepository(store: self, collection: collection.normalized())
  }
}

// MARK: Queries

extension CodableRepository {
  /// Every value.
  public var all: Query<Entity> { Query() }

  /// The values that `condition` holds for: `notes.where { $0.city == "Oslo" }`. Each that it looks
  /// at is decoded.
  public func `where`(_ condition: (Fields<Entity>) -> Filter<Entity>) -> Query<Entity> {
    all.where(condition)
  }

  /// The values whose property is true: `notes.where { $0.isDone }`.
  public func `where`(
    _ condition: (Fields<Entity>) -> QueryField<Entity, Bool>
  ) -> Query<Entity> {
    all.where(condition)
  }
}

// MARK: Saving

extension CodableRepository {
  /// Saves values in one transaction: new ones are inserted, the policy decides about those under a
  /// key that exists, those with equal bytes are not written. Of values with one key the last wins.
  /// Fields that a newer version of the type has stored stay. With a query, what it matches and
  /// is not in `models` is deleted in the same transaction.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/unwritable(collection:key:reason:)`` with
  ///   the coding path; whatever the policy throws. Nothing is kept then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) throws -> SaveReport {
    try query?.selection.checkMatchesWhole("clearBeforeSaving")
    let batch = try batch(of: models, policy, isReplacing: query != nil)
    return try store.write(as: origin) {
      try $0.save(models, batch, in: collection, clearing: query?.selection, onConflict: policy)
    }
  }

  /// Saves values in one transaction, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, or `CancellationError` before the save began; nothing is
  ///   kept then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) async throws -> SaveReport {
    try query?.selection.checkMatchesWhole("clearBeforeSaving")
    let entry = try await store.roomEntry()
    let batch = try batch(of: models, policy, isReplacing: query != nil)
    return try await store.submit(
      as: origin,
      byteCount: batch?.batch.byteCount ?? models.count * MemoryLayout<Model>.stride, entry: entry
    ) {
      try $0.save(models, batch, in: collection, clearing: query?.selection, onConflict: policy)
    }
  }

  /// The encoded values, made before the writer's line is entered; nil where that is better done
  /// inside: stored values are to be looked at, the catalogue does not know all fields yet, or
  /// there are very many of them.
  private func batch(
    of models: [Model], _ policy: ConflictPolicy<Model>, isReplacing: Bool
  ) throws -> CodableBatch? {
    try store.checkOpen()
    guard case .replace = policy, models.count <= Batch.largestCount || isReplacing,
      let binding = try store.engine.catalogue.binding(of: Entity.self, in: collection)
    else { return nil }
    let batch = try Batch.unlessUndeclared { try Batch(models[...], binding) }
    return batch.map { CodableBatch(batch: $0, binding: binding) }
  }
}

// MARK: Reading

extension CodableRepository {
  /// The value under `key`, or nil.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)`` with
  ///   the coding path.
  public func get(_ key: Model.ID) throws -> Model? {
    try get(keys: [key]).first
  }

  /// The values under `keys` that exist, in the order of `keys`, from one moment.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func get(keys: [Model.ID]) throws -> [Model] {
    try store.read { try $0.get(Model.self, keys: keys, in: collection) }
  }

  /// The values that `query` selects, in its order.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func fetch(_ query: Query<Entity>) throws -> [Model] {
    try store.read { try $0.fetch(query, in: collection) }
  }

  /// How many values `query` selects.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func count(_ query: Query<Entity>) throws -> Int {
    try store.read { snapshot in
      guard let binding = try snapshot.catalogue.binding(of: Entity.self, in: collection) else {
        return 0
      }
      return try snapshot.transaction.count(query.selection, binding)
    }
  }
}

extension CodableRepository {
  /// A page of the values that `query` selects.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/cursorRefused(collection:reason:)``.
  public func page(_ query: Query<Entity>, after cursor: PageCursor? = nil) throws -> Page<Model> {
    try store.read { snapshot in
      let binding = try snapshot.catalogue.binding(of: Entity.self, in: collection)
      return try snapshot.page(query, after: cursor, binding, isWhole: true) {
        try $0.document(coding: Model.self)
      }
    }
  }

  /// What an aggregate makes of the values that `query` selects. Each is decoded.
  ///
  /// - Throws: ``StoreError``; what the aggregate throws.
  public func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity> = Entity.all
  ) throws -> Result {
    try store.read { snapshot in
      try snapshot.aggregate(
        aggregate, of: query, snapshot.catalogue.binding(of: Entity.self, in: collection))
    }
  }
}

// MARK: Deleting

extension CodableRepository {
  /// Deletes what `query` matches; returns how many values that were. Its order is ignored.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/queryNotAllowed(operation:reason:)`` for a
  ///   limit or an offset; nothing is deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) throws -> Int {
    try store.write(as: origin) { try $0.delete(query, in: collection) }
  }

  /// Deletes what `query` matches, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is
  ///   deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) async throws -> Int {
    try await store.write(as: origin) { try $0.delete(query, in: collection) }
  }

  /// Deletes the values under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Model.ID], as origin: ChangeOrigin) throws -> Int {
    try store.write(as: origin) { try $0.delete(Model.self, keys: keys, in: collection) }
  }

  /// Deletes the values under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Model.ID], as origin: ChangeOrigin) async throws -> Int {
    try await store.write(as: origin) { try $0.delete(Model.self, keys: keys, in: collection) }
  }

  /// Deletes every document of the collection; returns how many there were.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) throws -> Int {
    try store.write(as: origin) { try $0.eraseAllData(ofCollection: collection) }
  }

  /// Deletes every document of the collection; returns how many there were.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began; nothing is deleted then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) async throws -> Int {
    try await store.write(as: origin) { try $0.eraseAllData(ofCollection: collection) }
  }
}
