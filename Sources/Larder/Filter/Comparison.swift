#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a value is compared with. A nil value is equal to nil only and holds for no other.
enum Comparison: Sendable, Equatable {
  case equal(Value)
  case less(Value)
  case lessOrEqual(Value)
  case greater(Value)
  case greaterOrEqual(Value)
  case isAny([Value])
  /// An array or set with this element.
  case containsElement(Value)
  case hasPrefix(String)
  case hasSuffix(String)
  case containsText(String)
  /// An array or set with an element that this holds for.
  case containsMatch(FilterNode)

  /// Equal spelling: what is compared with NaN is equal to itself too.
  static func == (left: Comparison, right: Comparison) -> Bool {
    switch (left, right) {
    case (.equal(let left), .equal(let right)), (.less(let left), .less(let right)),
      (.lessOrEqual(let left), .lessOrEqual(let right)), (.greater(let left), .greater(let right)),
      (.greaterOrEqual(let left), .greaterOrEqual(let right)),
      (.containsElement(let left), .containsElement(let right)):
      left.isIdentical(to: right)
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

/// How two fields of one document stand to each other.
enum Relation: UInt8, Sendable {
  case equal, less, lessOrEqual

  func holds(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .equal: left.isEqual(to: right)
    case .less: left.order(right) == .some(-1)
    case .lessOrEqual: left.isAtMost(right)
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
    case .equal(let value): "\(operand) == \(value)"
    case .less(let value): "\(operand) < \(value)"
    case .lessOrEqual(let value): "\(operand) <= \(value)"
    case .greater(let value): "\(operand) > \(value)"
    case .greaterOrEqual(let value): "\(operand) >= \(value)"
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
    }
  }
}
