/// A condition on documents of type `Entity`: what the operators on ``QueryField`` make.
public struct Filter<Entity>: Sendable, Equatable {
  let node: FilterNode

  public static func && (left: Self, right: @autoclosure () -> Self) -> Self {
    Self(node: .all([left.node, right().node]))
  }

  public static func || (left: Self, right: @autoclosure () -> Self) -> Self {
    Self(node: .any([left.node, right().node]))
  }

  public static prefix func ! (filter: Self) -> Self { Self(node: .not(filter.node)) }
}

/// The one form of every condition; what plans and evaluates it looks only at this.
indirect enum FilterNode: Sendable, Equatable {
  case constant(Bool)
  case conjunction([FilterNode])
  case disjunction([FilterNode])
  case not(FilterNode)
  case test(Operand, Comparison)

  static func all(_ nodes: [FilterNode]) -> FilterNode {
    let parts = nodes.flatMap { node -> [FilterNode] in
      switch node {
      case .constant(true): []
      case .conjunction(let parts): parts
      default: [node]
      }
    }
    return parts.isEmpty ? .constant(true) : parts.count == 1 ? parts[0] : .conjunction(parts)
  }

  static func any(_ nodes: [FilterNode]) -> FilterNode {
    let parts = nodes.flatMap { node -> [FilterNode] in
      if case .disjunction(let parts) = node { parts } else { [node] }
    }
    return parts.count == 1 ? parts[0] : .disjunction(parts)
  }
}

/// What a condition or an order looks at.
enum Operand: Sendable, Equatable {
  /// A stored field: the way down to it from the document.
  case field([FieldStep])
  /// What only the decoded document can say; compared by identity.
  case computed(Computed)

  final class Computed: Sendable, Equatable {
    let value: @Sendable (borrowing RecordReader) throws(RecordError) -> Value

    init(_ value: @escaping @Sendable (borrowing RecordReader) throws(RecordError) -> Value) {
      self.value = value
    }

    static func == (left: Computed, right: Computed) -> Bool { left === right }
  }
}

/// One name on the way down to a field.
struct FieldStep: Sendable, Equatable {
  let name: String
  /// What the type reads the field as; a record may hold a number of another width.
  let kind: Kind<SchemaReference>
  /// The value in a record that lacks the field; nil where that is an error.
  let absent: Value?

  init(name: String, kind: Kind<SchemaReference>, absent: Value?) {
    self.name = name
    self.kind = kind
    self.absent = absent
  }

  init(_ field: FieldDescription) {
    self.init(name: field.name, kind: field.kind, absent: field.absentValue)
  }
}

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
}

extension FilterNode: CustomStringConvertible {
  var description: String {
    switch self {
    case .constant(let value): "\(value)"
    case .conjunction(let parts): parts.map(\.nested).joined(separator: " && ")
    case .disjunction(let parts): parts.map(\.nested).joined(separator: " || ")
    case .not(.test(let operand, .equal(let value))): "\(operand) != \(value)"
    case .not(let node): "!(\(node))"
    case .test(let operand, let comparison): comparison.description(of: "\(operand)")
    }
  }

  private var nested: String {
    switch self {
    case .conjunction, .disjunction: "(\(self))"
    default: "\(self)"
    }
  }
}

extension Operand: CustomStringConvertible {
  var description: String {
    switch self {
    case .field(let path): path.map(\.name).joined(separator: ".")
    case .computed: "<computed>"
    }
  }
}

extension Comparison {
  fileprivate func description(of operand: String) -> String {
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
    }
  }
}
