#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension RetryAdvice {
  /// What the answer of an HTTP server says.
  ///
  /// - With a `Retry-After` that can be read, status 408, 425, 429 and every 5xx is ``after(_:)``.
  /// - Another client error, such as 401 or 404, is ``whenTriggered``: the same request would get the
  ///   same answer. 408, 425 and 429 speak of the moment.
  /// - All else is ``backoff``.
  ///
  /// - Parameters:
  ///   - retryAfter: The value of the header field: a number of seconds, or a date such as
  ///     `Sun, 06 Nov 1994 08:49:37 GMT`.
  ///   - now: The time of day from which the date is counted. The clock of a device may be wrong by days;
  ///     the answer's own `Date` is not.
  public init(httpStatus: Int, retryAfter: String? = nil, now: Date = .now) {
    switch httpStatus {
    case 408, 425, 429, 500...599:
      self = retryAfter.flatMap { Self.pause($0, now) }.map { .after($0) } ?? .backoff
    case 400...499: self = .whenTriggered
    default: self = .backoff
    }
  }

  private static func pause(_ retryAfter: String, _ now: Date) -> Duration? {
    let text = retryAfter.trimmingPrefix { $0 == " " || $0 == "\t" }
    if let first = text.first, first.isNumber {
      let digits = text.prefix { $0 != " " && $0 != "\t" }
      guard digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
      // Limiters wait for a day at most, and clocks count no further than some years from now.
      return .seconds(min(Int(digits) ?? .max, longestSeconds))
    }
    return httpDate(text).map { date in
      .seconds(min(max(date.timeIntervalSince(now), 0), Double(longestSeconds)))
    }
  }

  private static var longestSeconds: Int { 86_400 }

  /// A date in the one form that servers may send (RFC 9110, 5.6.7); nil for others.
  package static func httpDate(_ text: some StringProtocol) -> Date? {
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let words = text.split(separator: " ")
    guard words.count == 6, words[0].hasSuffix(","), words[5] == "GMT",
      let day = Int(words[1]), let month = months.firstIndex(where: { $0 == words[2] }),
      let year = Int(words[3]), (1970...9999).contains(year), (1...31).contains(day)
    else { return nil }
    let time = words[4].split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
    guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
      (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
    else { return nil }
    // Days since 1 March of the year 0, when a year ends with its leap day.
    let years = month < 2 ? year - 1 : year
    let days =
      365 * years + years / 4 - years / 100 + years / 400 + (153 * ((month + 10) % 12) + 2) / 5
      + day - 1
    // 719,468 of them were gone on 1 January 1970.
    let seconds = (days - 719_468) * 86_400 + hour * 3600 + minute * 60 + second
    return Date(timeIntervalSince1970: Double(seconds))
  }
}
