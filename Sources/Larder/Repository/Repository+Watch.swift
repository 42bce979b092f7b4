internal import LarderLMDB

extension Store {
  /// A watcher that is told of what it is interested in.
  func watcher<Element>(
    _ interest: WatchInterest, _ work: sending any WatchWork<Element>
  ) -> Watcher<Element> {
    let hub = engine.watchHub
    let seat = hub.sit(in: self, interest)
    return Watcher(work, at: seat) { hub.leave(seat) }
  }

  fileprivate func watch<Model, Entity>(
    _ query: Query<Entity>, ignoring ignored: Set<ChangeOrigin>, _ form: ModelForm<Model, Entity>
  ) -> WatchSequence<ResultChange<Model>> {
    WatchSequence { [self] in
      let watcher = watcher(
        WatchInterest(form, query.selection.interest, ignoring: ignored),
        ResultWatch(
          self, query.selection, RowReader(query.selection, form), ignoring: ignored))
      watcher.follow(query.selection.growth?.limit)
      return watcher
    }
  }
}

extension StoreRepository {
  /// What `query` selects, and from then on how that changes.
  ///
  /// A step costs what the changes cost, not what the result does. The first one costs a fetch;
  /// meanwhile the watcher keeps key, sort values and checksum of each row of the result, or of its
  /// window and half the limit more where the query has a limit.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others.
  public func watch(
    _ query: Query<Entity>, ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<ResultChange<Entity>> {
    store.watch(query, ignoring: ignored, .documents)
  }
}

extension StoredRepository {
  /// The models of what `query` selects, and from then on how they change. Entities that have no
  /// model are left out before offset and limit; where there may be such, each that changed is
  /// decoded.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others.
  public func watch(
    _ query: Query<Entity>, ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<ResultChange<Model>> {
    store.watch(query, ignoring: ignored, form)
  }
}

// MARK: Shorter calls

extension Repository {
  /// What `query` selects, and from then on how that changes.
  ///
  /// ```swift
  /// for try await change in contacts.watch(query) { list.apply(change) }
  /// ```
  public func watch(_ query: Query<Entity>) -> WatchSequence<ResultChange<Model>> {
    watch(query, ignoring: [])
  }

  /// What `query` selects up to a limit that can grow, and from then on how that changes.
  ///
  /// When the limit grows, the next step has the rows that were missing. Those that there are, are not
  /// read again: a store reads on behind the last one. A limit and an offset of the query hold as well.
  /// Each iteration begins with the limit of its moment.
  ///
  /// A repository of your own that does not pass the query on to another one ignores that the limit
  /// grows (``GrowingLimit/grow(by:)`` says so): iterate anew then.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others, or when the limit grows.
  public func watch(
    _ query: Query<Entity>, upTo limit: GrowingLimit, ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<ResultChange<Model>> {
    // The limit of the moment at which the iteration begins.
    WatchSequence { watch(query.upTo(limit), ignoring: ignored).makeAsyncIterator().step }
  }

  /// The whole result of `query`, each time that it has changed, for those who want no
  /// differences.
  ///
  /// A step costs what the changes cost, in time and in memory: each result shares with the one
  /// before whatever has not changed. The models of one result are in memory, also while nobody
  /// asks for the next.
  public func values(
    of query: Query<Entity>, ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<Rows<Model>> {
    watch(query, ignoring: ignored).whole()
  }

  /// The model under `key`, nil where there is none, each time that it has changed.
  public func watch(key: Entity.Key) -> WatchSequence<Model?> {
    let changes = watch(Query(under: key), ignoring: [])
    return WatchSequence {
      let step = changes.makeAsyncIterator().step
      let models = Locked<[Model]>([])
      return {
        guard let change = try await step() else { return nil }
        return models.withLock { models in
          models.apply(change)
          return .some(models.first)
        }
      }
    }
  }
}

extension WatchSequence {
  /// The whole result after each step.
  func whole<Model>() -> WatchSequence<Rows<Model>> where Element == ResultChange<Model> {
    WatchSequence<Rows<Model>> {
      let step = makeAsyncIterator().step
      let rows = Locked(Rows<Model>())
      return {
        guard let change = try await step() else { return nil }
        return rows.withLock { rows in
          rows.apply(change)
          return rows
        }
      }
    }
  }
}

extension Query {
  /// What a watch of this query shows whose limit grows.
  func upTo(_ limit: GrowingLimit) -> Self {
    var query = self.limit(limit.count)
    query.selection.growth = Growth(limit: limit, ceiling: selection.maximum ?? .max)
    return query
  }

  /// The document under a key. By the key field where there is one, which needs no search.
  fileprivate init(under key: Entity.Key) {
    self.init()
    let encoded = key.withEncodedKey { [UInt8]($0) }
    let schema = Entity.schema
    if let field = schema.fields.first(where: { $0.name == schema.keyField }),
      let value = encoded.withUnsafeBytes({ Entity.Key.keyKind.value(of: $0) })
    {
      selection.filter = .test(.field([FieldStep(field)]), .equal(value))
    } else {
      // It is no field, or not one alone: only what the document is kept under says it.
      selection.filter = .key(encoded)
    }
  }
}
