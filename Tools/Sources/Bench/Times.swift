/// What a study has measured so far, by operation and engine.
struct Times {
  private var values: [StudiedOperation: [(engine: String, values: [Double])]] = [:]

  mutating func add(_ seconds: Double, _ operation: StudiedOperation, _ engine: String) {
    var rows = values[operation] ?? []
    if let index = rows.firstIndex(where: { $0.engine == engine }) {
      rows[index].values.append(seconds)
    } else {
      rows.append((engine, [seconds]))
    }
    values[operation] = rows
  }

  /// One row for each engine that took part.
  ///
  /// - Throws: ``WrongResult`` where none did: an operation that was not measured is no result.
  func measurements(of operation: StudiedOperation, documents: Int) throws -> [Measurement] {
    let rows = (values[operation] ?? []).compactMap { row in
      Spread(row.values).map { (row.engine, $0) }
    }
    guard !rows.isEmpty else {
      throw WrongResult(description: "\(operation.rawValue) was not measured")
    }
    return rows.map { engine, spread in
      Measurement(
        operation: operation.rawValue, unit: .seconds, documents: documents, handled: 1,
        engine: engine, spread: spread,
        ratios: Dictionary(uniqueKeysWithValues: rows.map { ($0.0, spread.median / $0.1.median) }))
    }
  }
}
