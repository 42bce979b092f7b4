internal import LarderLMDB

/// The models of a repository, each with what belongs to it in another one: to fetch, and to watch.
///
/// ```swift
/// let withContacts = orders.including(\.contactID, from: contacts)
/// for order in try withContacts.fetch(Order.where { $0.isOpen }) {
///   print(order.model.number, order.related?.name ?? "")
/// }
/// for try await change in withContacts.watch(Order.where { $0.isOpen }) { list.apply(change) }
/// ```
/// Made by `including(_:from:)` and `collecting(_:from:by:)` of a repository, for any two
/// repositories: of one store, of two, with a mapper, in memory. A value; making it costs nothing.
///
/// The two are read one after the other, so that a save which comes between may be in the second alone.
/// A watcher hears of it and mends that with its next step. To read both at one moment, use the functions
/// of the same names of a snapshot or of a ``StoreRepository``.
public struct JoinedModels<Model: Sendable, Entity: Document, Related: Sendable>: Sendable {
  /// A model, and what belongs to it.
  public typealias Element = Included<Model, Related>

  let fetching: @Sendable (Query<Entity>) throws -> [Element]
  let watching: @Sendable (Query<Entity>, Set<ChangeOrigin>) -> WatchSequence<ResultChange<Element>>

  /// The models of what `query` selects, in its order, each with what belongs to it. What `query` does
  /// not find is not looked up. A query that leaves out what cannot be read does so also for what its models
  /// refer to.
  ///
  /// - Throws: ``StoreError`` when one cannot be read.
  public func fetch(_ query: Query<Entity>) throws -> [Element] { try fetching(query) }

  /// The first model of what `query` selects, in its order, with what belongs to it; nil if there is none.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func first(_ query: Query<Entity>) throws -> Element? { try fetch(query.limit(1)).first }

