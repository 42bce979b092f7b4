internal import LarderLMDB

extension Store {
  /// Brings the documents of a type's collection from one version to the next, batch by batch.
  ///
  /// ```swift
  /// try await store.migrate(Contact.self, to: 2) { contact in
  ///   if case .string(let text) = contact["order"] {
  ///     contact["order"] = .integer(Int64(text) ?? 0)
  ///   }
  /// }
  /// ```
  /// Call it before the collection is used, for every version that there was, in their order;
  /// where the collection stands at `version` or above it does nothing, and one without documents
  /// begins at it. Collections begin at version 1. Each batch is one transaction; a migration
  /// that was cut short goes on behind its last batch, and no document is migrated twice. Until
  /// it is finished the collection can be neither written nor read by a type, in any process:
  /// that throws ``StoreError/unfinishedMigration(collection:version:)``.
  ///
  /// Of the type only the collection's name and kind of key are used: a step must mean the same
  /// whatever has become of the type since. <doc:Evolution> has the rules.
  ///
  /// - Parameters:
  ///   - progress: Told after each batch, and while the documents are examined before the first one; what it throws ends
  ///     the migration there.
  ///   - change: Changes one document, which holds what is stored. It may run again for documents
  ///     of a batch that was not kept, so it should change nothing else.
  /// - Throws: ``MigrationError`` with what `change` threw, whatever `progress` throws, and
  ///   ``StoreError``: among them ``StoreError/versionSkipped(collection:stored:asked:)``,
  ///   ``StoreError/keyTaken(collection:key:taken:)``,
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)`` where a field would hold
  ///   two kinds, ``StoreError/damagedRecord(collection:key:reason:)``. The batches before are
  ///   kept.
  @discardableResult
  public func migrate<Entity: Document>(
    _ type: Entity.Type, to version: Int,
    progress: (StoreProgress) throws -> Void = { _ in },
    _ change: (inout MigratingDocument) throws -> Void
  ) throws -> MigrationReport {
    try Migration(of: type, to: version, in: self).run(progress, change)
  }

  /// Brings the documents of a type's collection from one version to the next, batch by batch, on
  /// the store's own thread; as the synchronous one. Other writes have their turn in between.
  ///
  /// Cancelling the task ends it before the next batch, also where that waits for other writers.
  ///
  /// - Throws: As the synchronous one, and `CancellationError`. The batches before are kept.
  @discardableResult
  public func migrate<Entity: Document>(
    _ type: Entity.Type, to version: Int,
    progress: @Sendable (StoreProgress) throws -> Void = { _ in },
    _ change: @escaping @Sendable (inout MigratingDocument) throws -> Void
  ) async throws -> MigrationReport {
    try await Migration(of: type, to: version, in: self).run(progress, change)
  }

  /// The version that the documents of a type's collection have: 1 until they are migrated, and
  /// the one before until a migration is finished.
  ///
  /// - Throws: ``StoreError``.
  public func version<Entity: Document>(of type: Entity.Type) throws -> Int {
    try collection(Entity.schema.name).version()
  }
}

extension DynamicCollection {
  /// Brings the documents from one version to the next, batch by batch; see
  /// `Store.migrate(_:to:progress:_:)`.
  ///
  /// - Throws: As there.
  @discardableResult
  public func migrate(
    to version: Int, progress: (StoreProgress) throws -> Void = { _ in },
    _ change: (inout MigratingDocument) throws -> Void
  ) throws -> MigrationReport {
    try Migration(of: self, to: version).run(progress, change)
  }

  /// Brings the documents from one version to the next, batch by batch, on the store's own thread.
  ///
  /// - Throws: As `Store.migrate(_:to:progress:_:)`, and
  ///   `CancellationError`.
  @discardableResult
  public func migrate(
    to version: Int, progress: @Sendable (StoreProgress) throws -> Void = { _ in },
    _ change: @escaping @Sendable (inout MigratingDocument) throws -> Void
  ) async throws -> MigrationReport {
    try await Migration(of: self, to: version).run(progress, change)
  }

  /// The version that the documents have; see ``Store/version(of:)``.
  ///
  /// - Throws: ``StoreError``.
  public func version() throws -> Int {
    try store.migrationState(of: .collection(name)).version
  }
}

extension Store {
  func migrationState(of subject: MigrationState.Subject) throws -> MigrationState {
    try checkOpen()
    defer { withExtendedLifetime(self) {} }
    return try engine.storing {
      // Before the snapshot: a handle serves only what begins after it.
      let migrations = try engine.migrations()
      return try engine.snapshot().transaction.migrationState(of: subject, in: migrations)
    }
  }
}

/// One migration of a collection, whose batches a caller runs.
struct Migration: Sendable {
  let store: Store
  let name: String
  let keyKind: KeyKind?
  let version: Int
  var limits = MigrationLimits()

  init<Entity: Document>(of type: Entity.Type, to version: Int, in store: Store) throws {
    self.store = store
    name = try Declaration(type).name
    keyKind = Entity.Key.keyKind
    self.version = version
  }

