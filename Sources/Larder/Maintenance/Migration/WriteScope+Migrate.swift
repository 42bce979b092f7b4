internal import LarderLMDB

/// Has a batch of a migration written once more without an index whose values clash for the moment.
struct PostponedIndex: Error {
  let name: String
}

/// What one transaction of a migration did.
struct MigrationStep: Sendable {
  /// What it did, with the version that the collection stands at.
  var report: MigrationReport
  /// Nil where there was nothing to do.
  var progress: StoreProgress?
  /// Whether nothing is left to do.
  var isLast = true
}

extension WriteScope {
  /// Migrates the next documents of a collection, and notes in the same transaction how far it
  /// came. Where it stops half-way, nothing of it is kept.
  ///
  /// - Parameters:
  ///   - keyKind: Nil where the caller does not know it.
  ///   - postponed: Unique indexes that are built anew at the end.
  ///   - ahead: What was found out about the documents behind the batch.
  /// - Throws: ``PostponedIndex`` for one that has to be; ``LookAhead`` where something is to be found out.
  mutating func migrate(
    _ name: String, keyKind: KeyKind?, to version: Int, limits: MigrationLimits,
    in migrations: Database, postponing postponed: Set<String> = [],
    knowing ahead: LookAhead? = nil,
    _ body: (inout MigratingDocument) throws -> Void
  ) throws -> MigrationStep {
    try wholly { scope in
      let subject = MigrationState.Subject.collection(name)
      var state = try scope.transaction.migrationState(of: subject, in: migrations)
      let before = state
      guard let isFirst = try scope.begin(&state, name, keyKind: keyKind, to: version) else {
        if state != before { try scope.put(state, of: subject, in: migrations) }
        return MigrationStep(report: MigrationReport(version: state.version))
      }
      guard let collection = scope.catalogue[name],
        collection.description.migratingTo == version
      else { throw StoreError.damagedCatalogue("\(name) is in no migration to \(version)") }

      var batch = try MigrationBatch(collection, after: state.lastKey, limits, scope.transaction)
      try batch.change(to: version, scope.transaction, body)
      try scope.suspendIndexes(of: name, named: postponed)
      let (sequence, totalCount) = (scope.state.sequence, state.totalCount)
      let doneCount = state.doneCount + batch.documents.count
      let isKnown = try ahead.map { ahead in
        try !ahead.isBroken && (!isFirst || !scope.hasChanged(name, since: ahead.sequence))
      }
      try scope.write(batch, hasEarlier: !isFirst) { [batch] change, transaction in
        if batch.isLast { return }
        if let ahead, ahead.fields == change.fields, isKnown == true {
          change = ahead.change
          return
        }
        var next = LookAhead(
          behind: batch, to: version, change, sequence: sequence,
          earlierCount: ahead.map { $0.earlierCount + 1 } ?? 0,
          totalCount: max(0, totalCount - doneCount))
        // Others do not cease to write. They have to wait now, or this would never end.
        guard next.earlierCount == LookAhead.mostCount else { throw next }
        try next.visitAll(limits, transaction, body)
        change = next.change
      }

      state.doneCount = doneCount
      let progress = StoreProgress(
        .migrating, completed: state.doneCount,
        total: batch.isLast ? state.doneCount : max(state.totalCount, state.doneCount),
        documentCount: state.doneCount, subject: name)
      if batch.isLast {
        state = MigrationState(version: version)
        try scope.endMigration(of: name)
      } else {
        state.lastKey = batch.documents.last?.storedKey
      }
      try scope.put(state, of: subject, in: migrations)
      return MigrationStep(
        report: MigrationReport(
          version: state.version, migrated: batch.documents.count,
          deleted: batch.documents.count { $0.content.isDeleted }),
        progress: progress, isLast: batch.isLast)
    }
  }

  /// Whether documents of a collection have changed, as far as the log can tell.
  private borrowing func hasChanged(_ name: String, since sequence: UInt64) throws -> Bool {
    var isChanged = false
    let isWhole = try transaction.forEachPack(after: sequence, head: state.sequence, in: log) {
      isChanged = $0.header.collection == name
      return !isChanged
    }
    return isChanged || !isWhole
  }

