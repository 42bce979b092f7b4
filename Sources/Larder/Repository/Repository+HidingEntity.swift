public import LarderModels

extension Repository where Model: Identifiable, Model.ID == Entity.Key {
  /// This repository for services that know neither the entity nor Larder: they hold an
  /// `any ModelRepository<Model, Request>` of the module `LarderModels`, and ask by requests of
  /// their own.
  ///
  /// ```swift
  /// let contacts = store.repository(of: SellerContactEntity.self, mappedBy: mapper)
  /// let service = SellerContactsService(contacts: contacts.hidingEntity(mapper.query(for:)))
  /// ```
  /// Its saves and updates are the app's own, ``ChangeOrigin/local``; its refreshes have the origin
  /// ``ChangeOrigin/sync``. A mapper writes the fields of each: ``EntityMapper/update(_:by:as:)``.
  ///
  /// - Parameter query: The query that a request means. Called for every read, on any thread.
  public func hidingEntity<Request: Sendable>(
    _ query: @escaping @Sendable (Request) -> Query<Entity>
  ) -> any ModelRepository<Model, Request> {
    RequestedRepository(repository: self, query: query)
  }
}

/// A repository whose entity its users do not see.
private struct RequestedRepository<Base: Repository, Request: Sendable>: ModelRepository
where Base.Model: Identifiable, Base.Model.ID == Base.Entity.Key {
  typealias Model = Base.Model

  let repository: Base
  let query: @Sendable (Request) -> Query<Base.Entity>

  func get(_ id: Model.ID) throws -> Model? { try repository.get(id) }

  func fetch(_ request: Request) throws -> [Model] { try repository.fetch(query(request)) }

  func count(_ request: Request) throws -> Int { try repository.count(query(request)) }

  func values(of request: Request) -> any AsyncSequence<[Model], any Error> & Sendable {
    repository.values(of: query(request)).map { Array($0) }
  }

  func save(_ models: [Model]) async throws -> Int { try await repository.save(models).changed }

  func update(
    _ id: Model.ID, _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> Model? {
    try await repository.update(id, body)
  }

  func delete(_ ids: [Model.ID]) async throws -> Int { try await repository.delete(keys: ids) }

  func refresh(_ models: [Model], replacing request: Request?) async throws -> Int {
    try await repository.save(
      models, clearBeforeSaving: request.map(query), onConflict: .replace, as: .sync
    ).changed
  }
}
