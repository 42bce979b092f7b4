internal import LarderLMDB

/// A repository that keeps everything in memory and forgets it with the last reference: for
/// tests, previews and apps that are tried out. It behaves as a repository of a store does, with
/// the same reports and errors, and uses no file.
///
/// Reads see one moment and never wait for a write. Every write costs time in proportion to all
/// that is kept, so that it suits thousands of models and not millions.
public final class InMemoryRepository<Model: Sendable, Entity: Document>: Repository {
  private let mapper: any EntityMapper<Model, Entity>
  private let writer = Writer()
  private let contents: Locked<InMemoryCollection<Entity>>
  private let seats = Locked<[ObjectIdentifier: WatchSeat]>([:])

  /// Domain models, by way of the entities that `mapper` makes of them.
  public init(of type: Entity.Type = Entity.self, mappedBy mapper: any EntityMapper<Model, Entity>)
  {
    self.mapper = mapper
    contents = Locked(InMemoryCollection())
  }

  /// Documents without a mapper.
  public convenience init(of type: Entity.Type = Entity.self) where Model == Entity {
    self.init(mappedBy: Unmapped<Entity>())
  }

  /// Values of a plain `Codable` type.
  public convenience init(of type: Model.Type = Model.self)
  where Model: Codable & Identifiable, Model.ID: DocumentKey, Entity == CodableDocument<Model> {
    self.init(mappedBy: CodableMapper<Model>())
  }

  private var form: ModelForm<Model, Entity> { .mapped(by: mapper) }

  private var snapshot: InMemoryCollection<Entity> { contents.withLock { $0 } }

  /// Changes a copy, which takes the place of what is there unless `body` throws.
  private func write<Result>(
    as origin: ChangeOrigin, _ body: (inout InMemoryCollection<Entity>) throws -> Result
  ) throws -> Result {
    try writer.run {
      try SyncPermit.needed(by: origin)?.ask()
      var changed = snapshot
      let before = changed.sequence
      let result = try body(&changed)
      changed.note(origin, after: before)
      contents.withLock { $0 = changed }
      for seat in seats.withLock({ Array($0.values) }) { seat.signal(after: 0) }
      return result
    }
  }
}

// MARK: Synchronously

extension InMemoryRepository {
  /// Saves models, as every repository does.
  ///
  /// - Throws: ``StoreError``, or whatever the policy throws; nothing is changed then.
  @discardableResult
  public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) throws -> SaveReport {
    try query?.selection.checkMatchesWhole("clearBeforeSaving")
    return try write(as: origin) {
      try $0.save(models, mapper, clearing: query?.selection, policy, as: origin)
    }
  }

  /// Changes the model under `key` in one step, as every repository does.
  ///
  /// - Throws: ``StoreError``, or whatever `body` throws; nothing is changed then.
  @discardableResult
  public func update(
    _ key: Entity.Key, as origin: ChangeOrigin, _ body: (inout Model) throws -> Void
  ) throws -> Model? {
    try write(as: origin) { try $0.update(key, mapper, as: origin, body) }
  }

  /// Changes the models that `query` selects in one step, as every repository does.
  ///
  /// - Throws: ``StoreError``, or whatever `body` throws; nothing is changed then.
  @discardableResult
  public func update(
    _ query: Query<Entity>, as origin: ChangeOrigin, _ body: (inout Model) throws -> Void
  ) throws -> SaveReport {
    try write(as: origin) { try $0.update(query.selection, mapper, as: origin, body) }
  }

  /// The model under `key`, or nil.
  ///
  /// - Throws: ``StoreError`` when the entity cannot be read back, as when its type writes
  ///   something that it cannot read.
  public func get(_ key: Entity.Key) throws -> Model? {
    try snapshot.entity(under: key).flatMap { mapper.convert($0) }
  }

  /// The models under `keys` that exist, in the order of `keys`, from one moment.
  ///
  /// - Throws: As ``get(_:)``.
  public func get(keys: [Entity.Key]) throws -> [Model] {
    let snapshot = snapshot
    return try keys.compactMap { key in
      try snapshot.entity(under: key).flatMap { mapper.convert($0) }
    }
  }

  /// The models of the entities that `query` selects, in its order.
  ///
  /// - Throws: As ``get(_:)``.
  public func fetch(_ query: Query<Entity>) throws -> [Model] {
    try snapshot.rows(query.selection, mapper).map(\.model)
  }

  /// A page of the models that `query` selects.
  ///
  /// - Throws: As ``get(_:)``; ``StoreError/cursorRefused(collection:reason:)`` for a cursor of
  ///   another query.
  public func page(_ query: Query<Entity>, after cursor: PageCursor?) throws -> Page<Model> {
    let query = try cursor.map { try query.after($0) } ?? query
    let snapshot = snapshot
    var selection = snapshot.ranked(query.selection)
    var builder = PageBuilder<Model>(selection)
    selection.maximum = builder.wanted
    selection.skipped = 0
    if builder.limit == 0 { return Page(models: [], next: nil) }
    for (row, model) in try snapshot.rows(selection, mapper) {
      if builder.isFull || builder.isSkipping {
        if builder.pass() { continue } else { break }
      }
      builder.models.append(model)
      if builder.isFull { builder.last = (row.values, row.key) }
    }
    return builder.page(in: Entity.schema.name)
  }

  /// What an aggregate makes of the entities with a model that `query` selects.
  ///
  /// - Throws: As ``get(_:)``; what the aggregate throws.
  public func aggregate<Result>(
    _ aggregate: Aggregate<Entity, Result>, of query: Query<Entity>
  ) throws -> Result {
    let snapshot = snapshot
    return try snapshot.aggregate(
      aggregate, of: snapshot.rows(aggregate.selection(of: query), mapper).lazy.map(\.row))
  }

  /// How many models ``fetch(_:)`` would give.
  ///
  /// - Throws: As ``get(_:)``.
  public func count(_ query: Query<Entity>) throws -> Int { try fetch(query).count }

  /// The key of the entity that a model is kept as.
  public func entityAccessorKey(_ model: Model) -> Entity.Key { mapper.entityAccessorKey(model) }

  /// Deletes the entities that `query` matches; returns how many they were.
  ///
  /// - Throws: ``StoreError/queryNotAllowed(operation:reason:)`` for a limit or an offset; nothing
  ///   is deleted then.
  @discardableResult
  public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) throws -> Int {
    try query.selection.checkMatchesWhole("delete")
    return try write(as: origin) { try $0.delete(query.selection) { _ in false } }
  }

  /// Deletes the entities under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError/nestedWrite`` inside a save of this repository; nothing is deleted
  ///   then.
  @discardableResult
  public func delete(keys: [Entity.Key], as origin: ChangeOrigin) throws -> Int {
    try write(as: origin) { contents in keys.count { contents.delete($0) } }
  }

  /// Deletes everything; returns how many entities there were.
  ///
  /// - Throws: ``StoreError/nestedWrite`` inside a save of this repository; nothing is deleted
  ///   then.
  @discardableResult
  public func eraseAllData(as origin: ChangeOrigin) throws -> Int {
    try write(as: origin) { contents in
      contents.erase()
    }
  }
}

