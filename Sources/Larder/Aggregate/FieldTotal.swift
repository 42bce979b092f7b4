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
  var integers: Int128 = 0
  var doubles = 0.0
  var decimals: Decimal = 0
  /// How many values there were.
  var count = 0

  /// Adds a value; nil counts for nothing.
  mutating func add(_ value: Value) {
    switch value {
    case .integer(let value): integers += Int128(value)
    case .unsigned(let value): integers += Int128(value)
    case .double(let value): doubles += value
    case .decimal(let value): decimals += value
    default: return
    }
    count += 1
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

/// Floating-point numbers are added as doubles, one after the other; NaN makes the sum NaN.
extension Summable where Self: BinaryFloatingPoint {
  public static func _sum(_ total: FieldTotal) -> Double? { total.doubles }
  public static func _average(_ total: FieldTotal) -> Double {
    total.doubles / Double(total.count)
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
