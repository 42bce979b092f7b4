#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a value is compared with. A nil value is equal to nil only and holds for no other.
enum Comparison: Sendable, Equatable {
  case compare(Relation, Value)
  case isAny([Value])
  /// An array or set with this element.
  case containsElement(Value)
  case hasPrefix(String)
  case hasSuffix(String)
  case containsText(String)
  /// An array or set with an element that this holds for.
  case containsMatch(FilterNode)

  static func equal(_ value: Value) -> Comparison { .compare(.equal, value) }
  static func less(_ value: Value) -> Comparison { .compare(.less, value) }
  static func lessOrEqual(_ value: Value) -> Comparison { .compare(.lessOrEqual, value) }
  static func greater(_ value: Value) -> Comparison { .compare(.greater, value) }
  static func greaterOrEqual(_ value: Value) -> Comparison { .compare(.greaterOrEqual, value) }

  /// Equal spelling: what is compared with NaN is equal to itself too.
  static func == (left: Comparison, right: Comparison) -> Bool {
    switch (left, right) {
    case (.compare(let relation, let left), .compare(let other, let right)):
      relation == other && left.isIdentical(to: right)
    case (.containsElement(let left), .containsElement(let right)): left.isIdentical(to: right)
    case (.isAny(let left), .isAny(let right)):
      left.elementsEqual(right) { $0.isIdentical(to: $1) }
    case (.hasPrefix(let left), .hasPrefix(let right)),
      (.hasSuffix(let left), .hasSuffix(let right)),
      (.containsText(let left), .containsText(let right)):
      left == right
    case (.containsMatch(let left), .containsMatch(let right)): left == right
    default: false
    }
  }
}

/// How two values stand to each other. The raw values are stored.
enum Relation: UInt8, Sendable {
  case equal, less, lessOrEqual, greater, greaterOrEqual

  /// Whether Swift's operator holds, made total where it is not.
  func holds(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .equal: left.isEqual(to: right)
    case .less: left.order(right) == .some(-1)
    case .lessOrEqual: left.isAtMost(right)
    case .greater: left.order(right) == .some(1)
    case .greaterOrEqual: right.isAtMost(left)
    }
  }

  /// The same with its sides exchanged.
  var mirrored: Relation {
    switch self {
    case .equal: .equal
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }

  var isUpperBound: Bool { self == .less || self == .lessOrEqual }
}

extension Comparison {
  /// Whether it holds for `value`. This is what comparisons mean; bytes answer alike, or not at all.
  func holds(for value: Value) -> Bool {
    switch (self, value) {
    case (.compare(let relation, let other), _): relation.holds(value, other)
    case (.isAny(let others), _): value != .null && others.contains { value.isEqual(to: $0) }
    case (.containsElement(let element), .array(let elements)):
      elements.contains { $0.isEqual(to: element) }
    case (.hasPrefix(let prefix), .string(let text)): text.hasPrefix(prefix)
    case (.hasSuffix(let suffix), .string(let text)): text.hasSuffix(suffix)
    case (.containsText(let part), .string(let text)): text.contains(part)
    case (.containsMatch(let node), _): FilterProgram(node, in: nil).holdsForAny(in: value)
    default: false
    }
  }
}

extension Value {
  /// Whether both are written alike: as `==`, but that a number which is none is itself.
  func isIdentical(to other: Value) -> Bool {
    switch (self, other) {
    case (.double(let left), .double(let right)):
      left == right || left.isNaN && left.bitPattern == right.bitPattern
    case (.date(let left), .date(let right)):
      Value.double(left.timeIntervalSinceReferenceDate).isIdentical(
        to: .double(right.timeIntervalSinceReferenceDate))
    case (.array(let left), .array(let right)):
      left.elementsEqual(right) { $0.isIdentical(to: $1) }
    default: self == other
    }
  }
}

extension Comparison {
  func description(of operand: String) -> String {
    switch self {
    case .compare(let relation, let value): "\(operand) \(relation) \(value)"
    case .isAny(let values): "\(operand) in \(Value.array(values))"
    case .containsElement(let value): "\(operand) contains \(value)"
    case .hasPrefix(let text): "\(operand) hasPrefix \(Value.string(text))"
    case .hasSuffix(let text): "\(operand) hasSuffix \(Value.string(text))"
    case .containsText(let text): "\(operand) contains \(Value.string(text))"
    case .containsMatch(let condition): "\(operand) contains { \(condition) }"
    }
  }
}

extension Relation: CustomStringConvertible {
  var description: String {
    switch self {
    case .equal: "=="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}
