internal import LarderLMDB

// Indexes whose entries were made by another version of Unicode or of the tokenizer, or in an older
// format, are built anew, each in its own place. Opening the store waits for no write: they stand first
// in the writer's line, before all that this opening writes, and nobody uses them meanwhile.

extension Engine {
  /// Finds out which indexes are to be built anew; called once, when the store is opened.
  func findIndexesToRenew() {
    guard !environment.options.isReadOnly else { return }
    let stale = catalogue.indexes.filter { $0.value.isInUse && !$0.value.definition.isCurrent }
    indexWork.withLock { $0.numbersToRenew = Set(stale.keys) }
  }

  /// Has them built anew, one after the other. Called in the writer's line only.
  ///
  /// - Parameters:
  ///   - collection: Whose indexes are meant; nil for all.
  ///   - inBackground: Whether nobody has asked for it. One that fails is passed over then, and tried again
  ///     later.
  /// - Throws: In the background only where it gave way. Those before the one that failed are renewed.
  func renewIndexes(of collection: String? = nil, inBackground: Bool = false) throws {
    while let (number, record) = nextIndexToRenew(of: collection, inBackground) {
      do {
        try renewIndex(number, drainSeconds: inBackground ? 0 : nil)
        indexWork.withLock { $0.hasRenewed(number) }
      } catch {
        guard inBackground, !error.hasGivenWay else { throw error }
        // Whoever opens it again, or writes next, goes on.
        if isClosure(error) { return }
        passOver(number, record, error)
      }
    }
  }

  /// The same from outside of the writer's line, where there are any.
  func renewIndexesFirst(of collection: String) throws {
    guard hasNumbersToRenew else { return }
    if writer.isInLine { throw StoreError.nestedWrite }
    try writer.run { try renewIndexes(of: collection) }
  }

  /// Whether there are any, or those that the background passes over.
  var hasNumbersToRenew: Bool { indexWork.withLock { !$0.numbersToRenew.isEmpty } }

  private func nextIndexToRenew(
    of collection: String?, _ inBackground: Bool
  ) -> (number: UInt32, record: IndexRecord)? {
    let catalogue = catalogue
    let meant = collection.map { name in
      Set(catalogue.indexes.filter { $0.value.definition.collection == name }.keys)
    }
    while let number = indexWork.withLock({
      $0.nextToRenew(among: meant, inBackground: inBackground)
    }) {
      if let record = catalogue.indexes[number], catalogue.mustRenew(record) {
        return (number, record)
      }
      indexWork.withLock { $0.hasRenewed(number) }
    }
    return nil
  }

  private func renewIndex(_ number: UInt32, drainSeconds: Double?) throws {
    do {
      try perform(drainSeconds: drainSeconds) { try $0.renewIndex(number, buildsAtOnce: true) }
    } catch  where shortage(error) != nil {
      try perform(drainSeconds: drainSeconds) { try $0.renewIndex(number, buildsAtOnce: false) }
    }
  }

  private func passOver(_ number: UInt32, _ record: IndexRecord, _ error: any Error) {
    if let shortage = shortage(error) { return wait(number, record, with: shortage) }
    indexWork.withLock { $0.passOver(number) }
    log.tell(
      .warning, "an index cannot be built anew yet",
      [
        "collection": record.definition.collection, "index": record.definition.name,
        "error": "\(error)",
      ])
  }

  private func isClosure(_ error: any Error) -> Bool {
    switch (error as? LMDBError).map({ StoreError($0) }) ?? error as? StoreError {
    case .closed?, .suspended?: true
    default: false
    }
  }
}

extension Catalogue {
  fileprivate func mustRenew(_ record: IndexRecord) -> Bool {
    record.isInUse && !record.definition.isCurrent
      // The end of a migration has them built anew, too.
      && self[record.definition.collection]?.description.migratingTo == nil
  }
}

extension WriteScope {
  /// Empties an index, to be built anew under the same number: other databases than there are may not
  /// be had.
  ///
  /// - Parameter buildsAtOnce: Whether that of a small collection is filled.
  fileprivate mutating func renewIndex(_ number: UInt32, buildsAtOnce: Bool) throws {
    guard let old = catalogue.indexes[number], catalogue.mustRenew(old),
      let collection = catalogue[old.definition.collection]
    else { return }
    try changeIndexes(of: collection.name) { scope, index, record in
      guard index.number == number else { return record }
      guard let definition = record.definition.renewed(in: collection.description) else {
        return IndexRecord(record.definition, .dropped)
      }
      try scope.transaction.empty(index.database)
      let new = IndexRecord(definition, .building(upTo: []), superseded: record.superseded)
      return buildsAtOnce ? try scope.builtAtOnce(new, number, collection) : new
    }
  }
}
