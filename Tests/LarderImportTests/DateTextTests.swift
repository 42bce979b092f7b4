import Foundation
import Larder
import LarderImport
import LarderTestKit
import Testing

@Suite("Dates as text")
struct DateTextTests {
  @Test(
    "a date's text in ISO 8601 brings the same date back",
    arguments: [
      "0001-01-01T00:00:00.000Z", "0000-02-29T00:00:00.000Z", "1969-12-31T23:59:59.999Z",
      "2000-02-29T12:00:00.000Z", "2026-03-01T09:30:00.123456Z", "9999-12-31T23:59:59.999Z",
    ])
  func dates(text: String) throws {
    let date = try #require(ISO8601.date(from: text))

    #expect(DateText.text(of: date) == text)
    #expect(DateText.date(from: text) == date)
  }

  @Test("any date comes back to the last bit, NaN, infinities and far ones too")
  func randomDates() throws {
    var random = RandomSource()
    var inISO = 0
    for index in 0..<20_000 {
      let seconds =
        switch index % 4 {
        case 0: Double(bitPattern: random.next())
        case 1: Double(random.below(2_000_000_000)) / 1_000
        default: (Double(Int64(bitPattern: random.next()) >> 12) / 1e5).remainder(dividingBy: 6e10)
        }
      let date = Date(timeIntervalSinceReferenceDate: seconds)

      let text = DateText.text(of: date)

      let back = try #require(DateText.date(from: text), "\(text)")
      #expect(
        back.timeIntervalSinceReferenceDate == seconds
          || seconds.isNaN && back.timeIntervalSinceReferenceDate.isNaN, "\(text)")
      if text.hasSuffix("Z") { inISO += 1 }
    }
    #expect(inISO > 10_000)
  }

  @Test("a date that ISO 8601 cannot say is told by its seconds, and no other text is taken")
  func farDates() {
    let far = Date(timeIntervalSinceReferenceDate: 1e12)

    #expect(DateText.text(of: far) == "2001-01-01T00:00:00Z + 1000000000000.0 s")
    #expect(DateText.text(of: .distantFuture) == "4001-01-01T00:00:00.000Z")
    // Equal to the reference date, but other bytes on disk.
    let minusZero = DateText.text(of: Date(timeIntervalSinceReferenceDate: -0.0))
    #expect(minusZero == "2001-01-01T00:00:00Z + -0.0 s")
    #expect(DateText.date(from: minusZero)?.timeIntervalSinceReferenceDate.sign == .minus)
    for text in [
      "", "2001-01-01T00:00:00Z + ", "2001-01-01T00:00:00Z + s", "2001-01-01T00:00:00Z +  s",
      "2001-01-01T00:00:00Z + x s", "2001-01-01T00:00:00Z + 1", "1e12", "2001-13-01",
    ] {
      #expect(DateText.date(from: text) == nil, "\(text)")
    }
  }
}
