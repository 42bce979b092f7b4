/// The order by how well documents match a search.
struct SearchRank: Sendable, Equatable {
  let condition: SearchCondition
  /// Nil until the query is answered: how rare a word is depends on the collection.
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

  /// Which documents can change the result, or its order: those that the filter matches; all where it is sorted by
  /// a rank, as that depends on how rare a word is in the collection, and on how many documents it has.
  var interest: FilterNode { needsStatistics ? .constant(true) : filter }

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

  /// The statistics of each rank, which a cursor keeps beside the sort values of its document.
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

extension SearchStatistics {
  /// For a page's cursor: pages that follow one another are ranked by the same numbers.
  var value: Value {
    .array(
      [.integer(Int64(documentCount)), .double(meanLength)]
        + frequencies.map { .integer(Int64($0)) })
  }

  /// - Parameter value: What ``value`` was; nil is given back for anything else.
  init?(_ value: Value) {
    guard case .array(let values) = value, values.count >= 2,
      case .integer(let count) = values[0], case .double(let length) = values[1],
      count >= 0, length.isFinite, length >= 0
    else { return nil }
    var frequencies: [Int] = []
    for value in values.dropFirst(2) {
      guard case .integer(let frequency) = value, (0...Int64(UInt32.max)).contains(frequency) else {
        return nil
      }
      frequencies.append(Int(frequency))
    }
    guard count <= Int64(UInt32.max) else { return nil }
    self.init(documentCount: Int(count), meanLength: length, frequencies: frequencies)
  }
}
