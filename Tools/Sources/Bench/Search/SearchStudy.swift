import CBench
import Foundation
import Larder

/// Compares full-text search with SQLite's FTS5, with the same searches in the same texts.
struct SearchStudy {
  let searched: SearchTexts
  let rounds: Int
  /// Where nothing is flushed.
  let folder: ScratchFolder
  /// Where a flush costs what it costs.
  let disk: ScratchFolder
  /// The operations to measure; all if empty.
  let only: [SearchOperation]

  var texts: [SearchTexts.Text] { searched.texts }

  /// What was measured, by operation and engine.
  struct Figures {
    private var values: [SearchOperation: [SearchEngine: [Double]]] = [:]

    mutating func add(_ value: Double, _ operation: SearchOperation, _ engine: SearchEngine) {
      values[operation, default: [:]][engine, default: []].append(value)
    }

    func spreads(_ operation: SearchOperation) -> [SearchEngine: Spread] {
      (values[operation] ?? [:]).compactMapValues { Spread($0) }
    }
  }

  /// - Throws: ``WrongResult`` where an engine finds another number of texts than the other.
  func run() async throws -> [MarkedMeasurement] {
    var figures = Figures()
    let asked = only.isEmpty ? SearchOperation.allCases : only
    // What is searched and watched is what was built.
    if asked.contains(where: { !SearchOperation.replacing.contains($0) }) {
      let isBuilding = asked.contains { SearchOperation.building.contains($0) }
      for round in 0..<(isBuilding ? rounds : 1) { try await build(round, &figures) }
    }
    let queries = asked.filter(SearchOperation.queries.contains)
    if !queries.isEmpty { try search(queries, &figures) }
    if asked.contains(where: SearchOperation.watching.contains) { try await watch(&figures) }
    if asked.contains(where: SearchOperation.replacing.contains) { try await replace(&figures) }
    return asked.flatMap { rows(of: $0, figures) }
  }

  private func rows(of operation: SearchOperation, _ figures: Figures) -> [MarkedMeasurement] {
    let spreads = figures.spreads(operation)
    let medians = spreads.mapValues(\.median)
    return SearchEngine.allCases.compactMap { engine in
      guard let spread = spreads[engine] else { return nil }
      let ratios = medians.map { ($0.key.rawValue, spread.median / $0.value) }
      return MarkedMeasurement(
        measurement: Measurement(
          operation: operation.rawValue, unit: operation.unit, documents: texts.count,
          handled: operation == .build || operation == .save ? texts.count : 1,
          engine: engine.rawValue, spread: spread,
          ratios: Dictionary(uniqueKeysWithValues: ratios)),
        marks: engine == .larder ? operation.marks(medians) : [])
    }
  }

  /// The engines that the others are compared with.
  static let references = [SearchEngine.fts5, .larderPlain, .larder].map(\.rawValue)

  static func table(_ rows: [MarkedMeasurement]) -> String {
    let header =
      ["operation", "texts", "engine", "median"] + references.map { "to \($0)" }
      + ["spread", "mark"]
    let lines = rows.map { row in
      let result = row.measurement
      return [
        result.operation, "\(result.documents)", result.engine,
        Report.text(result.spread.median, result.unit),
      ]
        + references.map { Report.ratio(result, to: $0) } + [
          "\(Report.text(result.spread.minimum, result.unit)) - "
            + Report.text(result.spread.maximum, result.unit),
          row.marks.map(\.description).joined(separator: "; "),
        ]
    }
    return Report.aligned([header] + lines, texts: [0, 2, 8])
  }
}

// MARK: The two stores

extension SearchStudy {
  func open(_ place: ScratchFolder, isDurable: Bool = false) throws -> Store {
    try Store(
      at: place.url, options: StoreOptions(durability: isDurable ? .durable : .volatile))
  }

  func database(_ place: ScratchFolder, isSearched: Bool) throws -> OpaquePointer {
    guard let database = bench_search_open(place.path, isSearched ? 1 : 0) else {
      throw WrongResult(description: "no database")
    }
    return database
  }

  /// The number and the words of the text that the `turn`-th replacement writes, in no order.
  func replacement(_ turn: Int) -> (id: Int, text: SearchTexts.Text) {
    let id = Int((UInt64(turn) &* 0x9E37_79B9_7F4A_7C15) >> 20) % texts.count
    return (id, texts[(id + texts.count / 3 + turn) % texts.count])
  }

  static func seconds(_ work: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try work()
    return (ContinuousClock.now - start) / .seconds(1)
  }
}
