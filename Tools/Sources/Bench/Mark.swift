/// A figure that an operation of Larder should reach. Reports show it; missing it never fails a run.
struct Mark {
  let text: String
  /// How far it is: at or below 1 where the mark is met.
  let part: Double

  var isMet: Bool { part <= 1 }

  /// For reports.
  var description: String { isMet ? text : "\(text), missed" }

  /// That `larder` is at most `most` times what another took.
  static func ratio(_ most: Double, of larder: Double, to other: Double, _ name: String) -> Self {
    Self(
      text: "\(Report.fixed(larder / other, 2)) of \(Report.fixed(most, 2)) of \(name)",
      part: larder / other / most)
  }
}

/// A measurement with what it was to reach.
struct MarkedMeasurement {
  let measurement: Measurement
  let marks: [Mark]
}
