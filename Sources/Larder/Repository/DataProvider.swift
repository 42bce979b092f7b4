/// Takes models from a source, such as a server or a file, and puts them in a repository.
///
/// ```swift
/// let provider = DataProvider(contacts) { try await server.contacts() }
/// try await provider.refresh()
/// let oslo = try provider.repository.fetch(Contact.where { $0.city == "Oslo" })
/// ```
/// Whoever shows the models reads them from ``repository``, the single place where they are.
public struct DataProvider<Model: Sendable, Entity: Document>: Sendable {
  public let repository: any Repository<Model, Entity>
  private let source: @Sendable () async throws -> [Model]

  public init(
    _ repository: any Repository<Model, Entity>,
    source: @escaping @Sendable () async throws -> [Model]
  ) {
    self.repository = repository
    self.source = source
  }

  /// Takes what the source has and saves it, as changes of the origin ``ChangeOrigin/sync``. With a
  /// query, what it matches and the source no longer has is deleted in the same step; the source is
  /// asked before anything is cleared.
  ///
  /// - Throws: Whatever the source throws; what the repository's save throws. In both cases the
  ///   repository is as it was.
  @discardableResult
  public func refresh(
    clearBeforeSaving query: Query<Entity>? = nil,
    onConflict policy: ConflictPolicy<Model> = .replace
  ) async throws -> SaveReport {
    let models = try await source()
    return try await repository.save(
      models, clearBeforeSaving: query, onConflict: policy, as: .sync)
  }
}
