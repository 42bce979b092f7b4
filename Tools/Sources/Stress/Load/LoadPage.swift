import Foundation

/// A load as a page for people: curves over time, and the table. One file that asks for no other.
struct LoadPage {
  private let options: LoadOptions
  private let samples: [LoadSample]
  /// Writes, reads and notifications of the whole time.
  private let work: [LoadSample.Work]

  init(_ options: LoadOptions, _ samples: [LoadSample], _ work: [LoadSample.Work]) {
    (self.options, self.samples, self.work) = (options, samples, work)
  }

  var page: Data {
    let seconds = Int((samples.last?.seconds ?? 0).rounded())
    let body = """
      <!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>Larder: load</title><style>\(Self.style)</style></head><body>
      <h1>Larder: load</h1>
      <p>\(options.writers) writers, \(options.readers) readers and \(options.watchers) watchers,
      each a process of its own, on one store for \(seconds) seconds. A notification takes from the
      call that saves, before the commit, to the watcher in another process that holds the
      difference.</p>
      \(table)
      <div class="charts">\(charts.map { $0.figure }.joined())</div>
      </body></html>

      """
    return Data(body.utf8)
  }

  private var table: String {
    let rows = zip(["writes", "reads", "notifications"], work).map { name, work in
      let cells = [
        name, LoadText.count(Double(work.total)), LoadText.count(work.perSecond),
        LoadText.time(work.p50), LoadText.time(work.p99), LoadText.time(work.p999),
      ]
      return "<tr>" + cells.map { "<td>\($0)</td>" }.joined() + "</tr>"
    }
    let heads = ["", "total", "per second", "p50", "p99", "p99.9"]
    return "<div class=\"table\"><table><tr>" + heads.map { "<th>\($0)</th>" }.joined()
      + "</tr>\(rows.joined())</table></div>"
  }

  private var charts: [LoadChart] {
    func curve(_ name: String, _ value: (LoadSample) -> Double?) -> LoadChart.Curve {
      LoadChart.Curve(name: name, points: samples.map { ($0.seconds, value($0)) })
    }
    func latency(_ title: String, _ work: KeyPath<LoadSample, LoadSample.Work>) -> LoadChart {
      LoadChart(
        title: title, isLogarithmic: true, text: { LoadText.time($0) },
        curves: [
          curve("p50") { $0[keyPath: work].p50 }, curve("p99") { $0[keyPath: work].p99 },
          curve("p99.9") { $0[keyPath: work].p999 },
        ])
    }
    let count = { (value: Double) in LoadText.count(value) }
    let bytes = { (value: Double) in LoadText.bytes(Int(value)) }
    return [
      LoadChart(
        title: "Writes per second", text: count, curves: [curve("") { $0.writes.perSecond }]),
      latency("How long a write takes", \.writes),
      LoadChart(
        title: "Reads per second", text: count, curves: [curve("") { $0.reads.perSecond }]),
      latency("How long a read takes", \.reads),
      LoadChart(
        title: "Notifications per second", text: count, curves: [curve("") { $0.news.perSecond }]),
      latency("How long a notification takes", \.news),
      LoadChart(
        title: "Memory of all processes, without the file's pages", text: bytes,
        curves: [curve("") { Double($0.memoryByteCount) }]),
      LoadChart(
        title: "Size", text: bytes,
        curves: [
          curve("file") { Double($0.fileByteCount) },
          curve("free in it") { Double($0.freeByteCount) },
          curve("log of changes") { Double($0.logByteCount) },
        ]),
      LoadChart(
        title: "Changes that the slowest watcher has not read", text: count,
        curves: [curve("") { Double($0.logLag) }]),
      LoadChart(
        title: "Reader slots in use", text: count, curves: [curve("") { Double($0.readerSlots) }]),
    ]
  }

  private static let style = """
    :root{--text:#1d2430;--back:#fff;--line:#e3e6eb;--soft:#667;--c0:#c0392b;--c1:#2f7f77;
    --c2:#a17c0e}
    @media (prefers-color-scheme:dark){:root{--text:#e6e9ef;--back:#14171c;--line:#2d333d;
    --soft:#9aa3b2;--c0:#ef7a6d;--c1:#6fc3b8;--c2:#e0bd55}}
    body{font:15px/1.45 system-ui,sans-serif;color:var(--text);background:var(--back);
    margin:2rem auto;max-width:1100px;padding:0 1rem}
    h1{font-size:1.6rem}
    .charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,420px),1fr));
    gap:1.8rem 2rem;margin-top:2rem}
    figure{margin:0}figcaption{font-weight:600;margin-bottom:.3rem}
    svg{width:100%;height:auto;display:block}
    svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
    .grid{stroke:var(--line);stroke-width:1}
    .curve{fill:none;stroke-width:1.6;stroke-linejoin:round}
    .c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}
    .legend{font-size:13px}.legend span{margin-right:1rem}
    .legend span::before{content:"";display:inline-block;width:.8rem;height:.2rem;
    background:var(--color);margin-right:.35rem;vertical-align:.2rem}
    .table{overflow-x:auto}
    table{border-collapse:collapse;font-size:13px;white-space:nowrap;
    font-variant-numeric:tabular-nums}
    th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid var(--line)}
    th:first-child,td:first-child{text-align:left}
    @media (max-width:520px){table{font-size:12px}th,td{padding:.25rem .3rem}}
    """
}
