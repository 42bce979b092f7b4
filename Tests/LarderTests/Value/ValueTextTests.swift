import Foundation
import Larder
import Testing

/// What errors and plans show of values.
@Suite("the text of a value") struct ValueTextTests {
  @Test(
    "of a date is in ISO 8601, and says its seconds where that cannot say it",
    arguments: [
      (-63_113_904_000, "0001-01-01T00:00:00.000Z"), (0.123456, "2001-01-01T00:00:00.123456Z"),
      (0, "2001-01-01T00:00:00.000Z"),
      (252_423_993_599, "9999-12-31T23:59:59.000Z"),
      (252_423_993_600, "2001-01-01T00:00:00Z + 252423993600.0 s"),
      (-63_145_526_401, "2001-01-01T00:00:00Z + -63145526401.0 s"),
      (.nan, "2001-01-01T00:00:00Z + nan s"), (.infinity, "2001-01-01T00:00:00Z + inf s"),
      (-1e300, "2001-01-01T00:00:00Z + -1e+300 s"),
    ] as [(Double, String)])
  func dates(_ seconds: Double, _ text: String) {
    let value = Value.date(Date(timeIntervalSinceReferenceDate: seconds))
    #expect(value.description == "\"\(text)\"")
  }
}
