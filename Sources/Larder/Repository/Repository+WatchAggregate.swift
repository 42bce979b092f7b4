internal import LarderLMDB

extension Store {
  fileprivate func watch<Model, Entity, Result: Sendable & Equatable>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>,
    ignoring ignored: Set<ChangeOrigin>, _ form: ModelForm<Model, Entity>
  ) -> WatchSequence<Result> {
    WatchSequence { [self] in
      watcher(
        WatchInterest(form, query.selection.filter, ignoring: ignored),
        AggregateWatch(self, aggregate, of: query, form, ignoring: ignored))
    }
  }
}

extension StoreRepository {
  /// What an aggregate makes of the documents that `query` selects, each time that it has changed.
  ///
  /// Counts, sums, averages, distinct values and groups cost what the changes cost, and a look at
  /// the groups; a count begins with what an index says. Others, and all of queries with a limit or
  /// an offset, are made anew when something that the query matches has changed.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others.
  public func watch<Result: Sendable & Equatable>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>,
    ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<Result> {
    store.watch(aggregate, of: query, ignoring: ignored, .documents)
  }
}

extension StoredRepository {
  /// What an aggregate makes of the entities that `query` selects and that have a model, each time
  /// that it has changed. Where not all have one, each entity that changed is decoded.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others.
  public func watch<Result: Sendable & Equatable>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>,
    ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<Result> {
    store.watch(aggregate, of: query, ignoring: ignored, form)
  }
}

// MARK: Shorter calls

extension Repository {
  /// What an aggregate makes of what `query` selects, and then each time what it has become.
  ///
  /// ```swift
  /// for try await total in orders.watch(.sum(\.price), of: Order.where { $0.isOpen }) { ... }
  /// for try await groups in contacts.watch(.counts(by: \.city)) { ... }
  /// ```
  public func watch<Result: Sendable & Equatable>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity> = Entity.all
  ) -> WatchSequence<Result> {
    watch(aggregate, of: query, ignoring: [])
  }

  /// The same for repositories that have no way of their own: made anew after every change of what
  /// `query` selects.
  public func watch<Result: Sendable & Equatable>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>,
    ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<Result> {
    let changes = watch(query, ignoring: ignored)
    return WatchSequence {
      let step = changes.makeAsyncIterator().step
      let last = Locked<Result?>(nil)
      return {
        while try await step() != nil {
          let result = try self.aggregate(aggregate, of: query)
          let isNew = last.withLock { last in
            defer { last = result }
            return last.map { !result.isSame(as: $0) } ?? true
          }
          if isNew { return result }
        }
        return nil
      }
    }
  }

  /// How many models `query` selects, each time that this has changed.
  public func watchCount(
    _ query: Query<Entity> = Entity.all, ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<Int> {
    watch(.count(), of: query, ignoring: ignored)
  }
}
