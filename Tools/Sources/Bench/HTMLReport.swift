import Foundation

/// Results as a page for people: a group of bars for each operation and scale, and the table. One
/// file that asks for no other.
enum HTMLReport {
  static func page(_ results: [Measurement]) -> Data {
    let scales = Set(results.map(\.documents)).sorted()
    let sections = scales.map { scale in
      let here = results.filter { $0.documents == scale }
      return """
        <h2>\(grouped(scale)) documents</h2>
        <div class="groups">\(Operation.allCases.map { bars(here, $0) }.joined())</div>
        \(table(here))
        """
    }
    let body = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>Larder: benchmark</title><style>\(style)</style></head><body>
      <h1>Larder: benchmark</h1>
      <p>Medians of interleaved rounds; shorter is better. A tick on a bar is the end of its fastest
      and of its slowest round.</p>
      <p class="legend">\(colors.map { #"<span style="--color:\#($0.1)">\#($0.0)</span>"# }.joined())</p>
      \(sections.joined(separator: "\n"))
      </body></html>

      """
    return Data(body.utf8)
  }

  private static let colors = [
    ("lmdb-c", "#8a93a3"), ("lmdb-c-compare", "#b9c0cb"), ("lmdb-swift", "#6fa8a0"),
    ("sqlite", "#c9a227"), ("larder", "#c0392b"),
  ]

  private static let style = """
    body{font:15px/1.45 system-ui,sans-serif;color:#1d2430;background:#fff;margin:2rem auto;
    max-width:1100px;padding:0 1rem}
    h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem}
    .groups{display:grid;grid-template-columns:repeat(auto-fill,minmax(320px,1fr));gap:1.2rem 2rem}
    figure{margin:0}figcaption{font-weight:600;margin-bottom:.3rem}
    .row{display:grid;grid-template-columns:7.5rem 1fr 5.2rem;gap:.4rem;align-items:center;
    font-size:13px}
    .track{position:relative;height:.85rem;background:#f1f3f6}
    .bar{position:absolute;inset:0 auto 0 0;background:var(--color)}
    .tick{position:absolute;top:.15rem;bottom:.15rem;width:1px;background:#1d2430}
    .row span:last-child{text-align:right;font-variant-numeric:tabular-nums}
    .legend span{margin-right:1.2rem}
    .legend span::before{content:"";display:inline-block;width:.8rem;height:.8rem;
    background:var(--color);margin-right:.35rem;vertical-align:-.05rem}
    .table{overflow-x:auto}
    table{border-collapse:collapse;margin-top:1.5rem;font-size:13px;white-space:nowrap;
    font-variant-numeric:tabular-nums}
    th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #e3e6eb}
    th:first-child,td:first-child,th:nth-child(2),td:nth-child(2){text-align:left}
    tr.larder td{font-weight:600}
    """

  private static func bars(_ results: [Measurement], _ operation: Operation) -> String {
    let here = results.filter { $0.operation == operation }
    guard let longest = here.map(\.spread.maximum).max(), longest > 0 else { return "" }
    func percent(_ value: Double) -> String { Report.fixed(100 * value / longest, 2) }
    let rows = here.map { result in
      let color = colors.first { $0.0 == result.engine }?.1 ?? "#555"
      return """
        <div class="row"><span>\(result.engine)</span><div class="track" style="--color:\(color)">
        <div class="bar" style="width:\(percent(result.spread.median))%"></div>
        <div class="tick" style="left:\(percent(result.spread.minimum))%"></div>
        <div class="tick" style="left:calc(\(percent(result.spread.maximum))% - 1px)"></div>
        </div><span>\(Report.text(result.spread.median, operation.unit))</span></div>
        """
    }
    return "<figure><figcaption>\(operation.rawValue)</figcaption>\(rows.joined())</figure>"
  }

  private static func table(_ results: [Measurement]) -> String {
    let header =
      ["operation", "engine", "median", "per document"]
      + Measurement.references.map { "to \($0)" } + ["spread"]
    let rows = results.map { result in
      let unit = result.operation.unit
      let cells =
        [
          result.operation.rawValue, result.engine, Report.text(result.spread.median, unit),
          Report.text(result.spread.median / Double(result.handled), unit),
        ] + Measurement.references.map { Report.ratio(result, to: $0) } + [
          "\(Report.text(result.spread.minimum, unit)) - "
            + Report.text(result.spread.maximum, unit)
        ]
      return "<tr class=\"\(result.engine)\">"
        + cells.map { "<td>\($0)</td>" }.joined() + "</tr>"
    }
    return "<div class=\"table\"><table><tr>" + header.map { "<th>\($0)</th>" }.joined()
      + "</tr>\(rows.joined())</table></div>"
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
