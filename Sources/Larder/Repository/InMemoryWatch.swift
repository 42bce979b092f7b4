/// Watches a query of a repository in memory, by reading and comparing everything.
struct InMemoryWatch<Entity: Document, Model: Sendable>: WatchWork {
  private let reader: RowReader<Entity, Model>
  private let window: Range<Int>
  /// Whether every change there can be is ignored.
  private let isDeaf: Bool
  private let contents: @Sendable () -> InMemoryCollection<Entity>
  private var rows: [Row]?

  init(
    _ selection: Selection, _ reader: RowReader<Entity, Model>, isDeaf: Bool,
    _ contents: @escaping @Sendable () -> InMemoryCollection<Entity>
  ) {
    self.reader = reader
    self.isDeaf = isDeaf
    self.contents = contents
    window = ResultRows(selection).window
  }

  mutating func next(skippingTo position: UInt64) throws -> ResultChange<Model>? {
    if isDeaf, rows != nil { return nil }
    let moment = contents()
    let all = try moment.rows(reader)
    let low = min(window.lowerBound, all.count)
    let found = Array(all[low..<max(low, min(window.upperBound, all.count))])
    let new = found.map(\.row)
    defer { rows = new }
    guard let rows else { return .initial(found.map(\.model), sequence: moment.sequence) }
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
