#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Dates as text that brings the same date back, to the last bit.
package enum DateText {
  /// What stands before the seconds of a date that ISO 8601 cannot say.
  private static let origin = "2001-01-01T00:00:00Z + "

  /// `2026-03-01T09:30:00.250Z`, with 3, 6 or 9 digits; where that would be another date, or the
  /// year is not one from 0 to 9999, its seconds: `2001-01-01T00:00:00Z + 1e+17 s`.
  package static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    for digits in [3, 6, 9] {
      guard let text = text(of: date, digits: digits) else { break }
      let back = ISO8601.date(from: text)?.timeIntervalSinceReferenceDate
      // By bits: -0.0 is another date on disk.
      if back?.bitPattern == seconds.bitPattern { return text }
    }
    return "\(origin)\(seconds.isNaN ? .nan : seconds) s"
  }

  /// The date that `text` is, in ISO 8601 or as ``text(of:)`` writes it; nil where it is none.
  package static func date(from text: String) -> Date? {
    guard text.utf8.count > origin.utf8.count, text.hasPrefix(origin), text.hasSuffix(" s") else {
      return ISO8601.date(from: text)
    }
    return Double(text.dropFirst(origin.count).dropLast(2))
      .map(Date.init(timeIntervalSinceReferenceDate:))
  }

  /// Whether bytes are a date in the form of `2026-03-01T09:30:00.250Z`, which ``text(of:)`` writes again.
  package static func isUsual(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    // A leap second would become the one after.
    bytes.count == 24 && bytes[10] == UInt8(ascii: "T") && bytes[19] == UInt8(ascii: ".")
      && bytes[17] != UInt8(ascii: "6") && bytes[23] == UInt8(ascii: "Z")
      && ISO8601.date(from: bytes) != nil
  }

  private static func text(of date: Date, digits: Int) -> String? {
    let time = date.timeIntervalSinceReferenceDate
    guard time.isFinite, time.magnitude < 1e12 else { return nil }
    let scale = digits == 3 ? 1e3 : digits == 6 ? 1e6 : 1e9
    var seconds = Int(time.rounded(.down))
    var fraction = Int(((time - time.rounded(.down)) * scale).rounded())
    if fraction == Int(scale) { (seconds, fraction) = (seconds + 1, 0) }
    let days = (Double(seconds) / 86_400).rounded(.down)
    let second = seconds - Int(days) * 86_400
    guard let (year, month, day) = civil(daysSinceReferenceDate: Int(days)) else { return nil }
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
      + "T\(padded(second / 3600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))"
      + ".\(padded(fraction, digits))Z"
  }

  private static func padded(_ number: Int, _ digits: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  /// The Gregorian date of a day. Source: Howard Hinnant's `civil_from_days`
  /// (https://howardhinnant.github.io/date_algorithms.html).
  private static func civil(
    daysSinceReferenceDate days: Int
  ) -> (year: Int, month: Int, day: Int)? {
    let shifted = days + 11_323 + 719_468  // From 2001 to 1970, and to the first of March of 0.
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    guard (0...9999).contains(year) else { return nil }
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
