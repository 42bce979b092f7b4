internal import LarderLMDB

/// The documents that a search index has found in one transaction.
final class SearchFinding {
  let condition: SearchCondition
  let index: CollectionIndex
  private let reading: SearchReading
  private let ranked: RankedSearch
  /// Only what ranks behind this is wanted.
  private let bound: (score: Double, key: [UInt8])?

  /// How many documents were found.
  var count: Int { ranked.ids.count }
  var statistics: SearchStatistics { ranked.statistics }

  /// - Parameter statistics: What to rank by; the index as it is if nil.
  /// - Returns: Nil where no index has the words, or the one that has them is damaged; then it is logged.
  init?(
    _ condition: SearchCondition, in collection: Collection,
    rankingBy statistics: SearchStatistics? = nil, _ transaction: borrowing LentTransaction
  ) throws {
    guard !condition.expression.wanted.isEmpty,
      let index = collection.indexes.first(where: { $0.finds(condition) })
    else { return nil }
    do {
      reading = try SearchReading(
        index.database, weights: index.definition.weights ?? [], transaction)
      ranked = try reading.search(condition.expression, rankingBy: statistics, transaction)
    } catch let damage as SearchDamage {
      collection.tell(of: damage, in: index)
      return nil
    }
    self.index = index
    self.condition = condition
    bound = nil
  }

  private init(_ finding: SearchFinding, behind bound: (score: Double, key: [UInt8])) {
    condition = finding.condition
    index = finding.index
    reading = finding.reading
    ranked = finding.ranked
    self.bound = bound
  }

  /// The same without what does not come behind a position in the order of the rank.
  func behind(_ position: Position) -> SearchFinding {
    guard case .double(let score)? = position.values.first else { return self }
    return SearchFinding(self, behind: (score, position.key))
  }

  /// The keys of what was found, ascending.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func keys(_ transaction: borrowing LentTransaction) throws -> [[UInt8]] {
    try reading.keys(of: ranked.ids, transaction).sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Lends the keys of what was found, best first, ties by key, until `body` says false.
  ///
  /// - Throws: As ``keys(_:)``; whatever `body` throws.
  func forEachBest(
    _ transaction: borrowing LentTransaction,
    _ body: (_ key: [UInt8], _ score: Double) throws -> Bool
  ) throws {
    try ranked.forEachBest(in: reading, behind: bound, transaction, body)
  }
}

extension Collection {
  /// Logs damage that a query has met, once, and has the index built anew in the background, unless the store is
  /// open for reading only.
  func tell(of damage: SearchDamage, in index: CollectionIndex) {
    guard damagedSearches.add(index.number) else { return }
    log.tell(
      .error, "a search index is damaged, and was not used",
      ["collection": name, "index": index.name, "reason": "\(damage)"])
  }
}

extension CollectionIndex {
  /// Whether it has the words of the fields of a search, by the tokenizer of the search.
  fileprivate func finds(_ search: SearchCondition) -> Bool {
    guard isOfWords, isComplete, filter == nil, definition.weights == search.weights,
      definition.parts.count == search.fields.count,
      SearchTokenizer.isSame(definition.tokenizer, search.tokenizer.identifier)
    else { return false }
    return zip(definition.parts, search.fields).allSatisfy { part, field in
      guard case .field(let path) = field else { return false }
      return part.path.elementsEqual(path.lazy.map(\.name))
        && part.absent == IndexDefinition.textOfAbsent(path[path.count - 1].absent)
        && part.outerAbsent
          == path.dropLast().map { IndexDefinition.textOfAbsent($0.absent ?? .null) }
    }
  }
}
