internal import LarderLMDB

extension SearchReading {
  /// The documents that match an expression which asks for something, with their scores.
  ///
  /// - Parameter statistics: What to rank by; the index as it is if nil.
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func search(
    _ expression: SearchExpression, rankingBy statistics: SearchStatistics? = nil,
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> RankedSearch {
    var wanted: [[PostingList]] = []
    for group in expression.wanted {
      var lists: [PostingList] = []
      for term in group { lists.append(try postings(of: term, transaction)) }
      wanted.append(lists)
    }
    var excluded: [PostingList] = []
    for term in expression.excluded { excluded.append(try postings(of: term, transaction)) }
    return RankedSearch(
      wanted: wanted, excluded: excluded, header: header, rankingBy: statistics)
  }

  /// The documents that have a term.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func postings(
    of term: SearchTerm, _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> PostingList {
    let tests = term.tests
    if tests.count == 1 { return try postings(of: tests[0], transaction) }
    var lists: [PostingList] = []
    for test in tests {
      lists.append(try postings(of: test, withPositions: true, transaction))
      if lists[lists.count - 1].count == 0 { return PostingList() }
    }
    return try PostingList.phrase(of: lists, weights: weights, coding)
  }

  /// The keys of documents, each once.
  ///
  /// - Parameter ids: Ascending.
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func keys(
    of ids: [UInt32], _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> [[UInt8]] {
    var keys: [[UInt8]] = []
    keys.reserveCapacity(ids.count)
    var block: (number: UInt32, documents: [SearchDocument])?
    for id in ids {
      if isPending(id) {
        keys.append(try document(id, transaction).key)
        continue
      }
      let number = id / SearchKeys.idsPerBlock
      let documents: [SearchDocument]
      if let block, block.number == number {
        documents = block.documents
      } else {
        documents = try SearchKeys.read(number, transaction, in: database)
        block = (number, documents)
      }
      let place = Int(id % SearchKeys.idsPerBlock)
      guard place < documents.count, !documents[place].key.isEmpty else {
        throw SearchDamage("an id has no document")
      }
      keys.append(documents[place].key)
    }
    return keys
  }
}
