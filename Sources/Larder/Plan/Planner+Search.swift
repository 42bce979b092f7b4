internal import LarderLMDB

extension Planner {
  // Costs in nanoseconds, as in `Planner`: fetching a document and sorting it, and reading the words of one,
  // which is an estimate for 1 KB of text.
  private static let foundCost = 750.0
  private static let readCost = 4000.0
  /// Documents that are read sooner than any search index.
  private static let fewCount = 64

  /// A plan that asks a search index, where that is better than another one.
  func planBySearch(
    insteadOf plan: Plan, _ transaction: borrowing LentTransaction
  ) throws -> Plan? {
    for (place, condition) in conditions.enumerated() {
      guard case .search(let search) = condition, !search.expression.wanted.isEmpty,
        plan.estimate.count > Self.fewCount, !isSmall(plan.source),
        let index = collection.indexes.first(where: { $0.finds(search) })
      else { continue }
      do {
        let reading = try SearchReading(
          index.database, weights: index.definition.weights ?? [], transaction)
        let found = try reading.search(search.expression, transaction).ids
        if isBetter(plan, found.count) { return nil }
        let keys = try reading.keys(of: found, transaction)
          .sorted { $0.lexicographicallyPrecedes($1) }
        return self.plan(
          .keys(keys), selection.order.isEmpty ? .keys : .sort, ConditionPlaces(place), keys.count,
          isExact: true)
      } catch let damage as SearchDamage {
        collection.log.tell(
          .error, "a search index is damaged, and was not used",
          ["collection": collection.name, "index": index.name, "reason": "\(damage)"])
      }
    }
    return nil
  }

  private func isSmall(_ source: Plan.Source) -> Bool {
    switch source {
    case .nothing, .keys: true
    case .everything, .keyRange, .index, .union, .intersection: false
    }
  }

  /// Whether a plan costs less than fetching so many documents that a search has found.
  private func isBetter(_ plan: Plan, _ foundCount: Int) -> Bool {
    var readCount = Double(plan.estimate.count)
    let isOrdered = if case .sort = plan.order { false } else { true }
    if isOrdered, let wanted, foundCount > 0 {
      // It ends with the last one that is wanted; these lie anywhere.
      readCount = min(readCount, readCount * Double(wanted) / Double(foundCount))
    }
    return readCount * Self.readCost < Double(foundCount) * Self.foundCost
  }
}

extension CollectionIndex {
  /// Whether it has the words of the fields of a search.
  fileprivate func finds(_ search: SearchCondition) -> Bool {
    guard isOfWords, isComplete, definition.parts.count == search.fields.count else { return false }
    return zip(definition.parts, search.fields).allSatisfy { part, field in
      part.path.elementsEqual(field.lazy.map(\.name))
        && part.absent == IndexDefinition.textOfAbsent(field[field.count - 1].absent)
        && part.outerAbsent
          == field.dropLast().map { IndexDefinition.textOfAbsent($0.absent ?? .null) }
    }
  }
}
