internal import LarderLMDB

// How search indexes are built, merged, and built anew where they are damaged. Documents are never
// concerned: searches read them one by one meanwhile.

/// Why a search index is built anew.
enum SearchRebuildReason: String {
  case damage = "it was damaged"
  case noRoom = "there was no room to delete from it"
  case outOfIDs = "its ids have come to their end"
  case noTokenizer = "a process without its tokenizer has saved documents"
}

extension WriteScope {
  /// Puts the next documents into a search index; returns its state after that.
  mutating func buildSearch(
    _ index: CollectionIndex, _ collection: Collection, after position: [UInt8], count: Int
  ) throws -> IndexState {
    let changes = SearchIndexChanges(index, in: collection)
    guard changes.hasTokenizer else { return index.state }
    let last = try LentTransaction(transaction).forEachDocument(
      of: collection, after: position, count: count
    ) { record, key in
      // Writers may have put it there already.
      changes.put(record, key: key)
      return !changes.isLarge
    }
    do {
      var needsWork = try changes.write(to: &transaction, isBuilding: last != nil)
      if last == nil { needsWork = try transaction.planSearchMerge(in: index.database) }
      if needsWork { searchesToMerge.insert(index.number) }
    } catch is SearchDamage {
      try transaction.empty(index.database)
      return .building(upTo: [])
    }
    return last.map { .building(upTo: $0) } ?? .complete
  }

  /// Has a search index that was emptied built anew in the background.
  mutating func rebuildSearch(_ number: UInt32, _ reason: SearchRebuildReason) throws {
    guard let definition = catalogue.indexes[number]?.definition else { return }
    let isChanged = try changeIndexes(of: definition.collection) { _, index, record in
      index.number == number ? record.becoming(.building(upTo: [])) : record
    }
    // Every save of a process without the tokenizer comes here.
    guard isChanged || reason != .noTokenizer else { return }
    var place = ["collection": definition.collection, "index": definition.name]
    place["tokenizer"] = definition.tokenizer
    engine.log.tell(.warning, "a search index is built anew: \(reason.rawValue)", place)
  }

  /// Has a search index that a query has found damaged built anew.
  fileprivate mutating func mendSearch(_ number: UInt32) throws {
    guard let definition = catalogue.indexes[number]?.definition,
      let index = catalogue[definition.collection]?.indexes.first(where: { $0.number == number }),
      index.isComplete
    else { return }
    try transaction.empty(index.database)
    try rebuildSearch(number, .damage)
  }

  /// Takes a step of a merge.
  ///
  /// - Returns: Whether another one is left.
  fileprivate mutating func mergeSearch(_ number: UInt32) throws -> Bool {
    guard let definition = catalogue.indexes[number]?.definition,
      let index = catalogue[definition.collection]?.indexes.first(where: { $0.number == number }),
      index.isMaintained, let weights = definition.weights
    else { return false }
    do {
      guard try transaction.searchHeader(in: index.database).needsWork else { return false }
      hasSaved = true
      hasWrittenMore = true
      return try SearchMergeStep(database: index.database, weights: weights).take(&transaction)
    } catch is SearchDamage {
      try transaction.empty(index.database)
      try rebuildSearch(number, .damage)
      return false
    }
  }
}

extension Engine {
  /// Whether search indexes wait for being merged, or built anew.
  var hasSearchWork: Bool {
    damagedSearches.first != nil || indexWork.withLock { !$0.searchesToMerge.isEmpty }
  }

  /// Empties a search index that a query has found damaged, so that the background builds it; false where none is.
  ///
  /// - Throws: Such as where there is no room. A query that meets the damage again has it tried again.
  func mendSearch(drainSeconds: Double?) throws -> Bool {
    guard let number = damagedSearches.first else { return false }
    do {
      try perform(drainSeconds: drainSeconds) { try $0.mendSearch(number) }
      damagedSearches.remove(number)
    } catch {
      if !error.hasGivenWay { damagedSearches.remove(number) }
      throw error
    }
    scheduleIndexWork()
    return true
  }

  /// Takes a step of a merge in the writer's line, and has the background take the next; false where no
  /// search index waits for one.
  ///
  /// - Throws: Such as where there is no room. Nothing of the step is kept then; a later change of the
  ///   index has it tried again.
  func mergeSearch(drainSeconds: Double?) throws -> Bool {
    guard let number = indexWork.withLock({ $0.searchesToMerge.min() }) else { return false }
    var isLeft = false
    defer {
      if !isLeft { _ = indexWork.withLock { $0.searchesToMerge.remove(number) } }
    }
    do {
      isLeft = try perform(drainSeconds: drainSeconds) { try $0.mergeSearch(number) }
    } catch {
      isLeft = error.hasGivenWay
      throw error
    }
    scheduleIndexWork()
    return true
  }
}