  init(of collection: DynamicCollection, to version: Int) throws {
    store = collection.store
    name = try Layout.checkedCollectionName(collection.name)
    keyKind = nil
    self.version = version
  }

  func run(
    _ progress: (StoreProgress) throws -> Void,
    _ change: (inout MigratingDocument) throws -> Void
  ) throws -> MigrationReport {
    var report = try currentReport()
    if report.version >= version { return report }
    var (limits, ahead) = (limits, nil as LookAhead?)
    var scale = ProgressScale()
    while true {
      try store.checkOpen()
      do {
        let step = try store.engine.storing {
          try store.engine.writer.run { try nextBatch(limits, change, knowing: ahead) }
        }
        ahead = nil
        report.add(step.report)
        if let news = step.progress { try progress(scale.scaled(news)) }
        if step.isLast { return report }
        try Task.checkCancellation()
      } catch StoreError.full where limits.halve() {
        // The same documents once more, in a smaller batch.
      } catch var next as LookAhead {
        while !next.isDone {
          try next.visit(self.limits, in: store, change)
          try scale.news(of: next).tell(progress)
        }
        scale.begin()
        ahead = next
      }
    }
  }

  func run(
    _ progress: @Sendable (StoreProgress) throws -> Void,
    _ change: @escaping @Sendable (inout MigratingDocument) throws -> Void
  ) async throws -> MigrationReport {
    var report = try currentReport()
    if report.version >= version { return report }
    var (limits, ahead) = (limits, nil as LookAhead?)
    var scale = ProgressScale()
    while true {
      try store.checkOpen()
      do {
        let step = try await store.engine.inLine { [limits, ahead] _ in
          try nextBatch(limits, change, knowing: ahead)
        }
        ahead = nil
        report.add(step.report)
        if let news = step.progress { try progress(scale.scaled(news)) }
        if step.isLast { return report }
        try Task.checkCancellation()
      } catch StoreError.full where limits.halve() {
        // The same documents once more, in a smaller batch.
      } catch var next as LookAhead {
        while !next.isDone {
          next = try await DiskWork.run({ _ in }) { [next] _ in
            var next = next
            try next.visit(self.limits, in: store, change)
            return next
          }
          try scale.news(of: next).tell(progress)
        }
        scale.begin()
        ahead = next
      }
    }
  }

  /// Most calls find nothing to do, and then write nothing.
  private func currentReport() throws -> MigrationReport {
    MigrationReport(version: try store.migrationState(of: .collection(name)).version)
  }

  /// Runs in the writer's line.
  private func nextBatch(
    _ limits: MigrationLimits, _ change: (inout MigratingDocument) throws -> Void,
    knowing ahead: LookAhead?
  ) throws -> MigrationStep {
    let engine = store.engine
    let migrations = try engine.madeMigrations()
    var postponed: Set<String> = []
    do {
      while true {
        do {
          let step = try engine.perform { scope in
            try scope.migrate(
              name, keyKind: keyKind, to: version, limits: limits, in: migrations,
              postponing: postponed, knowing: ahead, change)
          }
          engine.log.tell(of: step, to: version)
          return step
        } catch let index as PostponedIndex where !postponed.contains(index.name) {
          postponed.insert(index.name)
        }
      }
    } catch let error as LMDBError where error.code == .cancelled {
      throw error
    } catch let ahead as LookAhead {
      throw ahead
    } catch StoreError.full(let shortage) where !limits.areLeast {
      // Nothing has stopped yet: a smaller batch is tried.
      throw StoreError.full(shortage)
    } catch {
      engine.log.tell(
        .error, "a migration has stopped", ["collection": name, "version": "\(version)"])
      throw error
    }
  }
}

/// How the passes of a look-ahead and the batches behind them make one fraction, which only grows.
private struct ProgressScale {
  /// The fraction of all documents that were migrated before the batches that follow, and what is told of them.
  private var (start, toldStart) = (0.0, 0.0)
  /// The same of the last news.
  private var (last, toldLast) = (0.0, 0.0)

  /// News of batches.
  mutating func scaled(_ news: StoreProgress) -> StoreProgress {
    var news = news
    last = news.fraction ?? last
    if start < 1 { toldLast = toldStart + (last - start) / (1 - start) * (1 - toldStart) }
    news.fraction = toldLast
    return news
  }

  /// News of a pass, which takes half of what is left.
  mutating func news(of ahead: LookAhead) -> StoreProgress {
    let share =
      ahead.isDone ? 1 : min(1, Double(ahead.visitedCount) / Double(max(1, ahead.totalCount)))
    return StoreProgress(
      .examining, completed: ahead.visitedCount, total: max(ahead.totalCount, ahead.visitedCount),
      fraction: toldLast + (1 - toldLast) / 2 * share, documentCount: nil,
      subject: ahead.collection.name)
  }

  /// A pass has ended, and batches follow.
  mutating func begin() {
    toldLast += (1 - toldLast) / 2
    (start, toldStart) = (last, toldLast)
  }
}

extension MigrationReport {
  fileprivate mutating func add(_ step: MigrationReport) {
    version = step.version
    migrated += step.migrated
    deleted += step.deleted
  }
}
