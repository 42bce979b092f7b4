/// What the score of a document depends on besides the document itself. It comes from the whole collection,
/// whatever other conditions a query has.
struct SearchStatistics: Sendable, Equatable {
  /// Documents with a word at least.
  var documentCount = 0
  /// Weighted words of a document in the mean.
  var meanLength = 0.0
  /// For each of the terms that are wanted, the documents that have it.
  var frequencies: [Int]

  init(documentCount: Int, meanLength: Double, frequencies: [Int]) {
    self.documentCount = documentCount
    self.meanLength = meanLength
    self.frequencies = frequencies
  }

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

extension SearchStatistics {
  /// For a page's cursor: pages that follow one another are ranked by the same numbers.
  var value: Value {
    .array(
      [.integer(Int64(documentCount)), .double(meanLength)]
        + frequencies.map { .integer(Int64($0)) })
  }

  /// - Parameter value: What ``value`` was; nil is given back for anything else.
  init?(_ value: Value) {
    guard case .array(let values) = value, values.count >= 2,
      case .integer(let count) = values[0], case .double(let length) = values[1],
      count >= 0, length.isFinite, length >= 0
    else { return nil }
    var frequencies: [Int] = []
    for value in values.dropFirst(2) {
      guard case .integer(let frequency) = value, (0...Int64(UInt32.max)).contains(frequency) else {
        return nil
      }
      frequencies.append(Int(frequency))
    }
    guard count <= Int64(UInt32.max) else { return nil }
    self.init(documentCount: Int(count), meanLength: length, frequencies: frequencies)
  }
}
