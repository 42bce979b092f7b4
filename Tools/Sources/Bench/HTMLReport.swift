import Foundation

/// Results as a page for people: for each operation a bar of each engine's ratio to the limit, how
/// its time grows with the data, and the table. One file that asks for no other.
enum HTMLReport {
  static func page(_ results: [Measurement], machine: Machine) -> Data {
    page(
      results, machine,
      about: """
        Medians of interleaved rounds of one run. A bar is as long as what the engine took, beside the
        others of the same operation; shorter is better. Its number is the ratio to LMDB driven from C
        where C has that operation. Ticks are the fastest and the slowest round.
        """, reference: Measurement.limit, references: Measurement.references)
  }

  /// The page of a study with marks, which stand below each scale's bars.
  ///
  /// - Parameter setting: What the figures are medians of.
  static func page(
    _ rows: [MarkedMeasurement], machine: Machine, setting: String, reference: String,
    references: [String]
  ) -> Data {
    page(
      rows.map(\.measurement), machine,
      about: """
        Medians of \(setting). A bar is as long as what the engine took, beside the others of the same
        operation; shorter is better. Its number is the ratio to \(reference). Ticks are the fastest and the
        slowest round.
        """, reference: reference, references: references
    ) { scale in
      let marks = rows.filter { $0.measurement.documents == scale }.flatMap { row in
        row.marks.map { "<li>\(row.measurement.operation): \($0.description)</li>" }
      }
      return "<p>Larder and its marks:</p><ul>\(marks.joined())</ul>"
    }
  }

