/// The layout study as a markdown table.
enum LayoutTable {
  /// One line for each measure and arrival; the ratio is row by natural, so above 1 the natural
  /// layout is the better one. It carries a `~` where the rounds of the two layouts overlap.
  static func markdown(_ rows: [LayoutStudy.Row], documents: Int, rounds: Int) -> String {
    var lines = [
      "### \(documents) documents, medians of \(rounds) rounds", "",
      "| operation | ids | natural | row | row / natural |",
      "|---|---|---:|---:|---:|",
    ]
    for measure in LayoutStudy.Measure.allCases {
      for row in rows {
        guard let natural = row.natural[measure], let other = row.row[measure] else { continue }
        lines.append(
          "| \(measure.rawValue) | \(row.arrival.name) | \(Report.digits(natural.median)) "
            + "| \(Report.digits(other.median)) "
            + "| \(natural.overlaps(other) ? "~" : "")"
            + "\(Report.fixed(other.median / natural.median, 2)) |")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
