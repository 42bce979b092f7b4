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
      place = list.entries.place(atOrAfter: ids[index], by: \.id, from: place)
      guard place < list.count else { return }
      let entry = list.entries[place]
      guard entry.id == ids[index] else { continue }
      scores[index] += score.part(frequency: entry.frequency, length: entry.length)
      place += 1
    }
  }

  private static func union(_ lists: [PostingList]) -> [UInt32] {
    lists.count == 1 ? lists[0].ids : Set(lists.flatMap(\.ids)).sorted()
  }

  private static func intersection(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
    let (short, long) = left.count < right.count ? (left, right) : (right, left)
    var place = 0
    return short.filter { id in
      place = long.place(atOrAfter: id, by: { $0 }, from: place)
      return place < long.count && long[place] == id
    }
  }

  private static func difference(_ left: [UInt32], _ right: [UInt32]) -> [UInt32] {
    var place = 0
    return left.filter { id in
      place = right.place(atOrAfter: id, by: { $0 }, from: place)
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
    while let score = heap.bestScore {
      if let bound, score > bound.score {
        _ = heap.removeBest()
        continue
      }
      var ids: [UInt32] = []
      while heap.bestScore == score { ids.append(self.ids[heap.removeBest()]) }
      var keys = try reading.keys(of: ids.sorted(), transaction)
      if let bound, score == bound.score {
        keys.removeAll { !bound.key.lexicographicallyPrecedes($0) }
      }
      if keys.count > 1 { keys.sort { $0.lexicographicallyPrecedes($1) } }
      for key in keys where try !body(key, score) { return }
    }
  }
}

/// Places by their scores, best first. Most searches want a few of many: the best of each block is found in one
/// walk, and the blocks are a heap. Taking a place away costs a look through its block and the logarithm of how
/// many blocks there are.
private struct RankHeap {
  private static let blockSize = 64

  /// Minus infinity, which is below every score, for a place that was taken away.
  private var scores: [Double]
  /// The best score of each block.
  private var best: [Double] = []
  private var blocks: [UInt32]

  init(_ scores: [Double]) {
    self.scores = scores
    let count = (scores.count + Self.blockSize - 1) / Self.blockSize
    blocks = (0..<UInt32(count)).map { $0 }
    best.reserveCapacity(count)
    for block in 0..<count { best.append(bestScore(in: block)) }
    for root in stride(from: count / 2 - 1, through: 0, by: -1) { sink(root) }
  }

  var bestScore: Double? {
    guard let block = blocks.first, best[Int(block)] > -.infinity else { return nil }
    return best[Int(block)]
  }

  /// Takes away a place with the best score. There must be a place left.
  mutating func removeBest() -> Int {
    let block = Int(blocks[0])
    var place = block * Self.blockSize
    while scores[place] != best[block] { place += 1 }
    scores[place] = -.infinity
    best[block] = bestScore(in: block)
    sink(0)
    return place
  }

  private func bestScore(in block: Int) -> Double {
    let start = block * Self.blockSize
    var best = -Double.infinity
    for place in start..<min(start + Self.blockSize, scores.count) where scores[place] > best {
      best = scores[place]
    }
    return best
  }

  private func score(_ index: Int) -> Double { best[Int(blocks[index])] }

  private mutating func sink(_ start: Int) {
    var root = start
    while true {
      var child = 2 * root + 1
      guard child < blocks.count else { return }
      if child + 1 < blocks.count, score(child + 1) > score(child) { child += 1 }
      guard score(child) > score(root) else { return }
      blocks.swapAt(root, child)
      root = child
    }
  }
}
