internal import LarderLMDB

extension SearchReading {
  /// The documents that match an expression which asks for something, with their scores.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func search(
    _ expression: SearchExpression, _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> RankedSearch {
    var wanted: [[PostingList]] = []
    for group in expression.wanted {
      var lists: [PostingList] = []
      for term in group { lists.append(try postings(of: term, transaction)) }
      wanted.append(lists)
    }
    var excluded: [PostingList] = []
    for term in expression.excluded { excluded.append(try postings(of: term, transaction)) }
    return RankedSearch(wanted: wanted, excluded: excluded, header: header)
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
}
