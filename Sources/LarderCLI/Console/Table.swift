/// Rows whose columns stand below one another.
struct Table {
  enum Alignment { case left, right }

  private let alignments: [Alignment]
  private var rows: [[String]]

  init(_ headings: (String, Alignment)...) { self.init(headings) }

  init(_ headings: [(String, Alignment)]) {
    alignments = headings.map(\.1)
    rows = [headings.map { Self.printable($0.0) }]
  }

  /// Adds a row. Names come out of files: what would steer a terminal is shown as U+FFFD.
  mutating func add(_ cells: String...) { add(cells) }

  mutating func add(_ cells: [String]) { rows.append(cells.map(Self.printable)) }

  /// Rows without the headings.
  var count: Int { rows.count - 1 }

  /// A text of a file without what would steer a terminal.
  static func printable(_ text: String) -> String {
    var printable = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      // Joiners shape the letters and the emoji beside them, and steer nothing.
      case .format where scalar == "\u{200C}" || scalar == "\u{200D}":
        printable.unicodeScalars.append(scalar)
      case .control, .format, .lineSeparator, .paragraphSeparator: printable += "\u{FFFD}"
      default: printable.unicodeScalars.append(scalar)
      }
    }
    return printable
  }

  /// How wide the columns are, in columns of a terminal.
  var widths: [Int] {
    alignments.indices.map { column in rows.map { $0[column].columnCount }.max() ?? 0 }
  }

  /// The lines, without spaces at their ends.
  var lines: [String] { lines(widths: widths) }

  /// The lines, with columns that are at least as wide.
  func lines(widths: [Int]) -> [String] {
    rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let space = String(repeating: " ", count: max(0, widths[column] - cell.columnCount))
        line += alignments[column] == .right ? space + cell : cell + space
        line += "  "
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
