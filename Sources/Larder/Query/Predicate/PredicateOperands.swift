#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Variable: PredicateOperand {
  func operand(in scope: PredicateScope) -> PredicateValue? {
    guard case .stored(let path)? = scope.variables[key] else { return nil }
    return .stored(.field(path))
  }
}

extension PredicateExpressions.KeyPath: PredicateOperand, PredicateCondition {
  func operand(in scope: PredicateScope) -> PredicateValue? {
    if let variable = root as? PredicateExpressions.Variable<Root.Output>,
      case .document? = scope.variables[variable.key]
    {
      return scope.pathOfDocument(keyPath).map { .stored(.field($0)) }
    }
    guard let outer = (root as? any PredicateOperand)?.operand(in: scope)?.path else { return nil }
    if let type = Root.Output.self as? any EmbeddedDocument.Type {
      return type.path(to: keyPath, behind: outer).map { .stored(.field($0)) }
    }
    switch kind {
    case .collectionIsEmpty?: return .stored(.derived(outer, .isEmpty))
    case .collectionCount? where isCountStored(Root.Output.self):
      return .stored(.derived(outer, .count))
    default: return nil
    }
  }

  func condition(in scope: PredicateScope) -> FilterNode? {
    guard Output.self == Bool.self else { return nil }
    return operand(in: scope)?.test(.equal(.bool(true)))
  }
}

extension EmbeddedDocument {
  /// The way to a field of a document that is found at `outer`.
  fileprivate static func path(
    to path: AnyKeyPath, behind outer: [FieldStep]
  ) -> [FieldStep]? {
    (path as? PartialKeyPath<Self>).flatMap { schema.path(to: $0) }.flatMap(outer.appending)
  }
}

/// `$0.geo?.lat`, `$0.note.map { ... }`: nil inside nil is nil.
extension PredicateExpressions.OptionalFlatMap: PredicateOperand {
  func operand(in scope: PredicateScope) -> PredicateValue? {
    guard !isOptional(Wrapped.self), let path = scope.value(wrapped)?.path else { return nil }
    // A constant, or a field of the document, would stand for nil too.
    guard case .stored(let operand)? = scope.only(variable.key, path).value(transform) else {
      return nil
    }
    return .stored(operand)
  }
}

extension PredicateExpressions.NilCoalesce: PredicateOperand, PredicateCondition {
  func operand(in scope: PredicateScope) -> PredicateValue? {
    guard isCompared(Output.self), !isOptional(Output.self),
      case .stored(let operand)? = scope.value(lhs),
      case .constant(let other)? = scope.value(rhs), other != .null
    else { return nil }
    return .coalesced(operand, other)
  }

  /// `$0.note?.contains("a") ?? false`.
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard Output.self == Bool.self, case .constant(.bool(let other))? = scope.value(rhs)
    else { return nil }
    if let part = lhs as? any OptionalPredicateCondition,
      let (path, node) = part.condition(in: scope)
    {
      let isNil = FilterNode.test(.field(path), .equal(.null))
      return other ? .any([isNil, node]) : .all([.not(isNil), node])
    }
    return operand(in: scope)?.test(.equal(.bool(true)))
  }
}

/// A condition on what is in an optional.
protocol OptionalPredicateCondition {
  /// What may be nil, and the condition on it if it is not.
  func condition(in scope: PredicateScope) -> (path: [FieldStep], FilterNode)?
}

extension PredicateExpressions.OptionalFlatMap: OptionalPredicateCondition {
  func condition(in scope: PredicateScope) -> (path: [FieldStep], FilterNode)? {
    guard !isOptional(Wrapped.self), let path = scope.value(wrapped)?.path else { return nil }
    // Only the predicate can evaluate a part of a part that has a variable of its own.
    var inner = scope.adding(variable.key, path)
    inner.computed = nil
    guard let transform = transform as? any PredicateExpression<Bool>,
      let node = inner.lowered(transform)
    else { return nil }
    return (path, node)
  }
}
