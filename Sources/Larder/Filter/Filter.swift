/// A condition on documents of type `Entity`: what the operators on ``QueryField`` make.
///
/// A condition may nest 100 levels deep, where a chain of `&&`, or one of `||`, is one level
/// however long it is. A query with a deeper one throws ``StoreError/queryTooDeep(limit:)``
/// wherever it is used.
public struct Filter<Entity>: Sendable, Equatable {
  let node: FilterNode
  /// Levels of the node.
  let depth: Int

  /// Deeper conditions are refused: everything that looks at one goes down with it. Less than
  /// `RecordFormat.maximumDepth`, so that what is allowed can be stored.
  static var maximumDepth: Int { 100 }

  init(node: FilterNode, depth: Int = 1) {
    self.node = depth > Self.maximumDepth ? .tooDeep : node
    self.depth = min(depth, Self.maximumDepth + 1)
  }

  public static func && (left: Self, right: @autoclosure () -> Self) -> Self {
    let right = right()
    return Self(
      node: .all([left.node, right.node]),
      depth: 1 + max(left.depth(inside: \.isConjunction), right.depth(inside: \.isConjunction)))
  }

  public static func || (left: Self, right: @autoclosure () -> Self) -> Self {
    let right = right()
    return Self(
      node: .any([left.node, right.node]),
      depth: 1 + max(left.depth(inside: \.isDisjunction), right.depth(inside: \.isDisjunction)))
  }

  // Disfavored: the compiler then looks at them last. Otherwise each condition, whether it has such a part or
  // not, takes it half as long again (9 ms to 14).

  /// The condition if `left` holds, and otherwise none that a document fulfils.
  @_disfavoredOverload
  public static func && (left: Bool, right: Self) -> Self {
    left ? right : Self(node: .constant(false))
  }

  /// Likewise.
  @_disfavoredOverload
  public static func && (left: Self, right: Bool) -> Self { right && left }

  /// Every document if `left` holds, and otherwise those that the condition holds for: `!onlyNew || $0.isNew`.
  @_disfavoredOverload
  public static func || (left: Bool, right: Self) -> Self {
    left ? Self(node: .constant(true)) : right
  }

  /// Likewise.
  @_disfavoredOverload
  public static func || (left: Self, right: Bool) -> Self { right || left }

  public static prefix func ! (filter: Self) -> Self {
    if case .not(let node) = filter.node { return Self(node: node, depth: filter.depth - 1) }
    if case .constant(let value) = filter.node { return Self(node: .constant(!value)) }
    return Self(node: .not(filter.node), depth: filter.depth + 1)
  }

  /// Levels below the one that a chain of the same operators joins.
  private func depth(inside isJoined: (FilterNode) -> Bool) -> Int {
    isJoined(node) ? depth - 1 : depth
  }
}

/// The one form of every condition; what plans and evaluates it looks only at this.
indirect enum FilterNode: Sendable, Equatable {
  case constant(Bool)
  case conjunction([FilterNode])
  case disjunction([FilterNode])
  case not(FilterNode)
  case test(Operand, Comparison)
  /// Two values of one document beside each other.
  case relation(Operand, Relation, Operand)
  case search(SearchCondition)
  /// Behind a place in an order; stands only beside the other conditions of a query, not in them.
  case behind(Position)
  /// The document under this key, whatever its fields say; stands where ``behind(_:)`` does.
  case key([UInt8])
  /// Stands for a condition of too many levels; never evaluated.
  case tooDeep

  static func all(_ nodes: [FilterNode]) -> FilterNode {
    if nodes.contains(where: \.isTooDeep) { return .tooDeep }
    if nodes.contains(.constant(false)) { return .constant(false) }
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
    if nodes.contains(where: \.isTooDeep) { return .tooDeep }
    if nodes.contains(.constant(true)) { return .constant(true) }
    let parts = nodes.flatMap { node -> [FilterNode] in
      switch node {
      case .constant(false): []
      case .disjunction(let parts): parts
      default: [node]
      }
    }
    return parts.isEmpty ? .constant(false) : parts.count == 1 ? parts[0] : .disjunction(parts)
  }

  var isConjunction: Bool { if case .conjunction = self { true } else { false } }
  var isDisjunction: Bool { if case .disjunction = self { true } else { false } }
  var isTooDeep: Bool { if case .tooDeep = self { true } else { false } }

  /// The key that documents have to be under; nil where it is none or not known.
  var askedKey: [UInt8]? {
    switch self {
    case .key(let key): key
    case .conjunction(let parts): parts.lazy.compactMap(\.askedKey).first
    default: nil
    }
  }
}

extension FilterNode: CustomStringConvertible {
  var description: String {
    switch self {
    case .constant(let value): "\(value)"
    case .conjunction(let parts): parts.map(\.nested).joined(separator: " && ")
    case .disjunction(let parts): parts.map(\.nested).joined(separator: " || ")
    case .not(.test(let operand, .compare(.equal, let value))): "\(operand) != \(value)"
    case .not(.relation(let left, .equal, let right)): "\(left) != \(right)"
    case .not(let node): "!(\(node))"
    case .test(let operand, let comparison): comparison.description(of: "\(operand)")
    case .relation(let left, let relation, let right): "\(left) \(relation) \(right)"
    case .search(let condition): "\(condition)"
    case .behind(let position): "behind \(position)"
    case .key(let key): "key \(key.hexText)"
    case .tooDeep: "<conditions nested too deep>"
    }
  }

  private var nested: String {
    switch self {
    case .conjunction, .disjunction: "(\(self))"
    default: "\(self)"
    }
  }
}
