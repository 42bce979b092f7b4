internal import LarderLMDB

extension WriteScope {
  /// Drops the change log, with all that it has of documents as they were before they were changed or deleted.
  ///
  /// ```swift
  /// try await store.write { tx in
  ///   try tx.eraseAllData(of: Contact.self)
  ///   try tx.forgetHistory()
  /// }
  /// ```
  /// For data that have to go when a user signs out. A watcher that has not seen the last changes reads its query
  /// anew, a named consumer begins with a reset, and tokens of before are answered with one. The bytes stay in free
  /// pages of the file until `compact()` has run. Takes time in proportion to the pages of the log.
  ///
  /// - Throws: ``StoreError/storage(_:)``. Let it through, so that nothing is kept.
  public mutating func forgetHistory() throws {
    try wholly { scope in
      try scope.transaction.empty(scope.log)
      scope.hasWrittenMore = true
    }
  }

  /// Drops the change log where it has something of a collection that is described in another way from now on: keys
  /// and records in it would be read wrongly.
  mutating func forgetHistory(unreadableBy description: CollectionDescription) throws {
    guard let stored = catalogue[description.name]?.description, !description.reads(stored) else {
      return
    }
    if try hasHistory(of: description.name) { try forgetHistory() }
  }

  private borrowing func hasHistory(of name: String) throws -> Bool {
    var cursor = try transaction.cursor(in: log)
    var isThere = try cursor.first()
    while isThere {
      // One that cannot be read may be of this collection.
      guard let pack = try? ChangePackReader(cursor.value, firstSequence: 0) else { return true }
      if pack.header.collection == name { return true }
      isThere = try cursor.next()
    }
    return false
  }
}

extension CollectionDescription {
  /// Whether keys and records that were written by an earlier description mean the same by this one.
  fileprivate func reads(_ earlier: CollectionDescription) -> Bool {
    keyKind == earlier.keyKind && tables.count >= earlier.tables.count
      && zip(tables, earlier.tables).allSatisfy { table, old in
        table.fields.count >= old.fields.count
          && zip(table.fields, old.fields).allSatisfy { $0.name == $1.name }
      }
  }
}
