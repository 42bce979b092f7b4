#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Document {
  /// The documents that Foundation's predicate holds for:
  /// `Contact.matching(#Predicate { $0.city == "Oslo" && $0.order < 5 })`.
  ///
  /// The parts of the predicate that conditions know are turned into them: indexes find them, and
  /// they are compared as they are stored. What remains, such as arithmetic or a cast, is evaluated by
  /// the predicate itself on the decoded document; the query's description calls it
  /// `<computed by #Predicate>`. Parts in which no document occurs are evaluated once, here.
  ///
  /// An error of the predicate, such as of a `!` that finds nil, is thrown by what uses the query as
  /// ``StoreError/predicateFailed(collection:key:reason:)``. It is not thrown for documents that
  /// another part of the query has ruled out already.
  public static func matching(_ predicate: Predicate<Self>) -> Query<Self> {
    Query().matching(predicate)
  }
}

extension Query {
  /// The documents of this query that Foundation's predicate holds for too; see
  /// ``Document/matching(_:)``.
  public func matching(_ predicate: Predicate<Entity>) -> Self {
    self.where { _ in Filter(predicate) }
  }
}

extension Filter where Entity: Document {
  fileprivate init(_ predicate: Predicate<Entity>) {
    let scope = PredicateScope(
      variables: [predicate.variable.key: .document],
      pathOfDocument: { path in
        (path as? PartialKeyPath<Entity>).flatMap { Entity.schema.path(to: $0) }
      },
      computed: { expression in
        .test(.computed(computed(expression, predicate)), .equal(.bool(true)))
      })
    let node = scope.condition(predicate.expression)
    self.init(node: node, depth: node.depth(upTo: Self.maximumDepth + 1))
  }
}

/// A part of a predicate that the predicate itself evaluates.
private func computed<Entity: Document>(
  _ expression: any StandardPredicateExpression<Bool>, _ predicate: Predicate<Entity>
) -> Operand.Computed {
  Operand.Computed("computed by #Predicate") { (reader) throws(RecordError) in
    let document = try Entity(document: reader)
    do {
      return .bool(
        try expression.evaluate(PredicateBindings((predicate.variable, document))))
    } catch {
      throw .predicate("\(error)")
    }
  }
}

extension FilterNode {
  /// How many levels this has, as far as `limit`.
  func depth(upTo limit: Int) -> Int {
    if limit <= 1 { return 1 }
    switch self {
    case .constant, .relation, .search, .behind, .key, .tooDeep: return 1
    case .conjunction(let parts), .disjunction(let parts):
      return 1 + (parts.map { $0.depth(upTo: limit - 1) }.max() ?? 0)
    case .not(let part): return 1 + part.depth(upTo: limit - 1)
    case .test(_, .containsMatch(let part)): return 1 + part.depth(upTo: limit - 1)
    case .test: return 1
    }
  }
}
