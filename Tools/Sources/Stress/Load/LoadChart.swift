import Foundation

/// Curves over the seconds of a load, as a drawing in a page.
struct LoadChart {
  struct Curve {
    let name: String
    let points: [(seconds: Double, value: Double?)]
  }

  let title: String
  var isLogarithmic = false
  let text: (Double) -> String
  let curves: [Curve]

  private static let (width, height) = (420.0, 190.0)
  private static let (left, right, top, bottom) = (62.0, 8.0, 8.0, 22.0)
  /// More could not be told apart.
  private static let maximumPoints = 600

  var figure: String {
    let legend = curves.filter { !$0.name.isEmpty }.enumerated().map { place, curve in
      #"<span style="--color:var(--c\#(place))">\#(curve.name)</span>"#
    }
    return """
      <figure><figcaption>\(title)</figcaption>\(drawing)\
      <div class="legend">\(legend.joined())</div></figure>
      """
  }

  private var drawing: String {
    let values = curves.flatMap(\.points).compactMap(\.value)
    let end = curves.flatMap(\.points).map(\.seconds).max() ?? 1
    guard let highest = values.max(), highest > 0 else {
      return "<p>Nothing was measured.</p>"
    }
    let lowest = values.filter { $0 > 0 }.min() ?? highest
    let marks = isLogarithmic ? Self.powers(lowest, highest) : Self.steps(highest)
    let (first, last) = (marks.first ?? 0, marks.last ?? 1)
    func y(_ value: Double) -> Double {
      let share =
        isLogarithmic
        ? log(max(value, first) / first) / max(log(last / first), 1e-9) : value / last
      return Self.height - Self.bottom - share * (Self.height - Self.top - Self.bottom)
    }
    func x(_ seconds: Double) -> Double {
      Self.left + seconds / max(end, 1e-9) * (Self.width - Self.left - Self.right)
    }
    let grid = marks.map { mark in
      """
      <line class="grid" x1="\(Self.left)" x2="\(Self.width - Self.right)" \
      y1="\(Self.short(y(mark)))" y2="\(Self.short(y(mark)))"/>\
      <text x="\(Self.left - 6)" y="\(Self.short(y(mark) + 4))" text-anchor="end">\(text(mark))</text>
      """
    }
    let times = [0, end / 2, end].map { time in
      """
      <text x="\(Self.short(x(time)))" y="\(Self.height - 5)" \
      text-anchor="\(time == 0 ? "start" : time == end ? "end" : "middle")">\
      \(Self.seconds(time)) s</text>
      """
    }
    let lines = curves.enumerated().map { place, curve in
      #"<path class="curve c\#(place)" d="\#(Self.path(curve.points, x, y))"/>"#
    }
    return """
      <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" aria-label="\(title)">\
      \(grid.joined())\(times.joined())\(lines.joined())</svg>
      """
  }

  /// A line that is broken where nothing was measured.
  private static func path(
    _ points: [(seconds: Double, value: Double?)], _ x: (Double) -> Double, _ y: (Double) -> Double
  ) -> String {
    var path = ""
    var isDrawing = false
    for index in stride(from: 0, to: points.count, by: max(1, points.count / maximumPoints)) {
      guard let value = points[index].value else {
        isDrawing = false
        continue
      }
      path += "\(isDrawing ? "L" : "M")\(short(x(points[index].seconds))) \(short(y(value)))"
      isDrawing = true
    }
    return path
  }

  /// Round values from 0 to above the highest.
  private static func steps(_ highest: Double) -> [Double] {
    let power = pow(10, floor(log10(highest / 4)))
    let step = [1, 2, 5, 10].map { $0 * power }.first { $0 * 4 >= highest } ?? highest
    return (0...Int((highest / step).rounded(.up))).map { Double($0) * step }
  }

  /// Powers of ten around the values.
  private static func powers(_ lowest: Double, _ highest: Double) -> [Double] {
    let first = Int(floor(log10(max(lowest, 1))))
    return (first...max(first + 1, Int(ceil(log10(highest))))).map { pow(10, Double($0)) }
  }

  private static func seconds(_ time: Double) -> String {
    String(format: time < 20 && time != time.rounded() ? "%.1f" : "%.0f", time)
  }

  private static func short(_ value: Double) -> String { String(format: "%.1f", value) }
}
