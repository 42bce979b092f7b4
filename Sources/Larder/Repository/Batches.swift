extension Repository {
  /// What `query` selects, batch by batch, for results that are too large for memory or for work
  /// that takes long:
  ///
  /// ```swift
  /// for try await batch in contacts.batches(of: query, size: 500) { try await send(batch) }
  /// ```
  /// Each batch is read at a moment of its own, off the caller's actor, when it is asked for; no
  /// moment is held while the caller works. So the batches together are no single moment: what is
  /// saved or deleted meanwhile, behind the place that was reached, is seen as it then is. What stays
  /// as it is comes just once. See ``PageCursor`` and ``page(_:after:)``, which reads each.
  ///
  /// - Parameter size: How many models a batch has, one or more; the last may have fewer.
  public func batches(
    of query: Query<Entity> = Entity.all, size: Int = 500
  ) -> ModelBatches<Model, Entity> {
    ModelBatches(repository: self, query: query, size: Swift.max(1, size))
  }
}

/// The results of a query, batch by batch. Every iteration begins anew.
public struct ModelBatches<Model: Sendable, Entity: Document>: AsyncSequence, Sendable {
  public typealias Element = [Model]

  let repository: any Repository<Model, Entity>
  let query: Query<Entity>
  let size: Int

  public func makeAsyncIterator() -> Iterator {
    Iterator(repository: repository, query: query, size: size)
  }

  /// Reads a batch each time it is asked.
  public struct Iterator: AsyncIteratorProtocol {
    private let repository: any Repository<Model, Entity>
    private let query: Query<Entity>
    private let size: Int
    /// How many models the query's limit leaves.
    private var left: Int
    private var cursor: PageCursor?
    private var isAtEnd = false

    init(repository: any Repository<Model, Entity>, query: Query<Entity>, size: Int) {
      self.repository = repository
      self.query = query
      self.size = size
      left = query.selection.maximum ?? .max
    }

    /// The next batch, which is never empty; nil behind the last one.
    ///
    /// - Throws: `CancellationError`; ``StoreError`` when a model cannot be read. After an error the
    ///   same batch is tried again.
    public mutating func next() async throws -> [Model]? {
      try Task.checkCancellation()
      if isAtEnd || left == 0 { return nil }
      let count = Swift.min(size, left)
      let page = try await repository.async.page(query.limit(count), after: cursor)
      cursor = page.next
      isAtEnd = page.next == nil
      left -= page.models.count
      return page.models.isEmpty ? nil : page.models
    }
  }
}
