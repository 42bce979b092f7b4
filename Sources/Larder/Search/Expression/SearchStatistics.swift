/// What the score of a document depends on besides the document itself. It comes from the whole collection,
/// whatever other conditions a query has.
struct SearchStatistics: Sendable, Equatable {
  /// Documents with a word at least.
  let documentCount: Int
  /// Weighted words of a document in the mean.
  let meanLength: Double
  /// For each of the terms that are wanted, the documents that have it.
  let frequencies: [Int]

  /// Of documents that are shown to it one by one.
  struct Counter {
    private var documentCount = 0
    private var totalLength: UInt64 = 0
    private var frequencies: [Int]

    init(_ expression: SearchExpression) {
      frequencies = Array(repeating: 0, count: expression.wanted.joined().count)
    }

    /// - Parameter matcher: Has read the document to its end.
    mutating func add(_ matcher: SearchMatcher) {
      guard matcher.length > 0 else { return }
      documentCount += 1
      totalLength += UInt64(matcher.length)
      for (term, frequency) in matcher.frequencies.enumerated() where frequency > 0 {
        frequencies[term] += 1
      }
    }

    var statistics: SearchStatistics {
      SearchStatistics(
        documentCount: documentCount,
        meanLength: documentCount == 0 ? 0 : Double(totalLength) / Double(documentCount),
        frequencies: frequencies)
    }
  }
}
