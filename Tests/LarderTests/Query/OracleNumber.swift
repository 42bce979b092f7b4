import Foundation
import Larder
import LarderTestKit

/// A number that is stored, and how it compares with another one: worked out without what the library
/// does it with.
enum ExactNumber: Equatable {
  case integer(Int128)
  case double(Double)
  case decimal(Decimal)

  /// Below zero, zero or above zero; nil where one is not a number. A double beside a decimal is the
  /// number that its shortest text says, and a decimal that is none is below all others, as in Swift.
  func compare(_ other: ExactNumber) -> Int? {
    switch (self, other) {
    case (.decimal(let left), .decimal(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.decimal(let left), .integer(let right)):
      left.isNaN ? -1 : DecimalDigits("\(left)").compare(DecimalDigits("\(right)"))
    case (.decimal, .double(let right)) where right.isNaN: nil
    case (.decimal(let left), .double(let right)) where right.isInfinite || left.isNaN:
      left.isNaN || right > 0 ? -1 : 1
    case (.decimal(let left), .double(let right)):
      DecimalDigits("\(left)").compare(DecimalDigits("\(right)"))
    case (_, .decimal): other.compare(self).map { -$0 }
    case (.integer(let left), .integer(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.double(let left), .double(let right)):
      left.isNaN || right.isNaN ? nil : left < right ? -1 : left == right ? 0 : 1
    case (.integer(let left), .double(let right)): Self.compare(left, right)
    case (.double, .integer): other.compare(self).map { -$0 }
    }
  }

  private static func compare(_ left: Int128, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    if right.magnitude >= 0x1p100 { return right < 0 ? 1 : -1 }
    let floor = Int128(right.rounded(.down))
    if left != floor { return left < floor ? -1 : 1 }
    return Double(floor) == right ? 0 : -1
  }

  /// As documents without a type have it.
  var value: Value {
    switch self {
    case .integer(let number):
      Int64(exactly: number).map(Value.integer) ?? .unsigned(UInt64(number))
    case .double(let number): .double(number)
    case .decimal(let number): .decimal(number)
    }
  }

  var isNumber: Bool {
    switch self {
    case .integer: true
    case .double(let number): !number.isNaN
    case .decimal(let number): !number.isNaN
    }
  }
}

/// A number as its text has it, with digits without end.
private struct DecimalDigits {
  private let isNegative: Bool
  /// Without zeros at either end; none for zero.
  private let digits: [UInt8]
  /// Of ten, for the first digit.
  private let exponent: Int

  /// - Parameter text: Such as "-12", "0.5" or "1.5e-07".
  init(_ text: String) {
    let parts = text.drop { $0 == "-" }.split(separator: "e")
    let halves = parts[0].split(separator: ".")
    let all = Array(halves.joined().utf8)
    let zeros = all.prefix { $0 == UInt8(ascii: "0") }.count
    isNegative = text.hasPrefix("-")
    digits = Array(all[zeros...].reversed().drop { $0 == UInt8(ascii: "0") }.reversed())
    exponent = halves[0].utf8.count - zeros + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
  }

  func compare(_ other: DecimalDigits) -> Int {
    if sign != other.sign { return sign < other.sign ? -1 : 1 }
    if sign == 0 { return 0 }
    let isSmaller =
      exponent == other.exponent
      ? digits.lexicographicallyPrecedes(other.digits) : exponent < other.exponent
    if digits == other.digits, exponent == other.exponent { return 0 }
    return isSmaller == isNegative ? 1 : -1
  }

  private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }
}

/// A type of a field of numbers.
protocol OracleNumber: Comparand, Comparable {
  /// The stored number as this type reads it; nil where that is an error.
  static func read(_ number: ExactNumber) -> Self?
  /// What conditions take a number for that this type does not read.
  static var unreadable: Self? { get }
  var exact: ExactNumber { get }
  static func random(using random: inout RandomSource) -> Self
  /// What a field of this type is compared with.
  static func randomOperand(using random: inout RandomSource) -> ExactNumber
}

extension OracleNumber {
  static func random(using random: inout RandomSource) -> Self {
    while true { if let number = read(random.exactNumber()) { return number } }
  }

