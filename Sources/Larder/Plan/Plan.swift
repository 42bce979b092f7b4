/// How a query is answered: where its documents come from, in which order, and what is asked of
/// each. Whatever the plan, the answer is the same.
struct Plan {
  let source: Source
  let order: Order
  /// What is asked of each document that the source gives.
  let residual: FilterNode
  /// What is asked of a document whose values were cut in the index: everything.
  let filter: FilterNode
  /// Documents that the source gives, as far as it was worth counting them.
  let estimate: Estimate
  /// When to give up a way along an index for its order; nil where there is no better one.
  var retreat: Retreat?

  /// How many of the documents that it finds are left at most, behind those that are skipped; nil where that is
  /// not known, or may be much too many.
  func foundCount(skipping skipped: Int, upTo limit: Int) -> Int? {
    if estimate.isExact, case .constant(true) = residual {
      return min(max(0, estimate.count - skipped), limit)
    }
    return limit <= 256 ? limit : nil
  }

  enum Source {
    /// Every document, in the order of the keys.
    case everything
    case nothing
    /// These keys, ascending.
    case keys([[UInt8]])
    /// The documents whose keys lie here.
    case keyRange(KeyRange)
    case index(IndexAccess)
    /// What any of these finds.
    case union([IndexAccess])
    /// What both find; both are in the order of the keys.
    case intersection(IndexAccess, IndexAccess)
    /// The documents that a search index has found.
    case search(SearchFinding)

    /// The range of keys that is read from end to end; nil for other ways.
    var scannedKeys: KeyRange? {
      switch self {
      case .everything: .everything
      case .keyRange(let range): range
      case .nothing, .keys, .index, .union, .intersection, .search: nil
      }
    }
  }

  enum Order {
    /// The documents' keys.
    case keys
    /// As the index has it.
    case index(IndexOrder)
    /// As the search ranks what it has found.
    case rank
    /// What is found is sorted; with a limit, only the first ones are kept.
    case sort
  }

  struct Estimate: Equatable {
    var count: Int
    var isExact: Bool
  }

  /// What a way along an index is held against: of conditions that no index knows, nobody knows how many
  /// documents fulfil them, until some have been asked.
  struct Retreat {
    /// Entries of the index, at most.
    let entryCount: Int
    /// What it costs to find the documents without the order, in nanoseconds.
    let cost: Double
    /// Whether search indexes may be used instead.
    let usesSearchIndexes: Bool
  }
}
