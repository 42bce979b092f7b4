// Defaults that are another value in each process, as `Date()` and `UUID()` are. A cursor must not name such a
// value, because the next process would not know it. The condition of a partial index still does, and has
// the index built anew in each process.

extension FilterNode {
  /// The same condition without the defaults that each process has another one of.
  var withoutUnsettledDefaults: FilterNode {
    switch self {
    case .conjunction(let parts): .conjunction(parts.map(\.withoutUnsettledDefaults))
    case .disjunction(let parts): .disjunction(parts.map(\.withoutUnsettledDefaults))
    case .not(let part): .not(part.withoutUnsettledDefaults)
    case .test(let operand, .containsMatch(let part)):
      .test(operand.withoutUnsettledDefaults, .containsMatch(part.withoutUnsettledDefaults))
    case .test(let operand, let comparison): .test(operand.withoutUnsettledDefaults, comparison)
    case .relation(let left, let relation, let right):
      .relation(left.withoutUnsettledDefaults, relation, right.withoutUnsettledDefaults)
    case .constant, .search, .behind, .key, .tooDeep: self
    }
  }
}

extension Operand {
  fileprivate var withoutUnsettledDefaults: Operand {
    switch self {
    case .field(let path): .field(path.map(\.withoutUnsettledDefault))
    case .derived(let path, let derivation):
      .derived(path.map(\.withoutUnsettledDefault), derivation)
    case .computed, .rank: self
    }
  }
}

extension FieldStep {
  fileprivate var withoutUnsettledDefault: FieldStep {
    isSettled ? self : FieldStep(name: name, kind: kind, absent: nil)
  }
}
