#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Value {
  /// Whether Swift's `==` on the decoded values holds: NaN equals nothing, strings are equal
  /// by canonical equivalence, numbers by value.
  func isEqual(to other: Value) -> Bool {
    if self == other { return true }
    return order(other) == .some(0)
  }

  /// Below zero, zero or above zero where Swift's operators order the two values; nil where
  /// they do not: nil, NaN, values of different kinds. Of decimals Swift orders NaN too, below
  /// all numbers.
  func order(_ other: Value) -> Int? {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): return Self.sign(left, right)
    case (.string(let left), .string(let right)):
      // Swift's `<` goes wrong where equal beginnings have different scalars: it says that
      // "\u{E9}a" and "e\u{301}" are neither less, equal nor greater. Normal forms it orders well.
      return left == right ? 0 : Self.sign(left.normalized(), right.normalized())
    case (.date(let left), .date(let right)):
      return Self.order(
        left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
    case (.bool(let left), .bool(let right)):
      return Self.sign(left ? 1 : 0, right ? 1 : 0)
    case (.uuid(let left), .uuid(let right)): return Self.sign(left, right)
    case (.decimal(let left), .decimal(let right)): return Self.order(left, right)
    case (.unsigned(let left), .unsigned(let right)): return Self.sign(left, right)
    case (.integer, .unsigned): return -1
    case (.unsigned, .integer): return 1
    case (.double(let left), .double(let right)): return Self.order(left, right)
    case (.integer(let left), .double(let right)): return Self.order(left, right)
    case (.unsigned(let left), .double(let right)): return Self.order(left, right)
    case (.double(let left), .integer(let right)): return Self.order(right, left).map { -$0 }
    case (.double(let left), .unsigned(let right)): return Self.order(right, left).map { -$0 }
    default: return nil
    }
  }

  /// Whether Swift's `<=` on the decoded values holds. `Date` has it from `Comparable`, as
  /// `!(other < self)`, so that it holds for a date that is NaN.
  func isAtMost(_ other: Value) -> Bool {
    if case (.date(let left), .date(let right)) = (self, other) { return left <= right }
    return order(other).map { $0 <= 0 } ?? false
  }

  /// A total order: nil first, then values as Swift orders them, NaN after all numbers; kinds
  /// that Swift does not compare follow each other. Both values come from ``sortable``.
  func totalOrder(_ other: Value) -> Int {
    if case (.string(let left), .string(let right)) = (self, other) {
      return Self.sign(left, right)
    }
    let (left, right) = (rank, other.rank)
    if left != right { return left < right ? -1 : 1 }
    if let order = order(other) { return order }
    switch (self, other) {
    case (.url(let left), .url(let right)):
      return Self.sign(left.absoluteString, right.absoluteString)
    case (.data(let left), .data(let right)):
      return left.withUnsafeBytes { left in right.withUnsafeBytes { Bytes.compare(left, $0) } }
    default: return 0
    }
  }

  /// The value as ``totalOrder(_:)`` takes it: text once and for all in its normal form.
  var sortable: Value {
    guard case .string(let text) = self, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return self }
    return .string(text.normalized())
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .double(let value) where value.isNaN: 3
    case .integer, .unsigned, .double: 2
    case .decimal(let value): value.isNaN ? 5 : 4
    case .date(let value): value.timeIntervalSinceReferenceDate.isNaN ? 7 : 6
    case .string: 8
    case .uuid: 9
    case .url: 10
    case .data: 11
    case .array: 12
    case .dictionary: 13
    case .document: 14
    }
  }

  private static func sign<Ordered: Comparable>(_ left: Ordered, _ right: Ordered) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  /// Exactly: with the integer rounded to a double the order would go in a circle.
  private static func order(_ left: some FixedWidthInteger, _ right: Double) -> Int? {
    if right.isNaN { return nil }
    let rounded = Double(left)
    if rounded != right { return rounded < right ? -1 : 1 }
    // No such integer: `right` is one more than the greatest, to which `left` was rounded up.
    guard let exact = type(of: left).init(exactly: right) else { return -1 }
    return sign(left, exact)
  }

  private static func order(_ left: Decimal, _ right: Decimal) -> Int? {
    #if LARDER_MUTANTS
      if Mutant.decimalsAsDoubles.isOn {
        return order(Double("\(left)") ?? .nan, Double("\(right)") ?? .nan)
      }
    #endif
    return sign(left, right)
  }

  private static func order(_ left: Double, _ right: Double) -> Int? {
    left < right ? -1 : left == right ? 0 : left > right ? 1 : nil
  }
}
