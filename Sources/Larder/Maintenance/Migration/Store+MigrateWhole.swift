internal import LarderLMDB

extension Store {
  /// Brings the whole store from one version to the next, in one transaction, once: for what
  /// concerns several collections, such as renaming or splitting one.
  ///
  /// ```swift
  /// try await store.migrate(to: 2) { tx in
  ///   try tx.rename(store.collection("Contact"), to: "Person")
  /// }
  /// ```
  /// Call it after the store was opened, for every version that there was, in their order. Where
  /// the store stands at `version` or above, `body` is not run; a store without documents begins
  /// at it. A store begins at version 1, which has nothing to do with those of its collections.
  ///
  /// - Parameter body: As in `write(_:)`; it may run again from its start.
  /// - Returns: Whether `body` was run and kept.
  /// - Throws: Whatever `body` throws, or ``StoreError``, such as
  ///   ``StoreError/versionSkipped(collection:stored:asked:)``; nothing is kept then.
  @discardableResult
  public func migrate(
    to version: Int, _ body: (inout WriteScope) throws -> Void
  ) throws -> Bool {
    guard try migrationState(of: .store).version < version else { return false }
    return try engine.storing { try engine.writer.run { try engine.migrate(to: version, body) } }
  }

  /// Brings the whole store from one version to the next on the store's own thread; as the
  /// synchronous one.
  ///
  /// Cancelling the task ends the wait for its turn, and for writers of other processes.
  ///
  /// - Throws: As there, and `CancellationError` before its turn has come; nothing is kept then.
  @discardableResult
  public func migrate(
    to version: Int, _ body: @escaping @Sendable (inout WriteScope) throws -> Void
  ) async throws -> Bool {
    guard try migrationState(of: .store).version < version else { return false }
    let engine = engine
    return try await engine.inLine { _ in try engine.migrate(to: version, body) }
  }

  /// The version that the store as a whole stands at, 1 until it is migrated.
  ///
  /// - Throws: ``StoreError``.
  public func version() throws -> Int { try migrationState(of: .store).version }
}

extension Engine {
  /// Runs in the writer's line; false where there was nothing to do.
  fileprivate func migrate(
    to version: Int, _ body: (inout WriteScope) throws -> Void
  ) throws -> Bool {
    let migrations = try madeMigrations()
    return try perform { scope in
      var state = try scope.transaction.migrationState(of: .store, in: migrations)
      guard state.version < version else { return false }
      let isEmpty = try scope.isEmpty()
      if !isEmpty {
        guard version == state.version + 1 else {
          throw StoreError.versionSkipped(
            collection: nil, stored: state.version, asked: version)
        }
        try body(&scope)
      }
      state.version = version
      try scope.put(state, of: .store, in: migrations)
      return !isEmpty
    }
  }
}

extension WriteScope {
  fileprivate borrowing func isEmpty() throws -> Bool {
    for collection in catalogue.collections.values {
      guard try transaction.statistics(of: collection.documents).entryCount == 0 else {
        return false
      }
    }
    return true
  }

  /// Moves all documents of a collection to another name, with their fields, indexes and the
  /// version that they stand at; the old one is left without documents. Costs a copy of every
  /// record.
  ///
  /// A synced collection keeps its name, by which a remote knows its documents: under another one each client would
  /// send what it has, and undo what others have changed since. `@Document(as:)` gives the type another name.
  ///
  /// - Parameter name: Of a collection that does not exist, or holds nothing. If the change log has anything of that
  ///   one, such as the deletion of its last document, the log begins anew, as with ``forgetHistory()``.
  /// - Returns: How many documents were moved.
  /// - Throws: ``StoreError/collectionExists(_:)``, ``StoreError/collectionName(_:reason:)``,
  ///   ``StoreError/unfinishedMigration(collection:version:)``,
  ///   ``StoreError/renamingSynced(collection:)``, and
  ///   ``StoreError/damagedRecord(collection:key:reason:)`` for the first record that cannot be
  ///   read; the body should let it through, so that nothing is kept.
  @discardableResult
  public mutating func rename(
    _ collection: DynamicCollection, to name: String
  ) throws -> Int {
    let name = try Layout.checkedCollectionName(name)
    guard let source = catalogue[collection.name], name != source.name else { return 0 }
    try source.checkMigrated()
    if source.description.isSynced { throw StoreError.renamingSynced(collection: source.name) }
    guard let empty = catalogue[name] else {
      undeclared = try Declaration(
        name: name, keyKind: source.keyKind, keyField: source.description.keyField,
        shape: InferredShape())
      throw DeclarationNeeded()
    }
    guard try transaction.statistics(of: empty.documents).entryCount == 0 else {
      throw StoreError.collectionExists(name)
    }
    if empty.description.isSynced { throw StoreError.renamingSynced(collection: name) }
    return try wholly { scope in
      try scope.describe(source.description.renamed(to: name))
      try scope.moveIndexes(of: source.name, to: name)
      guard let source = scope.catalogue[source.name], let target = scope.catalogue[name] else {
        return 0
      }
      let count = try scope.copy(from: source, to: target)
      _ = try scope.eraseAllData(of: source)
      if let migrations = scope.migrations {
        let state = try scope.transaction.migrationState(
          of: .collection(source.name), in: migrations)
        try scope.put(state, of: .collection(name), in: migrations)
        try scope.put(nil, of: .collection(source.name), in: migrations)
      }
      return count
    }
  }

  /// Copies records as they are, under the checksums of another collection with the same tables.
  private mutating func copy(from source: Collection, to target: Collection) throws -> Int {
    // Without its indexes: they came with their entries, which are of the same keys.
    let binding = CollectionBinding(Collection(target.description, documents: target.documents))
    let limits = MigrationLimits()
    var lastKey: [UInt8]?
    var count = 0
    while true {
      var builder = BatchBuilder(binding, count: limits.documentCount)
      var byteCount = 0
      do {
        var cursor = try transaction.cursor(in: source.documents)
        var hasRecord = try cursor.moveBehind(lastKey)
        while hasRecord, builder.entries.count < limits.documentCount,
          byteCount < limits.byteCount
        {
          byteCount += cursor.value.count
          let body: UnsafeRawBufferPointer
          do {
            body = try source.verified(cursor.value, key: cursor.key)
          } catch {
            throw CollectionBinding(source).damaged(cursor.key, error)
          }
          try builder.append(body: body, key: cursor.key)
          lastKey = [UInt8](cursor.key)
          hasRecord = try cursor.next()
        }
      }
      let batch = Batch(builder)
      if batch.isEmpty { return count }
      count += try apply(batch, clearing: nil, binding).inserted
    }
  }
}

extension CollectionDescription {
  fileprivate func renamed(to name: String) -> CollectionDescription {
    var copy = CollectionDescription(name: name, keyKind: keyKind, keyField: keyField)
    copy.tables = tables
    copy.documentTable = documentTable
    copy.isLogged = isLogged
    return copy
  }
}
