internal import LarderLMDB

/// How a query is answered, for people who wonder why it is slow.
///
/// ```swift
/// print(try Contact.where { $0.city == "Oslo" && $0.name.hasSuffix("n") }.explain(in: store))
/// // index "city" (city), 1 range: 512 documents, then name hasSuffix "n": 37 documents
/// ```
public struct QueryPlan: Sendable, Equatable {
  /// Where the documents come from.
  public enum Source: Sendable, Equatable {
    /// Every document is looked at.
    case scan
    /// No document can match.
    case nothing
    /// Documents are got by their keys.
    case keys(count: Int)
    /// The documents between two keys are looked at.
    case keyRange
    case index(IndexUse)
    /// What any of them finds.
    case union([IndexUse])
    /// What both of them find.
    case intersection(IndexUse, IndexUse)
    /// The documents that a search index has found.
    case search(IndexUse)
  }

  /// How an index is used.
  public struct IndexUse: Sendable, Equatable {
    /// The name of the index.
    public let name: String
    /// Names of its fields; a minus before descending ones.
    public let fields: [String]
    /// How many ranges of it are read; 0 for a search index.
    public let rangeCount: Int
  }

  /// Where the order comes from.
  public enum Order: Sendable, Equatable {
    /// The order of the keys, in which everything lies.
    case keys
    /// The order of the index: nothing is sorted, and reading ends with the limit.
    case index
    /// How well documents match the search: reading ends with the limit.
    case rank
    /// What is found is sorted; with a limit only the first ones are kept meanwhile.
    case sort
  }

  /// Where documents are looked for.
  public let source: Source
  /// How they come into the query's order.
  public let order: Order
  /// What is asked of each document that the source gives; nil where nothing is left to ask.
  public let residual: String?
  /// Whether the residual, or the order, needs whole documents decoded, because it looks at
  /// properties that are not stored.
  public let decodesToFilter: Bool
  /// How many documents the source was expected to give.
  public let estimatedCount: Int
  /// How many it gave.
  public let examinedCount: Int
  /// How many of those matched, before offset and limit.
  public let matchedCount: Int
  /// How many were looked at along an index that has the order, before this plan took its place because too few of them
  /// matched; 0 where the first plan was carried out.
  public let abandonedCount: Int
}

extension QueryPlan: CustomStringConvertible {
  public var description: String {
    var text =
      switch source {
      case .scan: "scan of the collection"
      case .nothing: "nothing to read"
      case .keys(let count): "\(count) key\(count == 1 ? "" : "s")"
      case .keyRange: "range of keys"
      case .index(let use): "\(use)"
      case .union(let uses): "union of " + uses.map { "\($0)" }.joined(separator: " and ")
      case .intersection(let first, let second): "intersection of \(first) and \(second)"
      case .search(let use):
        "search index \"\(use.name)\" (\(use.fields.joined(separator: ", ")))"
      }
    text += ": \(examinedCount) documents"
    if let residual {
      text += ", then \(residual)\(decodesToFilter ? " (decoded)" : ""): \(matchedCount) documents"
    }
    switch order {
    case .keys: break
    case .index: text += ", in the order of the index"
    case .rank: text += ", best first"
    case .sort: text += ", sorted"
    }
    if abandonedCount > 0 {
      text +=
        "; before that, \(abandonedCount) documents in the order of an index, "
        + "too few of which matched"
    }
    return text
  }
}

extension QueryPlan.IndexUse: CustomStringConvertible {
  public var description: String {
    "index \"\(name)\" (\(fields.joined(separator: ", "))), "
      + "\(rangeCount) range\(rangeCount == 1 ? "" : "s")"
  }
}

extension Query {
  /// Answers the query, and says how. Costs what the query costs; nothing is decoded that the
  /// filter does not need.
  ///
  /// - Throws: ``StoreError``.
  public func explain(in store: Store) throws -> QueryPlan {
    try store.read { try explain(in: $0) }
  }

