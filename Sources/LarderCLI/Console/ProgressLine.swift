#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A line on standard error that is written over again and again; nothing where that is no
/// terminal.
struct ProgressLine {
  private let isShown: Bool
  private let clock = ContinuousClock()
  private let start: ContinuousClock.Instant
  private var last: ContinuousClock.Instant?

  init() {
    isShown = Console.errorIsTerminal && getenv("TERM").map { String(cString: $0) } != "dumb"
    start = clock.now
  }

  /// Shows how far the work is, ten times a second at most.
  ///
  /// - Parameters:
  ///   - fraction: Done of the whole work, from 0 to 1, where that is known.
  ///   - details: What else is to be said; asked for only when it is shown.
  mutating func show(
    _ activity: String, fraction: Double?, details: (_ seconds: Double) -> [String]
  ) {
    guard isShown else { return }
    let now = clock.now
    if let last, last.duration(to: now) < .milliseconds(100) { return }
    last = now
    let seconds = start.duration(to: now) / .seconds(1)
    var parts = [activity]
    if let fraction { parts.append("\(Int(fraction * 100))%") }
    parts += details(seconds)
    if let fraction, fraction > 0.02, seconds > 0.5 {
      parts.append("\(Self.clockTime(seconds / fraction - seconds)) left")
    }
    let line = parts.joined(separator: "  ")
    Console.note("\r\(line.prefix(max(Self.width - 1, 20)))\u{1B}[K")
  }

  /// Takes the line away.
  mutating func clear() {
    guard isShown, last != nil else { return }
    Console.note("\r\u{1B}[K")
    last = nil
  }

  /// Minutes and seconds, such as `1:07`.
  static func clockTime(_ seconds: Double) -> String {
    let whole = Int(max(0, min(seconds, 359_999)).rounded(.up))
    let rest = whole % 60
    return "\(whole / 60):\(rest < 10 ? "0" : "")\(rest)"
  }

  private static var width: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