// MARK: Watching

extension InMemoryRepository {
  /// The models of what `query` selects, and from then on how they change. Every step reads and
  /// compares everything.
  ///
  /// - Parameter ignored: Changes of these origins are no reason for a step; they come with the
  ///   next one that is made for others.
  public func watch(
    _ query: Query<Entity>, ignoring ignored: Set<ChangeOrigin>
  ) -> WatchSequence<ResultChange<Model>> {
    let reader = RowReader(query.selection, form)
    return WatchSequence { [self] in
      let seat = WatchSeat()
      seats.withLock { $0[ObjectIdentifier(seat)] = seat }
      let contents = contents
      let work = InMemoryWatch(
        query.selection, reader, ignoring: ignored
      ) { contents.withLock { $0 } }
      let watcher = Watcher(work, at: seat) { [self] in
        seats.withLock { $0[ObjectIdentifier(seat)] = nil }
      }
      watcher.follow(query.selection.growth?.limit)
      return watcher
    }
  }
}

// MARK: Asynchronously

extension InMemoryRepository {
  /// Saves models off the caller's actor, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before the save began; nothing is
  ///   changed then.
  @discardableResult
  @concurrent public func save(
    _ models: [Model], clearBeforeSaving query: Query<Entity>?,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) async throws -> SaveReport {
    try unlessCancelled {
      try save(models, clearBeforeSaving: query, onConflict: policy, as: origin)
    }
  }

  /// Changes the model under `key` in one step, off the caller's actor, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is changed
  ///   then.
  @discardableResult
  @concurrent public func update(
    _ key: Entity.Key, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> Model? {
    try unlessCancelled { try update(key, as: origin, body) }
  }

  /// Changes the models that `query` selects in one step, off the caller's actor, as the synchronous one does.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is changed
  ///   then.
  @discardableResult
  @concurrent public func update(
    _ query: Query<Entity>, as origin: ChangeOrigin,
    _ body: @escaping @Sendable (inout Model) throws -> Void
  ) async throws -> SaveReport {
    try unlessCancelled { try update(query, as: origin, body) }
  }

  /// Deletes the entities that `query` matches; returns how many they were.
  ///
  /// - Throws: As the synchronous one, and `CancellationError` before it began; nothing is deleted
  ///   then.
  @discardableResult
  @concurrent public func delete(_ query: Query<Entity>, as origin: ChangeOrigin) async throws
    -> Int
  {
    try unlessCancelled { try delete(query, as: origin) }
  }

  /// Deletes the entities under `keys`; returns how many there were.
  ///
  /// - Throws: `CancellationError` before it began; nothing is deleted then.
  @discardableResult
  @concurrent public func delete(keys: [Entity.Key], as origin: ChangeOrigin) async throws -> Int {
    try unlessCancelled { try delete(keys: keys, as: origin) }
  }

  /// Deletes everything; returns how many entities there were.
  ///
  /// - Throws: `CancellationError` before it began; nothing is deleted then.
  @discardableResult
  @concurrent public func eraseAllData(as origin: ChangeOrigin) async throws -> Int {
    try unlessCancelled { try eraseAllData(as: origin) }
  }

  /// Its closure is synchronous, so that the calls in it mean the synchronous functions.
  private func unlessCancelled<Result>(_ body: () throws -> Result) throws -> Result {
    try Task.checkCancellation()
    return try body()
  }
}