  /// Answers the query in a snapshot or inside a write, and says how.
  ///
  /// - Throws: ``StoreError``.
  public func explain(in reading: borrowing some Reading & ~Copyable) throws -> QueryPlan {
    try reading.withMoment { moment in
      guard let binding = try moment.binding(of: Entity.self, matching: selection.filter) else {
        return QueryPlan(
          source: .nothing, order: .keys, residual: nil, decodesToFilter: false, estimatedCount: 0,
          examinedCount: 0, matchedCount: 0, abandonedCount: 0)
      }
      return try moment.transaction.explain(selection, binding)
    }
  }
}

extension Transaction where Self: ~Copyable {
  borrowing func explain(
    _ selection: Selection, _ binding: CollectionBinding
  ) throws -> QueryPlan {
    try selection.checkDepth()
    let tally = Execution.Tally()
    let execution = try execution(of: selection, binding, tally: tally)
    let limit = selection.maximum.map { $0.addingReportingOverflow(selection.skipped) }
    let wanted = limit.map { $0.overflow ? Int.max : $0.partialValue } ?? .max
    var matched = 0
    if wanted > 0 {
      try execution.forEach(in: self, wanted: wanted) { _, _ in
        matched += 1
        return matched < wanted
      }
    }
    let plan = tally.plan ?? execution.plan
    return QueryPlan(
      source: QueryPlan.Source(plan.source), order: QueryPlan.Order(plan.order),
      residual: plan.residual == .constant(true) ? nil : "\(plan.residual)",
      decodesToFilter: plan.residual.isComputed || selection.order.contains(where: \.isComputed),
      estimatedCount: plan.estimate.count, examinedCount: tally.examined,
      matchedCount: tally.matched, abandonedCount: tally.abandoned)
  }
}

extension QueryPlan.Source {
  fileprivate init(_ source: Plan.Source) {
    switch source {
    case .everything: self = .scan
    case .nothing: self = .nothing
    case .keys(let keys): self = .keys(count: keys.count)
    case .keyRange: self = .keyRange
    case .index(let access): self = .index(QueryPlan.IndexUse(access))
    case .union(let accesses): self = .union(accesses.map { QueryPlan.IndexUse($0) })
    case .intersection(let first, let second):
      self = .intersection(QueryPlan.IndexUse(first), QueryPlan.IndexUse(second))
    case .search(let finding): self = .search(QueryPlan.IndexUse(finding.index, rangeCount: 0))
    }
  }
}

extension QueryPlan.Order {
  fileprivate init(_ order: Plan.Order) {
    switch order {
    case .keys: self = .keys
    case .index: self = .index
    case .rank: self = .rank
    case .sort: self = .sort
    }
  }
}

extension QueryPlan.IndexUse {
  fileprivate init(_ access: IndexAccess) {
    self.init(access.index, rangeCount: access.ranges.count)
  }

  fileprivate init(_ index: CollectionIndex, rangeCount: Int) {
    self.init(
      name: index.name,
      fields: index.definition.parts.map {
        ($0.isDescending ? "-" : "") + $0.path.joined(separator: ".")
      }, rangeCount: rangeCount)
  }
}

extension FilterNode {
  /// Whether a part of it looks at what only the decoded document has.
  fileprivate var isComputed: Bool {
    switch self {
    case .constant, .search, .behind, .key, .tooDeep: false
    case .conjunction(let parts), .disjunction(let parts): parts.contains(where: \.isComputed)
    case .not(let part): part.isComputed
    case .test(.computed, _): true
    case .test: false
    case .relation(let left, _, let right): left.isComputed || right.isComputed
    }
  }
}

extension Operand {
  fileprivate var isComputed: Bool { if case .computed = self { true } else { false } }
}

extension SortKey {
  fileprivate var isComputed: Bool { operand.isComputed }
}
