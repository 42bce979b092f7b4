#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A number that fields can be summed up of.
public protocol Summable: Comparand {
  /// What a sum is: wide enough for many values, never rounded where the values are not.
  associatedtype Sum: Sendable
  /// What an average is.
  associatedtype Average: Sendable
  /// The sum; nil where it does not fit.
  static func _sum(_ total: FieldTotal) -> Sum?
  /// The average of one value or more.
  static func _average(_ total: FieldTotal) -> Average
}

/// What the values of a field add up to.
@_documentation(visibility: internal)
public struct FieldTotal: Sendable {
  private(set) var integers: Int128 = 0
  private(set) var doubles = ExactSum()
  private(set) var decimals: Decimal = 0
  /// How many values there were.
  private(set) var count = 0
  /// The room that decimals need, whatever their order.
  private var digits = DecimalDigits()
  /// Whether a sum of decimals may need more digits than there are, so that their order matters, and
  /// none can be taken away.
  var isRounded: Bool { !digits.fit }

  /// Adds a value; nil counts for nothing.
  mutating func add(_ value: Value) {
    switch value {
    case .integer(let value): integers += Int128(value)
    case .unsigned(let value): integers += Int128(value)
    case .double(let value): doubles.add(value)
    case .decimal(let value):
      decimals += value
      digits.add(value)
    default: return
    }
    count += 1
  }

  /// Adds all values of another.
  mutating func add(contentsOf other: FieldTotal) {
    integers += other.integers
    doubles.add(contentsOf: other.doubles)
    decimals += other.decimals
    digits.add(contentsOf: other.digits)
    count += other.count
  }

  /// Takes away a value that was added.
  mutating func remove(_ value: Value) {
    switch value {
    case .integer(let value): integers -= Int128(value)
    case .unsigned(let value): integers -= Int128(value)
    case .double(let value): doubles.remove(value)
    case .decimal(let value): decimals -= value
    default: return
    }
    count -= 1
  }
}

/// Which digits decimals have that were added up: as long as all of them fit into one decimal, every
/// sum of some of them is exact, in whatever order. That the sums so far were exact says nothing: what
/// cancels out may stand apart when it is added in another order.
private struct DecimalDigits {
  private var largest: Decimal = 0
  /// Digits of ``largest`` before the point.
  private var wholeCount = 0
  /// The place of the last digit of all, as a power of ten.
  private var lastPlace = 0
  /// How many were added, those that were taken away again included.
  private var count = 0
  private var hasNaN = false

  /// Every number of so many digits is a decimal, and some of one more.
  private static let mostDigits = 38

  var fit: Bool {
    if hasNaN { return false }
    if count == 0 { return true }
    // The sum of ten numbers has one digit more than the largest of them, at most.
    let carried = String(count).utf8.count
    return wholeCount + carried - lastPlace <= Self.mostDigits
  }

  mutating func add(_ value: Decimal) {
    guard !value.isNaN else { return hasNaN = true }
    count += 1
    lastPlace = min(lastPlace, value.exponent)
    let magnitude = value.magnitude
    guard magnitude > largest else { return }
    largest = magnitude
    var limit: Decimal = 1
    var significantCount = 0
    while significantCount <= Self.mostDigits, limit <= value.significand {
      limit *= 10
      significantCount += 1
    }
    wholeCount = max(wholeCount, value.exponent + significantCount)
  }

  mutating func add(contentsOf other: DecimalDigits) {
    largest = max(largest, other.largest)
    wholeCount = max(wholeCount, other.wholeCount)
    lastPlace = min(lastPlace, other.lastPlace)
    count += other.count
    hasNaN = hasNaN || other.hasNaN
  }
}

/// Sums of integers are exact; one that the result cannot hold is an error. Meanwhile sums may be
/// larger, so that the order of the values does not matter.
extension Summable where Self: FixedWidthInteger & SignedInteger {
  public static func _sum(_ total: FieldTotal) -> Int? { Int(exactly: total.integers) }
  public static func _average(_ total: FieldTotal) -> Double {
    Double(total.integers) / Double(total.count)
  }
}

extension Summable where Self: FixedWidthInteger & UnsignedInteger {
  public static func _sum(_ total: FieldTotal) -> UInt? { UInt(exactly: total.integers) }
  public static func _average(_ total: FieldTotal) -> Double {
    Double(total.integers) / Double(total.count)
  }
}

/// Floating-point numbers are added exactly, and the sum is rounded once, to the nearest double; NaN
/// makes it NaN.
extension Summable where Self: BinaryFloatingPoint {
  public static func _sum(_ total: FieldTotal) -> Double? { total.doubles.value }
  public static func _average(_ total: FieldTotal) -> Double {
    total.doubles.average(of: total.count)
  }
}

extension Int: Summable {}
extension Int64: Summable {}
extension Int32: Summable {}
extension Int16: Summable {}
extension Int8: Summable {}
extension UInt: Summable {}
extension UInt64: Summable {}
extension UInt32: Summable {}
extension UInt16: Summable {}
extension UInt8: Summable {}
extension Double: Summable {}
extension Float: Summable {}

extension Decimal: Summable {
  public static func _sum(_ total: FieldTotal) -> Decimal? { total.decimals }
  public static func _average(_ total: FieldTotal) -> Decimal {
    total.decimals / Decimal(total.count)
  }
}
