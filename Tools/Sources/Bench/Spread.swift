/// The middle and the ends of several measurements of one thing.
struct Spread {
  var median: Double
  var minimum: Double
  var maximum: Double

  /// Nil if there are no measurements.
  init?(_ values: [Double]) {
    let sorted = values.sorted()
    guard let first = sorted.first, let last = sorted.last else { return nil }
    let middle = sorted.count / 2
    median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    minimum = first
    maximum = last
  }

  /// Whether some measurement of one lies among those of the other, so that the medians alone do not
  /// say which is faster.
  func overlaps(_ other: Spread) -> Bool {
    minimum <= other.maximum && other.minimum <= maximum
  }
}