  /// Begins the migration where it has not begun; nil where there is nothing to migrate.
  ///
  /// - Returns: Whether no batch was written before.
  private mutating func begin(
    _ state: inout MigrationState, _ name: String, keyKind: KeyKind?, to version: Int
  ) throws -> Bool? {
    if version <= state.version { return nil }
    let collection = catalogue[name]
    if state.target == nil, let target = collection?.description.migratingTo {
      // The documents were saved from a damaged store, and this was not. Those of the new version
      // are told by their table.
      state = MigrationState(version: target - 1, target: target)
    }
    if let target = state.target {
      guard target == version else {
        throw StoreError.unfinishedMigration(collection: name, version: target)
      }
      return false
    }
    if let keyKind, let stored = collection?.keyKind, stored != keyKind {
      throw StoreError.keyKind(collection: name, stored: stored, found: keyKind)
    }
    guard let collection,
      case let count = try transaction.statistics(of: collection.documents).entryCount, count > 0
    else {
      // What is new begins at the newest version.
      state.version = version
      return nil
    }
    guard version == state.version + 1 else {
      throw StoreError.versionSkipped(collection: name, stored: state.version, asked: version)
    }
    state.target = version
    state.totalCount = count
    var description = collection.description
    try description.beginMigration(to: version)
    try describe(description)
    return true
  }

  private mutating func endMigration(of name: String) throws {
    guard var description = catalogue[name]?.description else { return }
    description.migratingTo = nil
    try describe(description)
    try renewIndexes(of: name)
  }

  /// Writes what the closure left of a batch.
  private mutating func write(
    _ batch: MigrationBatch, hasEarlier: Bool, _ lookAhead: MigratedShape.LookAhead
  ) throws {
    let collection = batch.collection
    var shape = MigratedShape(collection, hasEarlier: hasEarlier)
    let records = try shape.encode(batch, transaction, lookAhead)
    if shape.description != collection.description {
      try describe(shape.description)
      try suspendIndexes(of: collection.name)
    }
    guard let collection = catalogue[collection.name] else { return }
    do {
      try replace(batch.vacated, by: records, CollectionBinding(collection))
    } catch StoreError.uniqueViolation(let name, let index, let value, let key, let otherKey) {
      // The other one may get another value: which documents a batch has makes no difference.
      guard let other = CollectionOutline(collection).key(described: otherKey),
        !batch.documents.contains(where: { $0.storedKey == other }),
        try isToMigrate(other, in: collection)
      else {
        throw StoreError.uniqueViolation(
          collection: name, index: index, value: value, key: key, otherKey: otherKey)
      }
      throw PostponedIndex(name: index)
    }
  }

  private borrowing func isToMigrate(_ key: [UInt8], in collection: Collection) throws -> Bool {
    let binding = CollectionBinding(collection)
    return try key.withUnsafeBytes { key in
      try transaction.withValue(for: key, in: collection.documents) { record in
        try binding.reading(record, key: key) { $0.table != collection.documentTable }
      } ?? false
    }
  }

  /// In one change, as far as unique indexes are concerned.
  private mutating func replace(
    _ vacated: Set<[UInt8]>, by records: Batch, _ binding: CollectionBinding
  ) throws {
    let keys = vacated.sorted { $0.lexicographicallyPrecedes($1) }
    try rewriting { scope in
      try scope.change(of: binding.collection) { scope, changes in
        try scope.delete(keys, in: binding.collection, &changes)
        _ = try scope.apply(records, clearing: nil, binding, &changes)
      }
    }
  }
}

extension StoreLog {
  func tell(of step: MigrationStep, to version: Int) {
    guard let news = step.progress else { return }
    tell(
      step.isLast ? .info : .debug,
      step.isLast ? "a migration is finished" : "a batch was migrated",
      [
        "collection": news.subject ?? "", "version": "\(version)", "done": "\(news.completed)",
        "total": "\(news.total ?? 0)", "deleted": "\(step.report.deleted)",
      ])
  }
}
