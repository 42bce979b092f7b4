/// A query without its type: what is left of it below the call site.
@usableFromInline struct Selection: Sendable, Equatable {
  var filter = FilterNode.constant(true)
  var order: [SortKey] = []
  /// Whether nobody has asked for this order: a search ranks what it finds unless told otherwise.
  var hasDefaultOrder = false
  var maximum: Int?
  var skipped = 0
  /// Who is told of documents that cannot be read, which are then left out; nil where they are
  /// errors.
  var unreadable: UnreadableHandler?
  /// For watchers, what ``maximum`` becomes in the course of time; nil where it stays.
  var growth: Growth?

  @usableFromInline init() {}

  @usableFromInline var skipsUnreadable: Bool { unreadable != nil }

  /// - Throws: ``StoreError/queryTooDeep(limit:)``.
  func checkDepth() throws(StoreError) {
    if filter.isTooDeep { throw .queryTooDeep(limit: Filter<Void>.maximumDepth) }
  }

  /// - Throws: ``StoreError/queryNotAllowed(operation:reason:)`` for a limit or an offset, which
  ///   would leave it to chance what the operation concerns. A sort is ignored.
  @usableFromInline func checkMatchesWhole(_ operation: String) throws(StoreError) {
    if filter.splitAtPosition.0 != nil {
      throw .queryNotAllowed(operation: operation, reason: "it begins behind a cursor")
    }
    if maximum != nil { throw .queryNotAllowed(operation: operation, reason: "it has a limit") }
    if skipped > 0 { throw .queryNotAllowed(operation: operation, reason: "it has an offset") }
  }
}

/// One level of an order.
struct SortKey: Sendable, Equatable {
  let operand: Operand
  let isReversed: Bool
}

extension Selection: CustomStringConvertible {
  @usableFromInline var description: String {
    var text = "\(filter)"
    if !order.isEmpty {
      text += " sorted by "
      text += order.map { "\($0.operand)\($0.isReversed ? " descending" : "")" }
        .joined(separator: ", ")
    }
    if skipped > 0 { text += " offset \(skipped)" }
    if let maximum { text += " limit \(maximum)" }
    return text
  }
}
