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
public struct FieldTotal: Sendable {
  private(set) var integers: Int128 = 0
  private(set) var doubles = ExactSum()
  private(set) var decimals: Decimal = 0
  /// How many values there were.
  private(set) var count = 0
  /// Whether decimals needed more digits than there are, so that their order matters, and none can
  /// be taken away.
  private(set) var isRounded = false

  /// Adds a value; nil counts for nothing.
  mutating func add(_ value: Value) {
    switch value {
    case .integer(let value): integers += Int128(value)
    case .unsigned(let value): integers += Int128(value)
    case .double(let value): doubles.add(value)
    case .decimal(let value): setDecimals(decimals + value, from: decimals, value)
    default: return
    }
    count += 1
  }

  /// Takes away a value that was added.
  mutating func remove(_ value: Value) {
    switch value {
    case .integer(let value): integers -= Int128(value)
    case .unsigned(let value): integers -= Int128(value)
    case .double(let value): doubles.remove(value)
    case .decimal(let value): setDecimals(decimals - value, from: decimals, -value)
    default: return
    }
    count -= 1
  }

  /// - Parameters:
  ///   - sum: Of the other two.
  private mutating func setDecimals(_ sum: Decimal, from old: Decimal, _ change: Decimal) {
    // What was added to NaN cannot be taken away either.
    if sum.isNaN || sum - change != old || sum - old != change { isRounded = true }
    decimals = sum
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
    total.doubles.value / Double(total.count)
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