  /// What `query` selects, each with what belongs to it, and from then on how that changes: by changes of
  /// the models, and of what belongs to them.
  ///
  /// A step costs what has changed: a model that has changed, or all those that a changed one of the
  /// others belongs to. The first costs a fetch of both sides, and the watcher keeps both in memory,
  /// also those of the others that belong to no model yet. So it suits others that are few, as the cities
  /// of contacts. One of the others that cannot be read is an error once a model refers to it.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others, of the models or of what belongs to them. Those of a repository of
  ///   your own that does not pass the query on to another one come with its own next step.
  public func watch(
    _ query: Query<Entity>, ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<ResultChange<Element>> { watching(query, ignored) }

  /// The same up to a limit that can grow, as ``Repository/watch(_:upTo:ignoring:)``.
  public func watch(
    _ query: Query<Entity>, upTo limit: GrowingLimit, ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<ResultChange<Element>> {
    WatchSequence { watching(query.upTo(limit), ignored).makeAsyncIterator().step }
  }

  /// The whole result, each time that it has changed, as ``Repository/values(of:ignoring:)``.
  public func values(
    of query: Query<Entity>, ignoring ignored: Set<ChangeOrigin> = []
  ) -> WatchSequence<Rows<Element>> { watching(query, ignored).whole() }
}

// MARK: What a model refers to

extension Repository {
  /// Each model with the document that its field refers to, nil where there is none:
  /// `orders.including(\.contactID, from: contacts)`.
  public func including<Other: Document>(
    _ key: any KeyPath<Model, Other.Key> & Sendable, from others: any Repository<Other, Other>
  ) -> JoinedModels<Model, Entity, Other?> {
    including(others, wanted: { [$0[keyPath: key]] }, related: { $0[0].first })
  }

  /// Each model with the document that its field refers to, if it does.
  public func including<Other: Document>(
    _ key: any KeyPath<Model, Other.Key?> & Sendable, from others: any Repository<Other, Other>
  ) -> JoinedModels<Model, Entity, Other?> {
    including(
      others, wanted: { $0[keyPath: key].map { [$0] } ?? [] }, related: { $0.first?.first })
  }

  /// Each model with the documents that its field refers to, in the field's order and without those that
  /// do not exist.
  public func including<Other: Document>(
    _ keys: any KeyPath<Model, [Other.Key]> & Sendable, from others: any Repository<Other, Other>
  ) -> JoinedModels<Model, Entity, [Other]> {
    including(others, wanted: { $0[keyPath: keys] }, related: { $0.compactMap(\.first) })
  }

  private func including<Other: Document, Related>(
    _ others: any Repository<Other, Other>, wanted: @escaping @Sendable (Model) -> [Other.Key],
    related: @escaping @Sendable ([[Other]]) -> Related
  ) -> JoinedModels<Model, Entity, Related> {
    joined(
      JoinedRows.Link(
        wanted: wanted, key: { $0.entityAccessorKey }, related: related, text: \.reportedText),
      fetching: { keys, unreadable in
        let keys = Array(Set(keys))
        guard let unreadable else { return try others.get(keys: keys) }
        return try others.get(keys: keys, skippingUnreadable: unreadable.report)
      },
      watching: { ignored, unreadable in
        var all = Other.all
        if let unreadable {
          all.selection.unreadable = unreadable
          return JoinedOthers(watch: others.watch(all, ignoring: ignored))
        }
        // Whom nobody refers to need not be readable.
        let reports = Locked<Set<String>>([])
        all.selection.unreadable = UnreadableHandler { document in
          reports.withLock { _ = $0.insert(document.key) }
        }
        return JoinedOthers(
          watch: others.watch(all, ignoring: ignored),
          unreadable: UnreadableOthers {
            reports.withLock { reports in
              defer { reports = [] }
              return reports
            }
          } read: { keys in
            _ = try others.get(keys: keys)
          })
      })
  }
}

// MARK: What refers to a model

extension Repository where Model == Entity {
  /// Each document with the models of another repository that refer to it by a field, which are those of
  /// `query`, in its order: `contacts.collecting(Order.all, from: orders, by: \.contactID)`.
  ///
  /// A limit or an offset of `query` holds for all of them, not for those of one document. Fetches read
  /// all that `query` selects.
  public func collecting<Other: Sendable, OtherEntity: Document>(
    _ query: Query<OtherEntity>, from others: any Repository<Other, OtherEntity>,
    by key: any KeyPath<Other, Entity.Key> & Sendable
  ) -> JoinedModels<Model, Entity, [Other]> {
    collecting(query, others) { $0[keyPath: key] }
  }

  /// Each document with the models of another repository that refer to it by a field that may be nil.
  ///
  /// As the other one.
  public func collecting<Other: Sendable, OtherEntity: Document>(
    _ query: Query<OtherEntity>, from others: any Repository<Other, OtherEntity>,
    by key: any KeyPath<Other, Entity.Key?> & Sendable
  ) -> JoinedModels<Model, Entity, [Other]> {
    collecting(query, others) { $0[keyPath: key] }
  }

  private func collecting<Other: Sendable, OtherEntity: Document>(
    _ query: Query<OtherEntity>, _ others: any Repository<Other, OtherEntity>,
    key: @escaping @Sendable (Other) -> Entity.Key?
  ) -> JoinedModels<Model, Entity, [Other]> {
    joined(
      JoinedRows.Link(wanted: { [$0.entityAccessorKey] }, key: key, related: { $0[0] }),
      // Of them the other query says what becomes of those that cannot be read.
      fetching: { _, _ in try others.fetch(query) },
      watching: { ignored, _ in JoinedOthers(watch: others.watch(query, ignoring: ignored)) })
  }
}

// MARK: Joining

/// One iteration's watch of the others.
private struct JoinedOthers<Other: Sendable, Key: Sendable>: Sendable {
  let watch: WatchSequence<ResultChange<Other>>
  /// Where it leaves out those that cannot be read, and these are errors.
  var unreadable: UnreadableOthers<Key>?
}

extension DocumentKey {
  /// The key as an ``UnreadableDocument`` has it.
  fileprivate var reportedText: String {
    withEncodedKey { Self.keyKind.text(of: $0) }
  }
}

extension Repository {
  /// - Parameters:
  ///   - fetching: Others, among them all that belong to the models that ask for these values. Given who is
  ///     told of models that cannot be read, nil where these are errors.
  ///   - watching: All others; likewise.
  fileprivate func joined<Other, Key: Hashable & Sendable, Related>(
    _ link: JoinedRows<Model, Other, Key, Related>.Link,
    fetching: @escaping @Sendable ([Key], UnreadableHandler?) throws -> [Other],
    watching:
      @escaping @Sendable (Set<ChangeOrigin>, UnreadableHandler?) -> JoinedOthers<Other, Key>
  ) -> JoinedModels<Model, Entity, Related> {
    JoinedModels { query in
      let models = try fetch(query)
      let wanted = models.map(link.wanted)
      var having: [Key: [Other]] = [:]
      for other in try fetching(wanted.flatMap(\.self), query.selection.unreadable) {
        if let key = link.key(other) { having[key, default: []].append(other) }
      }
      return zip(models, wanted).map { model, wanted in
        Included(model: model, related: link.related(wanted.map { having[$0] ?? [] }))
      }
    } watching: { query, ignored in
      let models = watch(query, ignoring: ignored)
      return WatchSequence {
        let others = watching(ignored, query.selection.unreadable)
        let joined = JoinedWatch(link, models, others.watch, others.unreadable)
        return { try await joined.next() }
      }
    }
  }
}
