/// The order by how well documents match a search.
struct SearchRank: Sendable, Equatable {
  let condition: SearchCondition
  /// Nil until a query is asked for the first time: what is rare in a collection ranks higher.
  var statistics: SearchStatistics?
}

extension SortKey {
  /// Best first.
  static func rank(_ condition: SearchCondition) -> SortKey {
    SortKey(operand: .rank(SearchRank(condition: condition)), isReversed: true)
  }

  var rank: SearchRank? { if case .rank(let rank) = operand { rank } else { nil } }
}

extension Selection {
  /// Whether it is sorted by a rank that says nothing yet.
  var needsStatistics: Bool {
    order.contains { key in key.rank.map { $0.statistics == nil } ?? false }
  }

  /// The same with statistics for each rank that has none.
  func ranked(
    by statistics: (SearchCondition) throws -> SearchStatistics
  ) rethrows -> Selection {
    var selection = self
    selection.order = try order.map { key in
      guard var rank = key.rank, rank.statistics == nil else { return key }
      rank.statistics = try statistics(rank.condition)
      return SortKey(operand: .rank(rank), isReversed: key.isReversed)
    }
    return selection
  }

  /// What a cursor has to keep besides the values that its document is sorted by.
  var rankValues: [Value] { order.compactMap { $0.rank?.statistics?.value } }

  /// The same, ranked as the pages before it; nil where these values say no such thing.
  func ranked(by values: ArraySlice<Value>) -> Selection? {
    var rest = values
    var selection = self
    for (place, key) in order.enumerated() {
      guard var rank = key.rank else { continue }
      guard let value = rest.popFirst(), let statistics = SearchStatistics(value),
        statistics.frequencies.count == rank.condition.expression.wanted.joined().count
      else { return nil }
      rank.statistics = statistics
      selection.order[place] = SortKey(operand: .rank(rank), isReversed: key.isReversed)
    }
    return rest.isEmpty ? selection : nil
  }
}
