import Foundation
import Larder
import LarderTestKit

/// A number that is stored, and how it compares with another one: worked out without what the library
/// does it with.
enum ExactNumber: Equatable {
  case integer(Int128)
  case double(Double)

  /// Below zero, zero or above zero; nil where one is not a number.
  func compare(_ other: ExactNumber) -> Int? {
    switch (self, other) {
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
    }
  }
}

/// A type of a field of numbers.
protocol OracleNumber: Comparand, Comparable {
  /// The stored number as this type reads it; nil where that is an error.
  static func read(_ number: ExactNumber) -> Self?
  /// What conditions take a number for that this type does not read.
  static var unreadable: Self? { get }
  var exact: ExactNumber { get }
}

extension OracleNumber where Self: FixedWidthInteger {
  static func read(_ number: ExactNumber) -> Self? {
    switch number {
    case .integer(let number): Self(exactly: number)
    case .double(let number): Self(exactly: number)
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
    }
  }
  static var unreadable: Float? { .nan }
  var exact: ExactNumber { .double(Double(self)) }
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
    while true { if let number = Number.read(exactNumber()) { return number } }
  }
}
