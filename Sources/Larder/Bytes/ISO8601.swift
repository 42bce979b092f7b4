#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Dates in text, strictly: `2026-03-01`, `2026-03-01T09:30Z`, `2026-03-01T09:30:00.250+02:00`.
///
/// The whole text must be a date that exists; Foundation's parser takes 30 February and ignores
/// what follows a date. Without a time it is midnight UTC; a time needs its zone. A leap second
/// is the second after. Source: RFC 3339, section 5.6; the day count is Howard Hinnant's
/// `days_from_civil` (https://howardhinnant.github.io/date_algorithms.html).
package enum ISO8601 {
  /// The date that a text in this format names; nil for any other text.
  package static func date(from text: String) -> Date? {
    var text = text
    return text.withUTF8 { date(from: $0) }
  }

  /// The date that the UTF-8 of a text is.
  package static func date(from bytes: UnsafeBufferPointer<UInt8>) -> Date? {
    var text = Text(bytes: bytes)
    guard let year = text.number(4), text.skip("-"), let month = text.number(2), text.skip("-"),
      let day = text.number(2), (1...12).contains(month), (1...days(in: month, year)).contains(day)
    else { return nil }
    var seconds = (daysSince1970(year, month, day) - daysToReferenceDate) * 86_400
    var fraction = 0.0
    if !text.isAtEnd {
      guard text.skip("T") || text.skip("t") || text.skip(" "), let time = text.time(),
        let zone = text.zone(), text.isAtEnd
      else { return nil }
      seconds += time.seconds - zone
      fraction = time.fraction
    }
    // Added last, so that it is rounded once: what was printed is what is read.
    return Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction)
  }

  /// From 1970 to 2001.
  private static let daysToReferenceDate = 11_323

  private static func days(in month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private struct Text {
    let bytes: UnsafeBufferPointer<UInt8>
    var place = 0

    var isAtEnd: Bool { place == bytes.count }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard place < bytes.count, bytes[place] == UInt8(ascii: character) else { return false }
      place += 1
      return true
    }

    private mutating func digit() -> Int? {
      guard place < bytes.count, (0x30...0x39).contains(bytes[place]) else { return nil }
      place += 1
      return Int(bytes[place - 1] - 0x30)
    }

    mutating func number(_ digits: Int) -> Int? {
      var number = 0
      for _ in 0..<digits {
        guard let digit = digit() else { return nil }
        number = number * 10 + digit
      }
      return number
    }

    /// Seconds since midnight.
    mutating func time() -> (seconds: Int, fraction: Double)? {
      guard let hour = number(2), hour < 24, skip(":"), let minute = number(2), minute < 60
      else { return nil }
      let seconds = hour * 3600 + minute * 60
      guard skip(":") else { return (seconds, 0) }
      guard let second = number(2), second <= 60 else { return nil }
      guard skip(".") || skip(",") else { return (seconds + second, 0) }
      let start = place
      while digit() != nil {}
      guard place > start else { return nil }
      return (seconds + second, fraction(of: bytes[start..<place]))
    }

    /// The value of the digits behind a decimal point.
    private func fraction(of digits: Slice<UnsafeBufferPointer<UInt8>>) -> Double {
      guard digits.count > 15 else {
        // Both operands are exact, so one operation rounds correctly (Clinger 1990).
        var (number, scale) = (0, 1.0)
        for digit in digits { (number, scale) = (number * 10 + Int(digit - 0x30), scale * 10) }
        return Double(number) / scale
      }
      return Double("0." + String(decoding: digits, as: UTF8.self)) ?? 0
    }

    /// Seconds that the zone is ahead of UTC.
    mutating func zone() -> Int? {
      if skip("Z") || skip("z") { return 0 }
      let isAhead = skip("+")
      guard isAhead || skip("-"), let hour = number(2), hour < 24 else { return nil }
      _ = skip(":")
      guard let minute = number(2), minute < 60 else { return nil }
      return (hour * 3600 + minute * 60) * (isAhead ? 1 : -1)
    }
  }
}
