import Foundation

/// Results as text for people and as JSON for programs.
enum Report {
  /// A table with aligned columns; values are medians, and the last column the ends of all rounds.
  static func table(_ results: [Measurement]) -> String {
    let header =
      ["operation", "documents", "engine", "median", "per document"]
      + Measurement.references.map { "to \($0)" } + ["spread"]
    let rows = results.map { result in
      let unit = result.unit
      return [
        result.operation, "\(result.documents)", result.engine,
        text(result.spread.median, unit),
        text(result.spread.median / Double(result.handled), unit),
      ]
        + Measurement.references.map { ratio(result, to: $0) } + [
          "\(text(result.spread.minimum, unit)) - \(text(result.spread.maximum, unit))"
        ]
    }
    return aligned([header] + rows, texts: [0, 2])
  }

  /// How many times as much the same takes with more data; nil where there is one scale only.
  static func growthTable(_ results: [Measurement]) -> String? {
    let scales = Set(results.map(\.documents)).sorted()
    guard scales.count > 1 else { return nil }
    let steps = Array(zip(scales, scales.dropFirst()))
    let header = ["operation", "engine"] + steps.map { "\($0) to \($1)" }
    var rows: [[String]] = []
    for first in results where first.documents == scales[0] {
      let medians = Dictionary(
        results.filter { $0.operation == first.operation && $0.engine == first.engine }
          .map { ($0.documents, $0.spread.median) }, uniquingKeysWith: { first, _ in first })
      rows.append(
        [first.operation, first.engine]
          + steps.map { step in
            guard let small = medians[step.0], let large = medians[step.1], small > 0 else {
              return "-"
            }
            return fixed(large / small, 2)
          })
    }
    return aligned([header] + rows, texts: [0, 1])
  }

  /// What stands beside a value in the table: its ratio to that of another engine.
  static func ratio(_ result: Measurement, to reference: String) -> String {
    guard let ratio = result.ratios[reference], ratio.isFinite, reference != result.engine else {
      return "-"
    }
    return fixed(ratio, 2)
  }

  static func nanoseconds(_ seconds: Double) -> String { fixed(seconds * 1e9, 0) + " ns" }

  static func aligned(_ rows: [[String]], texts: Set<Int>) -> String {
    let columns = rows[0].indices
    let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { cells in
      let padded = cells.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - cells[column].count)
        return texts.contains(column) ? cells[column] + padding : padding + cells[column]
      }
      return padded.joined(separator: "  ")
    }
    return lines.joined(separator: "\n")
  }

  /// An array of objects. `seconds` is the median of one run, which handles `handled` documents,
  /// and `bytes` stands in its place where that is what was measured; `spread` is the least and the
  /// most of all rounds; `ratio` is that to LMDB driven from C, and null where it has no such
  /// operation.
  static func json(_ results: [Measurement]) throws -> Data {
    struct Row: Encodable {
      var result: Measurement

      enum Key: String, CodingKey {
        case operation, documents, handled, engine, seconds, bytes, spread, ratio, ratios
      }

      func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: Key.self)
        try row.encode(result.operation, forKey: .operation)
        try row.encode(result.documents, forKey: .documents)
        try row.encode(result.handled, forKey: .handled)
        try row.encode(result.engine, forKey: .engine)
        try row.encode(result.spread.median, forKey: result.unit == .seconds ? .seconds : .bytes)
        try row.encode([result.spread.minimum, result.spread.maximum], forKey: .spread)
        let ratios = result.ratios.filter(\.value.isFinite)
        try row.encode(ratios[Measurement.limit], forKey: .ratio)
        try row.encode(ratios, forKey: .ratios)
      }
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(results.map { Row(result: $0) })
  }

  /// Three digits or so, with a unit.
  static func text(_ value: Double, _ unit: Measurement.Unit) -> String {
    switch unit {
    case .seconds: time(value)
    case .bytes: bytes(value)
    }
  }

  static func time(_ seconds: Double) -> String {
    switch seconds {
    case 1...: "\(digits(seconds)) s"
    case 1e-3...: "\(digits(seconds * 1e3)) ms"
    case 1e-6...: "\(digits(seconds * 1e6)) us"
    default: "\(digits(seconds * 1e9)) ns"
    }
  }

  static func bytes(_ count: Double) -> String {
    switch count {
    case 1e6...: "\(digits(count / 1e6)) MB"
    case 1e3...: "\(digits(count / 1e3)) KB"
    default: "\(fixed(count, 0)) B"
    }
  }

  static func digits(_ number: Double) -> String {
    fixed(number, number < 10 ? 2 : number < 100 ? 1 : 0)
  }

  static func fixed(_ number: Double, _ places: Int) -> String {
    String(format: "%.\(places)f", number)
  }
}
