import Foundation
import LarderTestKit
import Testing

@testable import Larder

@Suite struct ISO8601Tests {
  @Test(
    "a date that exists is read, with and without time, fraction and zone",
    arguments: [
      ("2001-01-01", 0), ("2001-01-01T00:00Z", 0), ("2001-01-01T00:00:00Z", 0),
      ("2001-01-01t00:00:00z", 0), ("2001-01-01 00:00:00Z", 0), ("2001-01-01T02:00:00+02:00", 0),
      ("2000-12-31T18:30:00-05:30", 0), ("2001-01-01T02:00:00+0200", 0),
      ("2001-01-01T00:00:00-00:00", 0), ("2001-01-01T00:00:01.5Z", 1.5),
      ("2001-01-01T00:00:01,5Z", 1.5), ("2001-01-01T00:00:00.1Z", 0.1),
      ("2001-01-01T00:00:00.000000001Z", 0.000000001), ("2001-01-02", 86_400),
      ("2000-12-31T23:59:60Z", 0), ("1970-01-01", -978_307_200), ("2000-02-29", -26_524_800),
      ("2004-02-29", 99_705_600), ("0001-01-01", -63_113_904_000), ("9999-12-31", 252_423_907_200),
    ])
  func exists(text: String, seconds: Double) {
    #expect(ISO8601.date(from: text)?.timeIntervalSinceReferenceDate == seconds)
  }

  @Test(
    "what is no date, or more than one, is refused",
    arguments: [
      "", "2026", "2026-03", "2026-3-01", "26-03-01", "2026-02-30", "2026-02-29", "1900-02-29",
      "2100-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00", "2026-01-32",
      "2026-03-01T", "2026-03-01T09:30", "2026-03-01T09:30:00", "2026-03-01T24:00:00Z",
      "2026-03-01T09:60:00Z", "2026-03-01T09:30:61Z", "2026-03-01T09:30:00.Z",
      "2026-03-01T09:30.5Z", "2026-03-01T9:30:00Z", "2026-03-01T09:30:00Zx",
      "2026-03-01T09:30:00Z ", " 2026-03-01", "2026-03-01x", "2026-03-01Z", "+2026-03-01",
      "-2026-03-01", "2026-03-01T09:30:00+24:00", "2026-03-01T09:30:00+02:60",
      "2026-03-01T09:30:00+2", "2026-03-01T09:30:00+02", "2026-03-01T09:30:00+", "2026/03/01",
      "2026-03-01T09:30:00 Z", "２０２６-03-01", "2026-03-01T09:30:00.5", "20260301",
      "2026-03-01\0", "2026-03-01T09:30:00.٣Z", "1e10-01-01",
    ])
  func refused(text: String) {
    #expect(ISO8601.date(from: text) == nil)
  }

  @Test("every day of 800 years is the one that Foundation's calendar gives")
  func calendar() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
    for year in stride(from: 1601, to: 2401, by: 1) {
      for (month, day) in [(1, 1), (2, 28), (3, 1), (6, 30), (12, 31)] {
        let text = String(format: "%04d-%02d-%02d", year, month, day)
        let expected = calendar.date(from: DateComponents(year: year, month: month, day: day))

        #expect(ISO8601.date(from: text) == expected, "\(text)")
      }
      let isLeap =
        calendar.range(
          of: .day, in: .year,
          for: calendar.date(
            from: DateComponents(year: year, month: 6))!)?.count == 366
      #expect((ISO8601.date(from: "\(year)-02-29") != nil) == isLeap, "\(year)")
    }
  }

  @Test("a date that was printed with milliseconds is read as the double nearest to them")
  func milliseconds() {
    var random = RandomSource()
    for _ in 0..<2000 {
      let thousandths = random.int(-3_000_000_000_000..<3_000_000_000_000)
      let date = Date(timeIntervalSinceReferenceDate: Double(thousandths) / 1000)
      let whole = thousandths - ((thousandths % 1000) + 1000) % 1000
      let text = Date(timeIntervalSinceReferenceDate: Double(whole / 1000))
        .formatted(Date.ISO8601FormatStyle())
        .replacing("Z", with: String(format: ".%03dZ", thousandths - whole))

      let read = ISO8601.date(from: text)

      #expect(read == date, "\(random.hint) \(text)")
    }
  }
}
