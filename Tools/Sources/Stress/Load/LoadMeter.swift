import CStress
import Foundation

/// What one process of a load has done, in memory that the display reads: how many operations, and
/// how long each took, to an eighth of its power of two.
struct LoadMeter: Sendable {
  enum Place {
    static let count = 0
    /// The last change that a watcher was told of by the log.
    static let sequence = 1
    static let buckets = 8
  }

  static let bucketCount = 64 * 8
  private let words: MappedFile

  init(in folder: URL, process: Int) throws {
    words = try MappedFile(
      folder.appendingPathComponent("meter-\(process)"),
      wordCount: Place.buckets + Self.bucketCount)
  }

  func note(nanoseconds: UInt64) {
    words.add(1, at: Place.count)
    words.add(1, at: Place.buckets + Self.bucket(of: nanoseconds))
  }

  var sequence: UInt64 {
    get { words[Place.sequence] }
    nonmutating set { words[Place.sequence] = newValue }
  }

  var latencies: Latencies {
    Latencies(counts: (0..<Self.bucketCount).map { words[Place.buckets + $0] })
  }

  private static func bucket(of nanoseconds: UInt64) -> Int {
    guard nanoseconds >= 8 else { return Int(nanoseconds) }
    let power = 63 - nanoseconds.leadingZeroBitCount
    return (power - 2) * 8 + Int(nanoseconds >> UInt64(power - 3) & 7)
  }

  /// The middle of a bucket.
  static func nanoseconds(of bucket: Int) -> Double {
    guard bucket >= 8 else { return Double(bucket) }
    let power = bucket / 8 + 2
    return (Double(8 + bucket % 8) + 0.5) * pow(2, Double(power - 3))
  }
}

/// How often what took how long.
struct Latencies: Sendable {
  var counts: [UInt64]

  static let none = Latencies(counts: Array(repeating: 0, count: LoadMeter.bucketCount))

  var total: UInt64 { counts.reduce(0, +) }

  static func + (left: Latencies, right: Latencies) -> Latencies {
    Latencies(counts: zip(left.counts, right.counts).map { $0 + $1 })
  }

  static func - (left: Latencies, right: Latencies) -> Latencies {
    Latencies(counts: zip(left.counts, right.counts).map { $0 - min($0, $1) })
  }

  /// In nanoseconds; nil where nothing was done.
  func percentile(_ share: Double) -> Double? {
    let total = total
    guard total > 0 else { return nil }
    let wanted = max(1, UInt64((Double(total) * share).rounded(.up)))
    var seen: UInt64 = 0
    for (bucket, count) in counts.enumerated() {
      seen += count
      if seen >= wanted { return LoadMeter.nanoseconds(of: bucket) }
    }
    return nil
  }
}
