#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The scalars that a comparison holds for, as one range of numbers.
///
/// A bool, an integer, a double or a date has a key: an `Int64` that is smaller where the value is.
/// So one subtraction and one comparison answer every operator of every such kind.
struct ScalarRange: Equatable {
  private let lower: Int64
  private let width: UInt64

  /// From one key to another, beyond the largest key and on from the smallest where the first is
  /// the larger one.
  init(_ lower: Int64, _ upper: Int64) {
    self.lower = lower
    width = UInt64(bitPattern: upper &- lower)
  }

  @inline(__always) func contains(_ key: Int64) -> Bool {
    UInt64(bitPattern: key &- lower) <= width
  }

  /// The keys that are so to those from `first` to `last`, which all stand for one value; nil where
  /// there are none.
  init?(_ relation: Relation, _ first: Int64, _ last: Int64, in keys: ClosedRange<Int64>) {
    switch relation {
    case .equal: self.init(first, last)
    case .lessOrEqual: self.init(keys.lowerBound, last)
    case .greaterOrEqual: self.init(first, keys.upperBound)
    case .less:
      guard first > keys.lowerBound else { return nil }
      self.init(keys.lowerBound, first - 1)
    case .greater:
      guard last < keys.upperBound else { return nil }
      self.init(last + 1, keys.upperBound)
    }
  }

  /// The values of a kind that are so to `value`; nil where there are none, or no range of them.
  init?(_ relation: Relation, _ value: Value, as scalar: IndexScalar) {
    switch (scalar, value) {
    case (.bool, .bool(let value)) where relation == .equal:
      self.init(value ? 1 : 0, value ? 1 : 0)
    case (.integer, .integer(let value)):
      self.init(relation, value, value, in: .min ... .max)
    case (.double, .double(let value)): self.init(relation, value)
    case (.date, .date(let value)):
      let value = value.timeIntervalSinceReferenceDate
      switch relation {
      // `Date` has these from `Comparable`: they hold where the opposite does not, for NaN too.
      case .lessOrEqual where !value.isNaN:
        self.init(Self.numbers.upperBound + 1, Self.keys(of: value).upperBound)
      case .greaterOrEqual where !value.isNaN:
        self.init(Self.keys(of: value).lowerBound, Self.numbers.lowerBound - 1)
      default: self.init(relation, value)
      }
    default: return nil
    }
  }

  private init?(_ relation: Relation, _ value: Double) {
    if value.isNaN { return nil }
    let keys = Self.keys(of: value)
    self.init(relation, keys.lowerBound, keys.upperBound, in: Self.numbers)
  }

  /// The keys of all doubles but NaN.
  private static let numbers = key(-Double.infinity)...key(Double.infinity)

  /// The keys of the doubles that are equal to this one: two for zero.
  private static func keys(of value: Double) -> ClosedRange<Int64> {
    value == 0 ? key(-0.0)...key(0.0) : key(value)...key(value)
  }

  private static func key(_ value: Double) -> Int64 { key(doubleBits: value.bitPattern) }

  /// Of doubles below zero the larger one has the smaller bits.
  @inline(__always) static func key(doubleBits bits: UInt64) -> Int64 {
    let bits = Int64(bitPattern: bits)
    return bits ^ (bits &>> 63 & .max)
  }
}
