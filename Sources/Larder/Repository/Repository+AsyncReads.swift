extension Repository {
  /// The reads off the caller's actor: `try await contacts.async.fetch(query)`.
  public var async: RepositoryReads<Model, Entity> { RepositoryReads(self) }
}

/// Reads of a repository that run on the concurrent pool and not on the caller's actor.
///
/// Every one throws what its synchronous twin throws.
public struct RepositoryReads<Model: Sendable, Entity: Document>: Sendable {
  private let repository: any Repository<Model, Entity>

  init(_ repository: any Repository<Model, Entity>) { self.repository = repository }

  /// - Throws: ``StoreError``, as ``Repository/get(_:)``.
  @concurrent public func get(_ key: Entity.Key) async throws -> Model? {
    try repository.get(key)
  }

  /// - Throws: ``StoreError``, as ``Repository/get(keys:)``.
  @concurrent public func get(keys: [Entity.Key]) async throws -> [Model] {
    try repository.get(keys: keys)
  }

  /// - Throws: ``StoreError``, as ``Repository/get(keys:skippingUnreadable:)``.
  @concurrent public func get(
    keys: [Entity.Key], skippingUnreadable report: @escaping @Sendable (UnreadableDocument) -> Void
  ) async throws -> [Model] {
    try repository.get(keys: keys, skippingUnreadable: report)
  }

  /// - Throws: ``StoreError``, as ``Repository/fetch(_:)``.
  @concurrent public func fetch(_ query: Query<Entity>) async throws -> [Model] {
    try repository.fetch(query)
  }

  /// - Throws: ``StoreError``, as ``Repository/first(_:)``.
  @concurrent public func first(_ query: Query<Entity> = Entity.all) async throws -> Model? {
    try repository.first(query)
  }

  /// - Throws: ``StoreError``, as ``Repository/page(_:after:)``.
  @concurrent public func page(
    _ query: Query<Entity>, after cursor: PageCursor? = nil
  ) async throws -> Page<Model> {
    try repository.page(query, after: cursor)
  }

  /// - Throws: ``StoreError``, as ``Repository/aggregate(_:of:)``.
  @concurrent public func aggregate<Result: Sendable>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity> = Entity.all
  ) async throws -> Result {
    try repository.aggregate(aggregate, of: query)
  }

  /// - Throws: ``StoreError``, as ``Repository/count(_:)``.
  @concurrent public func count(_ query: Query<Entity> = Entity.all) async throws -> Int {
    try repository.count(query)
  }
}
