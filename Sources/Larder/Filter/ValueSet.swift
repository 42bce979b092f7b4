#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The values of a long list in a condition, in which a value is looked up instead of being compared with each.
struct ValueSet: Sendable {
  private let values: Set<Value>

  /// Going through so many values is about as fast.
  private static let largestPlainCount = 16

  /// So many texts at most are compared with the bytes of a record, for which no string is made.
  static let largestTextCount = 64

  /// Nil where a comparison has no list, or a short one, or values that a set may tell apart although they are
  /// equal.
  init?(_ comparison: Comparison) {
    guard case .isAny(let list) = comparison, list.count > Self.largestPlainCount else {
      return nil
    }
    var values = Set<Value>(minimumCapacity: list.count)
    for value in list where value != .null {
      switch value {
      case .decimal: return nil
      // Only a caller makes one of these: a number that is read is an integer then.
      case .unsigned(let number) where number <= Int64.max: return nil
      default: values.insert(value.withOneNumber)
      }
    }
    self.values = values
  }

  /// Whether a value is equal to one of these, as ``Value/isEqual(to:)`` says.
  func contains(_ value: Value) -> Bool { values.contains(value.withOneNumber) }
}

extension Comparison {
  /// Whether it holds for `value`.
  ///
  /// - Parameter listed: The values of its list, if that is a long one.
  @inline(__always)
  func holds(for value: Value, listed: ValueSet?) -> Bool {
    listed?.contains(value) ?? holds(for: value)
  }
}

extension Value {
  /// Numbers of different kinds that are equal are one integer here. Of the others ``isEqual(to:)`` and `==`
  /// say the same, decimals excepted.
  fileprivate var withOneNumber: Value {
    guard case .double(let number) = self else { return self }
    return Int64(exactly: number).map { .integer($0) }
      ?? UInt64(exactly: number).map { .unsigned($0) } ?? self
  }
}
