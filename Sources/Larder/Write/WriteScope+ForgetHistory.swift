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
}
