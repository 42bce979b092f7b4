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
    return try PostingList.phrase(of: lists(of: tests, transaction), weights: weights, coding)
  }

  /// The postings of the words of a phrase, with their positions, in the order of the words. The rarest word is
  /// read first, and of the others what lies among its documents: `the` costs what the word beside it costs. Words
  /// that are equal share one list.
  func lists(
    of tests: [WordTest], _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> [PostingList] {
    var order: [(byteCount: Int, place: Int)] = []
    for (place, test) in tests.enumerated() {
      order.append((try estimatedByteCount(of: test, transaction), place))
    }
    var lists = [PostingList](repeating: PostingList(), count: tests.count)
    var candidates: [UInt32]?
    var known: [WordTest: PostingList] = [:]
    for (_, place) in order.sorted(by: { $0 < $1 }) {
      if let list = known[tests[place]] {
        lists[place] = list
        continue
      }
      lists[place] = try postings(
        of: tests[place], withPositions: true, among: candidates, transaction)
      candidates = lists[place].ids
      if lists[place].count == 0 { break }
      known[tests[place]] = lists[place]
    }
    return lists
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
    var rest = ids[...]
    while let id = rest.first {
      if isPending(id) {
        keys.append(try document(id, transaction).key)
        rest.removeFirst()
        continue
      }
      let block = id / SearchKeys.idsPerBlock
      let same = rest.prefix { $0 / SearchKeys.idsPerBlock == block && !isPending($0) }
      try SearchKeys.append(to: &keys, of: same, transaction, in: database)
      rest = rest.dropFirst(same.count)
    }
    return keys
  }
}
