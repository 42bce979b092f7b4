internal import LarderLMDB

/// Finds and ranks the documents of a search.
///
/// The numbers behind ``SearchScore`` are exact: a document that is deleted or replaced stops counting at
/// once, even while its postings are still in the store.
struct RankedSearch {
  /// The ids of the documents that match, ascending; ``scores`` has a score for each.
  private(set) var ids: [UInt32] = []
  private(set) var scores: [Double] = []

  /// What the scores rest on.
  let statistics: SearchStatistics

  /// - Parameters:
  ///   - wanted: What a document must have, each of them; ids ascending.
  ///   - excluded: What it must not have.
  ///   - statistics: What to rank by; the index as it is if nil.
  init(
    wanted: [[PostingList]], excluded: [PostingList], header: SearchHeader,
    rankingBy statistics: SearchStatistics? = nil
  ) {
    self.statistics =
      statistics
      ?? SearchStatistics(
        documentCount: header.documentCount, meanLength: header.meanLength,
        frequencies: wanted.joined().map(\.count))
    guard let first = wanted.first else { return }
    var matching = Self.union(first)
    for group in wanted.dropFirst() { matching = Self.intersection(matching, Self.union(group)) }
    for list in excluded { matching = Self.difference(matching, list.ids) }
    ids = matching
    scores = [Double](repeating: 0, count: ids.count)
    for (term, list) in wanted.joined().enumerated() {
      add(list, SearchScore(self.statistics, term: term))
    }
  }

  private mutating func add(_ list: PostingList, _ score: SearchScore) {
    var place = 0
    for index in ids.indices {
      place = list.place(atOrAfter: ids[index], from: place)
      guard place < list.count else { return }
      guard list.ids[place] == ids[index] else { continue }
      scores[index] += score.part(
        frequency: list.frequencies[place], length: list.lengths[place])
    }
  }

  private static func union(_ lists: [PostingList]) -> [UInt32] {
    lists.count == 1 ? lists[0].ids : Set(lists.flatMap(\.ids)).sorted()
  }

  private static func intersection(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
    let (short, long) = left.count < right.count ? (left, right) : (right, left)
    let list = PostingList(ids: long)
    var place = 0
    return short.filter { id in
      place = list.place(atOrAfter: id, from: place)
      return place < long.count && long[place] == id
    }
  }

  private static func difference(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
    let list = PostingList(ids: right)
    var place = 0
    return left.filter { id in
      place = list.place(atOrAfter: id, from: place)
      return place == right.count || right[place] != id
    }
  }

  /// Lends the keys of the documents, best first, ties by key, until `body` says false.
  ///
  /// - Parameter bound: Only what ranks behind it is lent.
  /// - Throws: ``SearchDamage``; LMDB's errors; whatever `body` throws.
  func forEachBest(
    in reading: SearchReading, behind bound: (score: Double, key: [UInt8])? = nil,
    _ transaction: borrowing some Transaction & ~Copyable,
    _ body: (_ key: [UInt8], _ score: Double) throws -> Bool
  ) throws {
    var heap = RankHeap(scores)
    while let score = heap.best {
      if let bound, score > bound.score {
        heap.removeBest()
        continue
      }
      var ids: [UInt32] = []
      while heap.best == score { ids.append(self.ids[heap.removeBest()]) }
      var keys = try reading.keys(of: ids.sorted(), transaction)
      if let bound, score == bound.score {
        keys.removeAll { !bound.key.lexicographicallyPrecedes($0) }
      }
      if keys.count > 1 { keys.sort { $0.lexicographicallyPrecedes($1) } }
      for key in keys where try !body(key, score) { return }
    }
  }
}

/// Places by their scores, best first. Making one costs time in proportion to all of them, and taking one
/// away the logarithm of that: most searches want a few of many.
private struct RankHeap {
  private let scores: [Double]
  private var places: [UInt32]

  init(_ scores: [Double]) {
    self.scores = scores
    places = (0..<UInt32(scores.count)).map { $0 }
    for root in stride(from: places.count / 2 - 1, through: 0, by: -1) { sink(root) }
  }

  var best: Double? { places.first.map { scores[Int($0)] } }

  /// - Returns: The place of the best, of which there must be one.
  @discardableResult
  mutating func removeBest() -> Int {
    let best = places[0]
    let last = places.removeLast()
    if !places.isEmpty {
      places[0] = last
      sink(0)
    }
    return Int(best)
  }

  private func score(_ index: Int) -> Double { scores[Int(places[index])] }

  private mutating func sink(_ start: Int) {
    var root = start
    while true {
      var child = 2 * root + 1
      guard child < places.count else { return }
      if child + 1 < places.count, score(child + 1) > score(child) { child += 1 }
      guard score(child) > score(root) else { return }
      places.swapAt(root, child)
      root = child
    }
  }
}
