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
      guard case .search(let search) = condition, plan.estimate.count > Self.fewCount,
        !isSmall(plan.source), let finding = try find(search, transaction)
      else { continue }
      var settled = ConditionPlaces(place)
      guard ranks(by: search) else {
        if isBetter(plan, than: finding.count, isRanked: false) { return nil }
        let order = selection.order.isEmpty ? Plan.Order.keys : .sort
        return self.plan(.search(finding), order, settled, finding.count, isExact: true)
      }
      if isBetter(plan, than: finding.count, isRanked: true) { return nil }
      for (place, condition) in conditions.enumerated() {
        guard case .behind(let position) = condition, position.order == selection.order else {
          continue
        }
        settled.insert(place)
        return self.plan(
          .search(finding.behind(position)), .rank, settled, finding.count, isExact: false)
      }
      return self.plan(.search(finding), .rank, settled, finding.count, isExact: true)
    }
    return nil
  }

  private func find(
    _ search: SearchCondition, _ transaction: borrowing LentTransaction
  ) throws -> SearchFinding? {
    if let finding, finding.condition == search { return finding }
    let rank = selection.order.lazy.compactMap(\.rank).first { $0.condition == search }
    return try SearchFinding(
      search, in: collection, rankingBy: rank?.statistics, transaction)
  }

  /// Whether the order is that of the search alone, best first.
  private func ranks(by search: SearchCondition) -> Bool {
    guard selection.order.count == 1, selection.order[0].isReversed else { return false }
    return selection.order[0].rank?.condition == search
  }

  /// The documents of a query whose only condition is a search; nil for other queries, and where no index
  /// has the words.
  func findAlone(_ transaction: borrowing LentTransaction) throws -> SearchFinding? {
    guard conditions.count == 1, case .search(let search) = conditions[0] else { return nil }
    return try find(search, transaction)
  }

  private func isSmall(_ source: Plan.Source) -> Bool {
    switch source {
    case .nothing, .keys: true
    case .everything, .keyRange, .index, .union, .intersection, .search: false
    }
  }

  /// Whether a plan costs less than fetching so many documents that a search has found.
  private func isBetter(_ plan: Plan, than foundCount: Int, isRanked: Bool) -> Bool {
    var readCount = Double(plan.estimate.count)
    var fetchCount = Double(foundCount)
    if let wanted, foundCount > 0 {
      // It ends with the last one that is wanted; these lie anywhere.
      let isOrdered = if case .sort = plan.order { false } else { true }
      if isOrdered { readCount = min(readCount, readCount * Double(wanted) / fetchCount) }
      if isRanked, conditions.count == 1 { fetchCount = min(fetchCount, Double(wanted)) }
    }
    return readCount * Self.readCost < fetchCount * Self.foundCost
  }
}