  static func randomOperand(using random: inout RandomSource) -> ExactNumber {
    random.exactNumber()
  }
}

extension OracleNumber where Self: FixedWidthInteger {
  static func read(_ number: ExactNumber) -> Self? {
    switch number {
    case .integer(let number): Self(exactly: number)
    case .double(let number): Self(exactly: number)
    case .decimal: nil
    }
  }
  static var unreadable: Self? { nil }
  var exact: ExactNumber { .integer(Int128(self)) }
}

extension Int8: OracleNumber {}
extension Int16: OracleNumber {}
extension Int32: OracleNumber {}
extension Int: OracleNumber {}
extension UInt32: OracleNumber {}
extension UInt64: OracleNumber {}

extension Double: OracleNumber {
  static func read(_ number: ExactNumber) -> Double? {
    switch number {
    case .integer(let number): Double(exactly: number)
    case .double(let number): number
    case .decimal: nil
    }
  }
  static var unreadable: Double? { .nan }
  var exact: ExactNumber { .double(self) }
}

extension Float: OracleNumber {
  static func read(_ number: ExactNumber) -> Float? {
    switch number {
    case .integer(let number): return Float(exactly: number)
    case .double(let number):
      let float = Float(number)
      if float.isInfinite, number.isFinite { return nil }
      return float == 0 && number != 0 ? nil : float
    case .decimal: return nil
    }
  }
  static var unreadable: Float? { .nan }
  var exact: ExactNumber { .double(Double(self)) }

  static func randomOperand(using random: inout RandomSource) -> ExactNumber {
    // A double becomes the nearest float.
    let number = random.exactNumber()
    if case .double = number { return read(number)?.exact ?? number }
    return number
  }
}

extension Decimal: OracleNumber {
  static func read(_ number: ExactNumber) -> Decimal? {
    if case .decimal(let number) = number { number } else { nil }
  }
  static var unreadable: Decimal? { nil }
  var exact: ExactNumber { .decimal(self) }

  /// Numbers that doubles do not tell apart, and those at the ends of what decimals can say.
  static func random(using random: inout RandomSource) -> Decimal {
    if random.once(in: 15) { return .nan }
    let texts = [
      "0", "0.1", "0.10000000000000000000000000000000000001", "0.3", "1e-128", "12e-128", "1e127",
      "9007199254740993", "9007199254740993.5", "18446744073709551616", "9223372036854775807.25",
      "12345678901234567890123456789012345678", "12345678901234567890123456789012345679",
      "1.2345678901234567890123456789012345678",
    ]
    let number = Decimal(string: random.pick(texts)) ?? .nan
    let steps = random.pick([0, 0, 1, 2])
    return (random.bool() ? number : -number) + Decimal(steps)
  }

  static func randomOperand(using random: inout RandomSource) -> ExactNumber {
    if random.bool() { return .decimal(Self.random(using: &random)) }
    while true {
      // NaN that is no decimal is refused.
      let double = random.pick([0.1, 0.3, -0.1, 1e200, -1e200, 1e-200])
      let number = random.bool() ? random.exactNumber() : .double(double)
      if number.isNumber { return number }
    }
  }
}

extension RandomSource {
  /// Numbers near those from which on doubles, floats and integers lack some.
  mutating func exactNumber() -> ExactNumber {
    let anchors: [Int128] = [
      0, 1 << 7, 1 << 15, 1 << 24, 1 << 31, 1 << 53, 1 << 54, 1 << 62, 1 << 63, 1 << 64,
    ]
    if once(in: 12) {
      return .double(
        pick([.nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude, 1e39, 1e-50, -1e300]))
    }
    let number = (bool() ? 1 : -1) * pick(anchors) + Int128(int(-3..<4))
    if once(in: 3) { return .double(Double(number) + pick([0, 0, 0.5, 0.1])) }
    let range = Int128(Int64.min)...Int128(UInt64.max)
    return .integer(min(max(number, range.lowerBound), range.upperBound))
  }

  /// One that a type can hold.
  mutating func number<Number: OracleNumber>(_ type: Number.Type) -> Number {
    type.random(using: &self)
  }
}
