internal import LarderLMDB

extension WriteScope {
  /// Deletes the document under `key`; false when there is none, or one with an unsent edit that a write as
  /// ``ChangeOrigin/sync`` leaves alone.
  ///
  /// - Throws: ``StoreError/storage(_:)``.
  @discardableResult
  public mutating func delete<Entity: Document>(
    _ type: Entity.Type, _ key: Entity.Key
  ) throws -> Bool {
    try delete(type, keys: CollectionOfOne(key)) == 1
  }

  /// Deletes the documents under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError/storage(_:)``.
  @discardableResult
  public mutating func delete<Entity: Document>(
    _ type: Entity.Type, keys: some Sequence<Entity.Key>
  ) throws -> Int {
    guard let collection = try catalogue.binding(of: type)?.collection else { return 0 }
    return try delete(keys: keys, collection)
  }

  /// Deletes what is stored under the document's key, whether it is equal to the document or not; false
  /// where there is nothing.
  ///
  /// - Throws: ``StoreError/storage(_:)``.
  @discardableResult
  public mutating func delete<Entity: Document>(_ document: Entity) throws -> Bool {
    try delete(Entity.self, document.entityAccessorKey)
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      write `delete(Contact.self, key)`, with the type of the document that is stored under the key
      """
  )
  @discardableResult
  public mutating func delete(_ key: some DocumentKey) throws -> Bool { fatalError("unavailable") }

  mutating func delete(
    keys: some Sequence<some DocumentKey>, _ collection: Collection
  ) throws -> Int {
    try change(of: collection) { scope, changes in
      var deleted = 0
      var cursor = try scope.transaction.cursor(in: collection.documents)
      for key in keys {
        let isFound = try key.withEncodedKey { try scope.delete($0, at: &cursor, &changes) }
        if isFound { deleted += 1 }
      }
      return deleted
    }
  }

  /// Deletes the document under `key`; false where there is none, or none that may be changed. Whatever deletes single
  /// documents does it here, and so follows their order in the log and its bounds.
  ///
  /// - Parameters:
  ///   - cursor: Of the collection's documents.
  ///   - evidence: Given where a document is deleted for what its bytes say: they must be right.
  mutating func delete(
    _ key: UnsafeRawBufferPointer, at cursor: inout Cursor, _ changes: inout DocumentChanges,
    _ evidence: Evidence? = nil
  ) throws -> Bool {
    guard (1...KeyKind.maximumByteCount).contains(key.count), try cursor.seek(key) else {
      return false
    }
    if changes.keepsEdits, try !changes.mayChange(key, transaction) { return false }
    try evidence?.check(cursor.value, key: key)
    hasDeleted = true
    try changes.deleted(cursor.value, key: key, transaction)
    try cursor.delete()
    if changes.isFull { try changes.flushIfFull(&transaction) }
    return true
  }

  /// Deletes what `query` matches; returns how many documents that were. Its order is ignored.
  ///
  /// - Throws: ``StoreError/queryNotAllowed(operation:reason:)`` for a limit or an offset;
  ///   ``StoreError/damagedRecord(collection:key:reason:)`` when a document that a filter matches,
  ///   or a field that it asks for, cannot be read;
  ///   ``StoreError/damagedIndex(collection:index:reason:)``. Let it through, so that nothing is
  ///   kept.
  @discardableResult
  public mutating func delete<Entity: Document>(_ query: Query<Entity>) throws -> Int {
    try query.selection.checkMatchesWhole("delete")
    guard let binding = try catalogue.binding(of: Entity.self) else { return 0 }
    return try delete(query.selection, binding)
  }

  mutating func delete(_ selection: Selection, _ binding: CollectionBinding) throws -> Int {
    try change(of: binding.collection) { scope, changes in
      try scope.clear(selection, binding, keeping: [], &changes).count
    }
  }

  /// Deletes every document of the type's collection; returns how many there were. Costs what
  /// the pages cost, not the documents.
  ///
  /// A remote is not told: of a collection that is synced only the local copy is erased, with what was
  /// not sent yet, and the next sync loads it anew. To delete the documents there as well, delete what a
  /// query matches.
  ///
  /// - Throws: ``StoreError/storage(_:)``.
  @discardableResult
  public mutating func eraseAllData<Entity: Document>(of type: Entity.Type) throws -> Int {
    guard let collection = catalogue[Entity.schema.name] else { return 0 }
    return try eraseAllData(of: collection)
  }

  mutating func eraseAllData(of collection: Collection) throws -> Int {
    let count = try transaction.statistics(of: collection.documents).entryCount
    // Of one that a remote has there may be deletions that were not sent, and what is known of the remote.
    let isOfRemote = try collection.description.isSynced || hasBases(collection.name)
    guard count > 0 || isOfRemote else { return 0 }
    try change(of: collection) { scope, changes in
      if isOfRemote, !collection.description.isSynced { try scope.eraseBases(of: collection.name) }
      try scope.transaction.empty(collection.documents)
      for index in collection.indexes { try scope.transaction.empty(index.database) }
      changes.erased()
    }
    return count
  }
}
