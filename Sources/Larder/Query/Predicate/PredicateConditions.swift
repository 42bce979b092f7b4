#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// MARK: Logic

extension PredicateExpressions.Conjunction: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard let left = scope.lowered(lhs), let right = scope.lowered(rhs) else { return nil }
    return .all([left, right])
  }
}

extension PredicateExpressions.Disjunction: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard let left = scope.lowered(lhs), let right = scope.lowered(rhs) else { return nil }
    return .any([left, right])
  }
}

extension PredicateExpressions.Negation: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard let part = scope.lowered(wrapped) else { return nil }
    if case .not(let inner) = part { return inner }
    return .not(part)
  }
}

extension PredicateExpressions.Conditional: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard let first = trueBranch as? any PredicateExpression<Bool>,
      let second = falseBranch as? any PredicateExpression<Bool>,
      let test = scope.lowered(test), let yes = scope.lowered(first), let no = scope.lowered(second)
    else { return nil }
    return .any([.all([test, yes]), .all([.not(test), no])])
  }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? { scope.equal(lhs, rhs) }
}

extension PredicateExpressions.NotEqual: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    scope.equal(lhs, rhs).map { .not($0) }
  }
}

extension PredicateExpressions.Comparison: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    // Other types have an order of their own.
    guard LHS.Output.self is any Comparand.Type else { return nil }
    let relation: Relation
    switch op {
    case .lessThan: relation = .less
    case .lessThanOrEqual: relation = .lessOrEqual
    case .greaterThan: relation = .greater
    case .greaterThanOrEqual: relation = .greaterOrEqual
    @unknown default: return nil
    }
    switch (scope.value(lhs), scope.value(rhs)) {
    case (let left?, .constant(let value)?): return left.test(.compare(relation, value))
    case (.constant(let value)?, let right?): return right.test(.compare(relation.mirrored, value))
    case (.stored(let left)?, .stored(let right)?):
      // Stored conditions know no others.
      return relation.isUpperBound
        ? .relation(left, relation, right) : .relation(right, relation.mirrored, left)
    default: return nil
    }
  }
}

extension PredicateScope {
  fileprivate func equal<Left: PredicateExpression, Right: PredicateExpression>(
    _ left: Left, _ right: Right
  ) -> FilterNode? {
    if let node = optionalCondition(left, equals: right) { return node }
    if let node = optionalCondition(right, equals: left) { return node }
    switch (value(left), value(right)) {
    case (let part?, .constant(let other)?), (.constant(let other)?, let part?):
      // Nil is nil in any type; else it has to be one whose `==` is known.
      guard other == .null || isCompared(Left.Output.self) else { return nil }
      return part.test(.equal(other))
    case (.stored(let first)?, .stored(let second)?) where isCompared(Left.Output.self):
      return .relation(first, .equal, second)
    default: return nil
    }
  }

  /// `$0.note?.contains("a") == true`.
  private func optionalCondition(
    _ part: some PredicateExpression, equals other: some PredicateExpression
  ) -> FilterNode? {
    guard let part = part as? any OptionalPredicateCondition,
      case .constant(let value)? = self.value(other)
    else { return nil }
    switch (value, part.condition(in: self)) {
    case (.bool(let isTrue), (let path, let node)?):
      return .all([.not(.test(.field(path), .equal(.null))), isTrue ? node : .not(node)])
    case (.null, (let path, _)?): return .test(.field(path), .equal(.null))
    default: return nil
    }
  }
}

// MARK: Ranges

extension PredicateExpressions.RangeExpressionContains: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard let part = scope.value(element),
      let range = constant(range),
      let bounds = (range as? any StoredBounds)?.comparisons
    else { return nil }
    var tests: [FilterNode] = []
    for bound in bounds {
      guard let test = part.test(bound) else { return nil }
      tests.append(test)
    }
    return .all(tests)
  }
}

/// A range of values that conditions compare.
private protocol StoredBounds {
  /// Nil for bounds of a type that has an order of its own.
  var comparisons: [Comparison]? { get }
}

private func bound<Bound>(_ value: Bound) -> Value? {
  (value as? any Comparand).map { Value(storing: $0) }
}

extension ClosedRange: StoredBounds {
  fileprivate var comparisons: [Larder.Comparison]? {
    guard let lower = bound(lowerBound), let upper = bound(upperBound) else { return nil }
    return [.greaterOrEqual(lower), .lessOrEqual(upper)]
  }
}

extension Range: StoredBounds {
  fileprivate var comparisons: [Larder.Comparison]? {
    guard let lower = bound(lowerBound), let upper = bound(upperBound) else { return nil }
    return [.greaterOrEqual(lower), .less(upper)]
  }
}

extension PartialRangeFrom: StoredBounds {
  fileprivate var comparisons: [Larder.Comparison]? {
    bound(lowerBound).map { [.greaterOrEqual($0)] }
  }
}

extension PartialRangeThrough: StoredBounds {
  fileprivate var comparisons: [Larder.Comparison]? {
    bound(upperBound).map { [.lessOrEqual($0)] }
  }
}

extension PartialRangeUpTo: StoredBounds {
  fileprivate var comparisons: [Larder.Comparison]? { bound(upperBound).map { [.less($0)] } }
}
