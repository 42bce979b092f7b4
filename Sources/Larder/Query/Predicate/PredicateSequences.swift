#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.SequenceContains: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard isCompared(RHS.Output.self) else { return nil }
    // `["Oslo", "Bergen"].contains($0.city)`
    if let list = constant(sequence) {
      guard list is any StoredElements, let part = scope.value(element) else { return nil }
      var values: [Value] = []
      for element in list {
        guard let value = storedValue(of: element) else { return nil }
        values.append(value)
      }
      let isAny = part.test(.isOne(of: values.filter { $0 != .null }))
      guard values.contains(.null) else { return isAny }
      guard let isAny, let isNil = part.test(.equal(.null)) else { return nil }
      return .any([isAny, isNil])
    }
    // `$0.tags.contains("vip")`
    guard LHS.Output.self is any StoredElements.Type, let path = scope.value(sequence)?.path,
      case .constant(let value)? = scope.value(element), value != .null
    else { return nil }
    return .test(.field(path), .containsElement(value))
  }
}

/// Arrays and sets: what is listed, where a range of integers is only described.
private protocol StoredElements {}

extension Array: StoredElements {}
extension Set: StoredElements {}

extension PredicateExpressions.SequenceContainsWhere: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    scope.elements(of: sequence, variable.key, test).map { path, test in
      .test(.field(path), .containsMatch(test))
    }
  }
}

extension PredicateExpressions.SequenceAllSatisfy: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    scope.elements(of: sequence, variable.key, test).map { path, test in
      .not(.test(.field(path), .containsMatch(.not(test))))
    }
  }
}

extension PredicateScope {
  /// The way to a stored array, and the condition on its elements.
  fileprivate func elements<List: PredicateExpression>(
    of list: List, _ variable: PredicateExpressions.VariableID,
    _ test: some PredicateExpression<Bool>
  ) -> (path: [FieldStep], test: FilterNode)? {
    guard List.Output.self is any StoredElements.Type, let path = value(list)?.path,
      let kind = path.last?.kind.unwrapped.elements,
      let node = element(variable, kind).lowered(test)
    else { return nil }
    return (path, node)
  }
}

extension Kind {
  /// What the elements of an array or a set are.
  fileprivate var elements: Kind? {
    switch self {
    case .array(let element), .set(let element): element
    default: nil
    }
  }
}

// MARK: Text

extension PredicateExpressions.CollectionContainsCollection: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard Base.Output.self == String.self, Other.Output.self == String.self,
      let part = scope.value(base), case .constant(.string(let text))? = scope.value(other)
    else { return nil }
    return part.test(.containsText(text))
  }
}

extension PredicateExpressions.SequenceStartsWith: PredicateCondition {
  func condition(in scope: PredicateScope) -> FilterNode? {
    guard Base.Output.self == String.self, Prefix.Output.self == String.self,
      let part = scope.value(base), case .constant(.string(let text))? = scope.value(prefix)
    else { return nil }
    return part.test(.hasPrefix(text))
  }
}
