import Foundation

/// Results as text for people and as JSON for programs.
enum Report {
  /// A table with aligned columns; times are medians, and the last column the ends of all rounds.
  static func table(_ results: [Timing]) -> String {
    let header = ["operation", "documents", "engine", "median", "per document", "ratio", "spread"]
    let rows = results.map { result in
      [
        result.operation, "\(result.documents)", result.engine, time(result.spread.median),
        time(result.spread.median / Double(result.handled)), fixed(result.ratio, 2),
        "\(time(result.spread.minimum)) - \(time(result.spread.maximum))",
      ]
    }
    let widths = header.indices.map { column in
      ([header] + rows).map { $0[column].count }.max() ?? 0
    }
    let texts = [0, 2, 6]
    let lines = ([header] + rows).map { cells in
      let padded = cells.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - cells[column].count)
        return texts.contains(column) ? cells[column] + padding : padding + cells[column]
      }
      return padded.joined(separator: "  ")
    }
    return lines.joined(separator: "\n")
  }

  /// An array of objects; `seconds` is the median, `spread` the minimum and the maximum.
  static func json(_ results: [Timing]) throws -> Data {
    struct Row: Encodable {
      var operation: String
      var documents: Int
      var engine: String
      var seconds: Double
      var spread: [Double]
      var ratio: Double
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return try encoder.encode(
      results.map {
        Row(
          operation: $0.operation, documents: $0.documents, engine: $0.engine,
          seconds: $0.spread.median, spread: [$0.spread.minimum, $0.spread.maximum],
          ratio: $0.ratio)
      })
  }

  /// Three digits or so, with a unit.
  static func time(_ seconds: Double) -> String {
    switch seconds {
    case 1...: "\(digits(seconds)) s"
    case 1e-3...: "\(digits(seconds * 1e3)) ms"
    case 1e-6...: "\(digits(seconds * 1e6)) us"
    default: "\(digits(seconds * 1e9)) ns"
    }
  }

  static func digits(_ number: Double) -> String {
    fixed(number, number < 10 ? 2 : number < 100 ? 1 : 0)
  }

  static func fixed(_ number: Double, _ places: Int) -> String {
    String(format: "%.\(places)f", number)
  }
}
