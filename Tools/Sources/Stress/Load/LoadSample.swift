import Foundation

/// How a load goes at one moment.
struct LoadSample: Sendable {
  /// What one kind of process did between this sample and the one before.
  struct Work: Sendable {
    var perSecond: Double?
    var p50: Double?
    var p99: Double?
    var p999: Double?
    var total: UInt64 = 0

    init() {}

    init(_ all: Latencies, since earlier: Latencies, seconds: Double) {
      let latest = all - earlier
      total = all.total
      perSecond = seconds > 0 ? Double(latest.total) / seconds : nil
      (p50, p99, p999) = (
        latest.percentile(0.5), latest.percentile(0.99), latest.percentile(0.999)
      )
    }
  }

  var seconds = 0.0
  var writes = Work()
  var reads = Work()
  var news = Work()
  /// Of all processes together, without the pages of the file.
  var memoryByteCount = 0
  var fileByteCount = 0
  var freeByteCount = 0
  var logByteCount = 0
  /// Changes that the slowest watcher has not been told of.
  var logLag = 0
  var readerSlots = 0
  var maximumReaderSlots = 0
  var documents = 0
}

/// Numbers for people.
enum LoadText {
  static func time(_ nanoseconds: Double?) -> String {
    guard let nanoseconds else { return "-" }
    switch nanoseconds {
    case ..<1e3: return "\(Int(nanoseconds)) ns"
    case ..<1e6: return short(nanoseconds / 1e3) + " us"
    case ..<1e9: return short(nanoseconds / 1e6) + " ms"
    default: return short(nanoseconds / 1e9) + " s"
    }
  }

  static func bytes(_ count: Int) -> String {
    switch Double(count) {
    case let count where count < 1e3: return "\(Int(count)) B"
    case let count where count < 1e6: return short(count / 1e3) + " kB"
    case let count where count < 1e9: return short(count / 1e6) + " MB"
    case let count: return short(count / 1e9) + " GB"
    }
  }

  static func count(_ number: Double?) -> String {
    guard let number else { return "-" }
    var text = ""
    for (place, digit) in "\(Int(number.rounded()))".reversed().enumerated() {
      if place > 0, place % 3 == 0 { text = "," + text }
      text = "\(digit)" + text
    }
    return text
  }

  /// Three digits.
  private static func short(_ value: Double) -> String {
    String(format: value < 9.995 ? "%.2f" : value < 99.95 ? "%.1f" : "%.0f", value)
  }
}
