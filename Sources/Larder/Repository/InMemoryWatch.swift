/// Watches a query of a repository in memory, by reading and comparing everything.
struct InMemoryWatch<Entity: Document, Model: Sendable>: WatchWork {
  private let reader: RowReader<Entity, Model>
  private let filter: FilterNode
  private let growth: Growth?
  private var window: ResultRows
  /// Changes of these origins are no news; they come with the next that are.
  private let ignored: Set<ChangeOrigin>
  private let contents: @Sendable () -> InMemoryCollection<Entity>
  private var rows: [Row]?
  /// The last change that was looked at.
  private var position: UInt64 = 0

  init(
    _ selection: Selection, _ reader: RowReader<Entity, Model>,
    ignoring ignored: Set<ChangeOrigin>,
    _ contents: @escaping @Sendable () -> InMemoryCollection<Entity>
  ) {
    self.reader = reader
    filter = selection.filter
    self.ignored = ignored
    self.contents = contents
    window = ResultRows(selection)
    growth = selection.growth
  }

  mutating func next(skippingTo skipped: UInt64) throws -> ResultChange<Model>? {
    try next(ignoring: ignored)
  }

  mutating func nextWithIgnored() throws -> ResultChange<Model>? { try next(ignoring: []) }

  private mutating func next(ignoring ignored: Set<ChangeOrigin>) throws -> ResultChange<Model>? {
    let moment = contents()
    let limit = growth?.count ?? window.limit
    if rows != nil, limit == window.limit,
      !moment.hasNews(after: position, ignoring: ignored, matching: filter)
    {
      return nil
    }
    window.reach(limit)
    position = moment.sequence
    let all = try moment.rows(reader)
    let low = min(window.window.lowerBound, all.count)
    let found = Array(all[low..<max(low, min(window.window.upperBound, all.count))])
    let new = found.map(\.row)
    defer { rows = new }
    guard let rows else {
      return .initial(Rows(found.lazy.map(\.model)), sequence: moment.sequence)
    }
    let difference = RowDifference(from: rows, to: new)
    if difference.isEmpty { return nil }
    let models = Dictionary(found.map { ($0.row.place, $0.model) }) { first, _ in first }
    return .update(
      ResultDifference(difference, sequence: moment.sequence) { row in
        guard let model = models[row.place] else {
          preconditionFailure("a row of the new result is not in it")
        }
        return model
      })
  }
}
