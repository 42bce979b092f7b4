/// Domain models that are saved, read and deleted, wherever they are kept.
///
/// What an app's services are given, as `any Repository<Contact, Contact>` or, with a mapper, as
/// `any Repository<Model, Entity>`: models go in and come out, and queries name the fields of the
/// entity. ``StoreRepository`` and ``StoredRepository`` keep them in a ``Store``,
/// ``InMemoryRepository`` in memory; `RepositoryConformance` in `LarderTesting` says whether
/// another implementation behaves as they do.
///
/// An implementation should write every asynchronous function beside its synchronous one. Swift would
/// take the synchronous one for both, but that would block the caller's actor and not heed
/// cancellation.
public protocol Repository<Model, Entity>: Sendable {
  associatedtype Model: Sendable
  associatedtype Entity: Document

  /// Saves models in one step: all are kept, or none. Of models with one key the last wins; those
  /// that would change nothing are not written; the policy decides about those that are stored
  /// already. With a query, what it matches and is not in `models` is deleted in the same step,
  /// so that nobody sees an empty moment.
  ///
  /// - Parameter origin: Where the changes come from: what is pulled from a remote is
  ///   ``ChangeOrigin/sync``, and no news for watchers and consumers that ignore it.
  /// - Throws: ``StoreError``, among them ``StoreError/queryNotAllowed(operation:reason:)`` for a
  ///   query with a limit or an offset; whatever the policy throws. Nothing is changed then.
  @discardableResult
  func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) throws -> SaveReport

  /// Saves models, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before the save began. Nothing is
  ///   changed then.
  @discardableResult
  func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) async throws -> SaveReport

  /// Changes the model under `key` in one step: nothing is changed between what `body` reads and what
  /// is saved of it. What the repository keeps and the model does not have stays.
  ///
  /// - Parameters:
  ///   - origin: Where the change comes from.
  ///   - body: Runs inside the write, so it should be quick, and must not write itself. It may run
  ///     again from its start, with the model as it is then.
  /// - Returns: The model as ``get(_:)`` gives it now; nil where there was none, and `body` was not
  ///   called. A change that leaves no model, as of an entity that the mapper then hides, gives nil
  ///   too.
  /// - Throws: Whatever `body` throws; ``StoreError``, among them
  ///   ``StoreError/keyChanged(collection:key:found:)`` when `body` gives the model another key.
  ///   Nothing is changed then.
  @discardableResult
  func update(
    _ key: Entity.Key, as origin: ChangeOrigin, _ body: (inout Model) throws -> Void
  ) throws -> Model?

  /// Changes the model under `key` in one step, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began. Nothing is changed
  ///   then.
  @discardableResult
  func update(
    _ key: Entity.Key, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> Model?

  /// Changes the models that `query` selects in one step: lends each of them to `body`, in the query's order,
  /// and saves those that it has changed. What is selected is found before the first one is changed, so that each
  /// is changed once.
  ///
  /// - Parameter body: As for one model.
  /// - Returns: How many were updated, and how many left unchanged.
  /// - Throws: As for one model. Nothing is changed then.
  @discardableResult
  func update(
    _ query: Query<Entity>, as origin: ChangeOrigin, _ body: (inout Model) throws -> Void
  ) throws -> SaveReport

  /// Changes the models that `query` selects in one step, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began. Nothing is changed
  ///   then.
  @discardableResult
  func update(
    _ query: Query<Entity>, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> SaveReport

  /// The model under `key`, or nil.
  ///
  /// - Throws: ``StoreError`` when it cannot be read.
  func get(_ key: Entity.Key) throws -> Model?

  /// The models under `keys` that exist, in the order of `keys`, from one moment.
  ///
  /// - Throws: ``StoreError`` when one cannot be read.
  func get(keys: [Entity.Key]) throws -> [Model]

  /// The models under `keys` that exist and can be read, in the order of `keys`, from one moment.
  /// The others are reported, as ``Query/skippingUnreadable(_:)`` does.
  ///
  /// - Throws: ``StoreError``, but not for a model that cannot be read.
  func get(
    keys: [Entity.Key], skippingUnreadable report: @escaping @Sendable (UnreadableDocument) -> Void
  ) throws -> [Model]

  /// The models of what `query` selects, in its order.
  ///
  /// - Throws: ``StoreError`` when one cannot be read.
  func fetch(_ query: Query<Entity>) throws -> [Model]

  /// How many models ``fetch(_:)`` would give.
  ///
  /// - Throws: ``StoreError`` when one cannot be read.
  func count(_ query: Query<Entity>) throws -> Int

  /// A page of the models of what `query` selects; its limit is the size of the page, and an offset
  /// holds for the first one. See ``PageCursor`` for what a page is while the data change.
  ///
  /// - Throws: ``StoreError/cursorRefused(collection:reason:)`` for a cursor of another query;
  ///   ``StoreError`` when a model cannot be read.
  func page(_ query: Query<Entity>, after cursor: PageCursor?) throws -> Page<Model>

  /// What an aggregate makes of the entities that `query` selects and that have a model: what
  /// `sum(_:of:)` and its like call.
  ///
  /// - Throws: ``StoreError`` when a field cannot be read; what the aggregate throws.
  func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>
  ) throws -> Result

  /// The models of what `query` selects, and from then on how they change: after each element
  /// they are what ``fetch(_:)`` would have given at one moment. Every iteration begins with what
  /// is stored.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others.
  func watch(
    _ query: Query<Entity>, ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<ResultChange<Model>>

  /// What an aggregate makes of what `query` selects, at one moment and then each time that it has
  /// changed. Every iteration begins with what is stored.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others.
  func watch<Result: Sendable & Equatable>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>,
    ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<Result>

  /// The key of the entity that a model is kept as, whether it is kept already or not.
  func entityAccessorKey(_ model: Model) -> Entity.Key

  /// Deletes the entities that `query` matches, whether they have a model or not; returns how
  /// many they were. Its order is ignored.
  ///
  /// - Throws: ``StoreError``, among them ``StoreError/queryNotAllowed(operation:reason:)`` for a
  ///   limit or an offset. Nothing is deleted then.
  @discardableResult
  func delete(_ query: Query<Entity>, as origin: ChangeOrigin) throws -> Int

  /// Deletes what `query` matches, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began. Nothing is deleted
  ///   then.
  @discardableResult
  func delete(_ query: Query<Entity>, as origin: ChangeOrigin) async throws -> Int

  /// Deletes the entities under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``. Nothing is deleted then.
  @discardableResult
  func delete(keys: [Entity.Key], as origin: ChangeOrigin) throws -> Int

  /// Deletes the entities under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began. Nothing is deleted then.
  @discardableResult
  func delete(keys: [Entity.Key], as origin: ChangeOrigin) async throws -> Int

  /// Deletes every entity; returns how many there were.
  ///
  /// - Throws: ``StoreError``. Nothing is deleted then.
  @discardableResult
  func eraseAllData(as origin: ChangeOrigin) throws -> Int

  /// Deletes every entity; returns how many there were.
  ///
  /// - Throws: ``StoreError``, and `CancellationError` before it began. Nothing is deleted then.
  @discardableResult
  func eraseAllData(as origin: ChangeOrigin) async throws -> Int
}

// MARK: Unreadable models

extension Repository {
  /// For repositories that have no way of their own: each key is read by itself, so that the models
  /// need not be of one moment.
  public func get(
    keys: [Entity.Key], skippingUnreadable report: @escaping @Sendable (UnreadableDocument) -> Void
  ) throws -> [Model] {
    let handler = UnreadableHandler(report: report)
    return try keys.compactMap { key in try handler.skipping { try get(key) } }
  }
}

// MARK: Without a mapper

/// What repositories of documents need not write themselves.
extension Repository where Model == Entity {
  public func page(_ query: Query<Entity>, after cursor: PageCursor?) throws -> Page<Model> {
    let query = try cursor.map { try query.after($0) } ?? query
    var builder = PageBuilder<Model>(query.selection)
    if builder.limit == 0 { return Page(models: [], next: nil) }
    if query.selection.needsStatistics {
      // A rank depends on models that are not fetched.
      var everything = Query<Entity>()
      everything.selection.unreadable = query.selection.unreadable
      return try query.page(of: fetch(everything))
    }
    var selected = query
    selected.selection.maximum = builder.wanted == .max ? nil : builder.wanted
    selected.selection.skipped = 0
    for model in try fetch(selected) {
      if builder.isFull || builder.isSkipping {
        if builder.pass() { continue } else { break }
      }
      builder.models.append(model)
      if builder.isFull {
        let order = query.selection.order
        builder.last = (
          try Aggregate<Entity, [Value]>.sortValues(order).value(of: CollectionOfOne(model)),
          model.entityAccessorKey.withEncodedKey { [UInt8]($0) }
        )
      }
    }
    return builder.page(in: Entity.schema.name)
  }

  public func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>
  ) throws -> Result {
    try aggregate.value(of: fetch(query))
  }
}

extension Aggregate where Result == [Value] {
  /// What the last document is sorted by.
  fileprivate static func sortValues(_ order: [SortKey]) -> Self {
    Self(inOrderFromIndex: { _, _, _ in nil }) { collection, rows in
      let evaluation = Evaluation(.constant(true), order: order, in: collection)
      var values: [Value] = []
      try rows { _, record in
        values = try evaluation.sortValues(record)
        return true
      }
      return values
    }
  }
}