  /// - Parameters:
  ///   - reference: The engine that the numbers at the bars are ratios to.
  ///   - references: Those of the table.
  ///   - notes: What else is to be said of a scale.
  private static func page(
    _ results: [Measurement], _ machine: Machine, about: String, reference: String,
    references: [String], notes: (Int) -> String = { _ in "" }
  ) -> Data {
    let scales = Set(results.map(\.documents)).sorted()
    let sections = scales.map { scale in
      let here = results.filter { $0.documents == scale }
      return """
        <h2>\(grouped(scale)) documents</h2>
        <div class="groups">\(operations(here).map { bars(here, $0, reference) }.joined())</div>
        \(notes(scale))
        <details><summary>All figures</summary>\(table(here, references))</details>
        """
    }
    let present = Set(results.map(\.engine))
    let legend = engines.filter { present.contains($0.name) }.map {
      "<span class=\"\($0.name)\"><i></i>\($0.name) <small>\($0.meaning)</small></span>"
    }
    let body = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>Larder: benchmark</title><style>\(style)</style></head><body>
      <h1>Larder: benchmark</h1>
      <p>\(about)</p>
      <p class="machine">\(machine.lines.map(escaped).joined(separator: "<br>"))</p>
      <p class="legend">\(legend.joined())</p>
      \(sections.reversed().joined(separator: "\n"))
      \(scales.count > 1 ? growth(results, scales) : "")
      </body></html>

      """
    return Data(body.utf8)
  }

  private static let engines = [
    (name: "lmdb-c", meaning: "LMDB driven from C: the limit"),
    (name: "lmdb-c-compare", meaning: "the same, which reads first and skips equal records"),
    (name: "lmdb-swift", meaning: "LMDB in C, decoded by hand in Swift"),
    (name: "sqlite-c", meaning: "SQLite driven from C"),
    (name: "grdb", meaning: "GRDB with its query interface"),
    (name: "larder", meaning: "with @Document"),
    (name: "larder-threads", meaning: "Larder on all processors"),
    (name: "larder-codable", meaning: "a plain Codable type"),
    (name: "larder-plain", meaning: "without a search index"),
    (name: "sqlite-fts5", meaning: "SQLite with FTS5, driven from C"),
    (name: "sqlite-plain", meaning: "the same without FTS5"),
    (name: "python", meaning: "Python: json, csv and sqlite3"),
    (name: "simdjson", meaning: "simdjson and SQLite driven from C"),
  ]

  private static let style = """
    :root{--text:#1d2430;--back:#fff;--soft:#5a6475;--track:#eef1f5;--line:#dfe3ea;
    --lmdb-c:#7d8796;--lmdb-c-compare:#b3bac6;--lmdb-swift:#4f9d92;--sqlite-c:#b8901a;
    --grdb:#7a4fa3;--larder:#c0392b;--larder-threads:#8e2a1f;
    --larder-codable:#e08e79;--python:#3b6ea5;--simdjson:#7d8796;
    --larder-plain:#e08e79;--sqlite-fts5:#b8901a;--sqlite-plain:#dcc584}
    @media(prefers-color-scheme:dark){:root{--text:#e4e8ee;--back:#14181f;--soft:#9aa5b5;
    --track:#232a34;--line:#333c49;--lmdb-c:#94a0b2;--lmdb-c-compare:#5f6978;
    --lmdb-swift:#5fb8ab;--sqlite-c:#d6ad3a;--grdb:#b08fd6;--larder:#ef6a5b;--larder-threads:#f4a79d;
    --larder-codable:#a8604f;--python:#6aa0d8;--simdjson:#94a0b2;
    --larder-plain:#a8604f;--sqlite-fts5:#d6ad3a;--sqlite-plain:#8a7434}}
    body{font:16px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);
    margin:1.5rem auto;max-width:1100px;padding:0 1rem}
    h1{font-size:1.6rem}h2{font-size:1.25rem;margin-top:2.5rem}small,.machine{color:var(--soft)}
    .machine{font-size:.85rem}
    .groups{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,320px),1fr));
    gap:1.3rem 2rem}
    figure{margin:0;min-width:0}figcaption{font-weight:600;margin-bottom:.3rem}
    .row{display:grid;grid-template-columns:7rem 1fr 2.7rem 4.3rem;gap:.4rem;align-items:center;
    font-size:13px;font-variant-numeric:tabular-nums}
    .row b,.row em{text-align:right;font-style:normal}.row em{color:var(--soft)}
    .track{position:relative;height:.85rem;background:var(--track)}
    .bar{position:absolute;inset:0 auto 0 0}
    .tick{position:absolute;top:.15rem;bottom:.15rem;width:1px;background:var(--text)}
    .legend{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,330px),1fr));
    font-size:14px}
    .legend i{display:inline-block;width:.8rem;height:.8rem;margin-right:.4rem}
    svg{width:100%;height:auto;display:block}svg text{fill:var(--soft);font-size:11px}
    .axis{stroke:var(--line)}polyline{fill:none;stroke-width:2}
    details{margin-top:1.2rem}summary{cursor:pointer}.table{overflow-x:auto}
    table{border-collapse:collapse;margin-top:1rem;font-size:13px;white-space:nowrap;
    font-variant-numeric:tabular-nums}
    th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid var(--line)}
    th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}
    tr.larder td{font-weight:600}
    \(engines.map { engine in
      """
      .\(engine.name) .bar,.legend .\(engine.name) i{background:var(--\(engine.name))}
      polyline.\(engine.name){stroke:var(--\(engine.name))}
      circle.\(engine.name){fill:var(--\(engine.name))}
      """
    }.joined(separator: "\n"))
    """

  /// The names of the operations, in the order in which they were measured.
  private static func operations(_ results: [Measurement]) -> [String] {
    var names: [String] = []
    for result in results where !names.contains(result.operation) { names.append(result.operation) }
    return names
  }

  private static func bars(
    _ results: [Measurement], _ operation: String, _ reference: String
  ) -> String {
    let here = results.filter { $0.operation == operation }
    guard let longest = here.map(\.spread.maximum).max() else { return "" }
    // What took no time that could be measured has a bar of no length.
    func percent(_ value: Double) -> String {
      Report.fixed(longest > 0 ? 100 * value / longest : 0, 2)
    }
    let rows = here.map { result in
      let ratio = result.ratios[reference].map { Report.fixed($0, 2) } ?? ""
      return """
        <div class="row \(result.engine)"><span>\(result.engine)</span><div class="track">
        <div class="bar" style="width:\(percent(result.spread.median))%"></div>
        <div class="tick" style="left:\(percent(result.spread.minimum))%"></div>
        <div class="tick" style="left:calc(\(percent(result.spread.maximum))% - 1px)"></div>
        </div><b>\(ratio)</b><em>\(Report.text(result.spread.median, result.unit))</em></div>
        """
    }
    return "<figure><figcaption>\(operation)</figcaption>\(rows.joined())</figure>"
  }

  // MARK: Growth

  /// Curves of what one document takes, both axes in powers of ten.
  private static func growth(_ results: [Measurement], _ scales: [Int]) -> String {
    let figures = operations(results).compactMap { operation in
      curve(results.filter { $0.operation == operation }, operation, scales)
    }
    return """
      <h2>Growth</h2>
      <p>What one document takes as there are more of them: a level line does not depend on the data.
      Both axes are in powers of ten.</p>
      <div class="groups">\(figures.joined())</div>
      """
  }

  private static func curve(
    _ results: [Measurement], _ operation: String, _ scales: [Int]
  ) -> String? {
    let values = results.map { $0.spread.median / Double($0.handled) }.filter { $0 > 0 }
    guard let least = values.min(), let most = values.max() else { return nil }
    // Whole powers of ten, so that figures of different operations look alike.
    let bottom = log10(least).rounded(.down)
    let top = max(bottom + 1, log10(most).rounded(.up))
    let (left, right, upper, lower) = (58.0, 330.0, 10.0, 150.0)
    func x(_ documents: Int) -> Double {
      let ends = (log10(Double(scales[0])), log10(Double(scales[scales.count - 1])))
      return left + 14 + (right - left - 28) * (log10(Double(documents)) - ends.0)
        / (ends.1 - ends.0)
    }
    func y(_ value: Double) -> Double {
      lower - (lower - upper) * (log10(value) - bottom) / (top - bottom)
    }
    func text(_ number: Double) -> String { Report.fixed(number, 1) }
    var parts: [String] = []
    for power in stride(from: bottom, through: top, by: 1) {
      let height = text(y(pow(10, power)))
      let label = Report.text(pow(10, power), results[0].unit)
      parts.append(
        "<line class=\"axis\" x1=\"\(left)\" x2=\"\(right)\" y1=\"\(height)\" y2=\"\(height)\"/>"
          + "<text x=\"\(left - 5)\" y=\"\(height)\" text-anchor=\"end\" dy=\".35em\">\(label)</text>"
      )
    }
    for scale in scales {
      parts.append(
        "<text x=\"\(text(x(scale)))\" y=\"\(lower + 16)\" text-anchor=\"middle\">"
          + "\(grouped(scale))</text>")
    }
    for engine in engines {
      let points = results.filter { $0.engine == engine.name && $0.spread.median > 0 }
        .sorted { $0.documents < $1.documents }
        .map { (x($0.documents), y($0.spread.median / Double($0.handled))) }
      let line = points.map { "\(text($0.0)),\(text($0.1))" }.joined(separator: " ")
      parts.append("<polyline class=\"\(engine.name)\" points=\"\(line)\"/>")
      parts += points.map {
        "<circle class=\"\(engine.name)\" cx=\"\(text($0.0))\" cy=\"\(text($0.1))\" r=\"3\"/>"
      }
    }
    return """
      <figure><figcaption>\(operation)</figcaption>
      <svg viewBox="0 0 340 172" role="img" aria-label="\(operation)">\(parts.joined())</svg></figure>
      """
  }

  // MARK: Figures

  private static func table(_ results: [Measurement], _ references: [String]) -> String {
    let header =
      ["operation", "engine", "median", "per document"]
      + references.map { "to \($0)" } + ["spread"]
    let rows = results.map { result in
      let unit = result.unit
      let cells =
        [
          result.operation, result.engine, Report.text(result.spread.median, unit),
          Report.text(result.spread.median / Double(result.handled), unit),
        ] + references.map { Report.ratio(result, to: $0) } + [
          "\(Report.text(result.spread.minimum, unit)) - "
            + Report.text(result.spread.maximum, unit)
        ]
      return "<tr class=\"\(result.engine)\">"
        + cells.map { "<td>\($0)</td>" }.joined() + "</tr>"
    }
    return "<div class=\"table\"><table><tr>" + header.map { "<th>\($0)</th>" }.joined()
      + "</tr>\(rows.joined())</table></div>"
  }

  private static func escaped(_ text: String) -> String {
    text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
  }

  private static func grouped(_ number: Int) -> String {
    var text = ""
    for (place, digit) in "\(number)".reversed().enumerated() {
      if place > 0, place % 3 == 0 { text = "," + text }
      text = "\(digit)" + text
    }
    return text
  }
}
