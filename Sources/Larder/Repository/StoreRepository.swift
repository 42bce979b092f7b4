/// The face that an app works with: documents of one type in one store.
///
/// Reads are synchronous and never wait for writes; ``Repository/async`` has the same ones off the
/// caller's thread. Writes wait for their turn and return when they are durable; each is one
/// transaction, and each comes as an `async` and a synchronous function. Whoever saves sees its
/// own save in the next read.
public struct StoreRepository<Entity: Document>: Sendable {
  /// The store that the documents are in.
  public let store: Store
}

extension Store {
  /// The documents of a type. Costs nothing: the collection comes into being with its first
  /// save, and until then reads as empty.
  public func repository<Entity: Document>(
    of type: Entity.Type = Entity.self
  ) -> StoreRepository<Entity> {
    StoreRepository(store: self)
  }
}

// MARK: Saving

extension StoreRepository {
  /// Saves documents in one transaction: new ones are inserted, those under a key that exists
  /// replace it, those with equal bytes are not written. Of documents with one key the last
  /// wins. Fields that a newer version of the type has stored stay.
  ///
  /// - Throws: ``StoreError``, or `CancellationError` before the save began; nothing is kept
  ///   then.
  @discardableResult
  @inlinable public func save(
    _ documents: [Entity], as origin: ChangeOrigin = .local
  ) async throws -> SaveReport {
    try await save(documents, clearing: nil, as: origin)
  }

  /// Saves documents in one transaction, as the asynchronous one does.
  ///
  /// - Throws: ``StoreError``; nothing is kept then.
  @discardableResult
  @inlinable public func save(
    _ documents: [Entity], as origin: ChangeOrigin = .local
  ) throws -> SaveReport {
    try save(documents, clearing: nil, as: origin)
  }

  /// Saves one document.
  ///
  /// - Throws: ``StoreError``, or `CancellationError` before the save began; nothing is kept
  ///   then.
  @discardableResult
  @inlinable public func save(
    _ document: Entity, as origin: ChangeOrigin = .local
  ) async throws -> SaveReport {
    try await save([document], clearing: nil, as: origin)
  }

  /// Saves one document.
  ///
  /// - Throws: ``StoreError``; nothing is kept then.
  @discardableResult
  @inlinable public func save(
    _ document: Entity, as origin: ChangeOrigin = .local
  ) throws -> SaveReport {
    try save([document], clearing: nil, as: origin)
  }

  /// Replaces what `query` matches by `documents`, in one transaction: readers see the old ones
  /// or the new ones, never an empty moment. A document in both sets is an update, or nothing
  /// at all where its bytes are equal.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/queryNotAllowed(operation:reason:)`` for a
  ///   limit or an offset, or `CancellationError` before the save began; nothing is kept then.
  @discardableResult
  @inlinable public func save(
    _ documents: [Entity], clearBeforeSaving query: Query<Entity>,
    as origin: ChangeOrigin = .local
  ) async throws -> SaveReport {
    try await save(documents, clearing: query, as: origin)
  }

  /// Replaces what `query` matches by `documents`, as the asynchronous one does.
  ///
  /// - Throws: ``StoreError``; nothing is kept then.
  @discardableResult
  @inlinable public func save(
    _ documents: [Entity], clearBeforeSaving query: Query<Entity>,
    as origin: ChangeOrigin = .local
  ) throws -> SaveReport {
    try save(documents, clearing: query, as: origin)
  }
}

// MARK: Deleting

extension StoreRepository {
  /// Deletes what `query` matches; returns how many documents that were. Its order is ignored.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/queryNotAllowed(operation:reason:)`` for a
  ///   limit or an offset; `CancellationError` before its turn came; nothing is deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) async throws -> Int {
    try await store.write(as: origin) { try $0.delete(query) }
  }

  /// Deletes what `query` matches, as the asynchronous one does.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) throws -> Int {
    try store.write(as: origin) { try $0.delete(query) }
  }

  /// Deletes the documents under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``; `CancellationError` before its turn came; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Entity.Key], as origin: ChangeOrigin) async throws -> Int {
    try await store.write(as: origin) { try $0.delete(Entity.self, keys: keys) }
  }

  /// Deletes the documents under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Entity.Key], as origin: ChangeOrigin) throws -> Int {
    try store.write(as: origin) { try $0.delete(Entity.self, keys: keys) }
  }

  /// Deletes every document of the collection; returns how many there were.
  ///
  /// - Throws: ``StoreError``; `CancellationError` before its turn came; nothing is deleted then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) async throws -> Int {
    try await store.write(as: origin) { try $0.eraseAllData(of: Entity.self) }
  }

  /// Deletes every document of the collection; returns how many there were.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) throws -> Int {
    try store.write(as: origin) { try $0.eraseAllData(of: Entity.self) }
  }
}
