package import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Values that JSON has no notation for, as text: what imports read and exports write.
package enum ValueText {
  /// The value of `kind` that JSON's text stands for: dates, UUIDs, URLs, data and decimals, and
  /// the doubles that are no numbers in JSON. Nil where it stands for none, or for itself.
  package static func value(_ text: String, as kind: Kind<Int>) -> Value? {
    switch kind {
    case .date: DateText.date(from: text).map(Value.date)
    case .decimal: decimal(text)
    case .uuid, .url, .data: Value.string(text).coerced(to: kind)
    case .double, .float: double(text).map(Value.double)
    default: nil
    }
  }

  /// The text of a double that is no number in JSON; nil for the others.
  package static func text(of double: Double) -> String? {
    if double.isFinite { return nil }
    return double.isNaN ? "NaN" : double < 0 ? "-Infinity" : "Infinity"
  }

  private static func double(_ text: String) -> Double? {
    switch text {
    case "NaN": .nan
    case "Infinity": .infinity
    case "-Infinity": -.infinity
    default: nil
    }
  }

  /// Nil also for a number whose digits a decimal would round.
  private static func decimal(_ text: String) -> Value? {
    if text == "NaN" { return .decimal(.nan) }
    guard case .decimal(let decimal)? = Value.string(text).coerced(to: .decimal), decimal.isFinite
    else { return nil }
    return .decimal(decimal)
  }
}

extension SignificantDigits {
  /// The digits of a number from the first that is not zero to the last that is not.
  static func of(_ text: String) -> [UInt8] { Decimal.significantDigits(of: text) }
}
