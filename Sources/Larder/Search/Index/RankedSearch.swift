internal import LarderLMDB

/// Finds and ranks the documents of a search.
///
/// The numbers behind ``SearchScore`` are exact: a document that is deleted or replaced stops counting at
/// once, even while its postings are still in the store.
struct RankedSearch {
  /// The ids of the documents that match, ascending; ``scores`` has a score for each.
  private(set) var ids: [UInt32] = []
  private(set) var scores: [Double] = []

  /// - Parameters:
  ///   - wanted: What a document must have, each of them; ids ascending.
  ///   - excluded: What it must not have.
  init(wanted: [[PostingList]], excluded: [PostingList], header: SearchHeader) {
    guard let first = wanted.first else { return }
    var matching = Self.union(first)
    for group in wanted.dropFirst() { matching = Self.intersection(matching, Self.union(group)) }
    for list in excluded { matching = Self.difference(matching, list.ids) }
    ids = matching
    scores = [Double](repeating: 0, count: ids.count)
    for group in wanted {
      for list in group { add(list, header) }
    }
  }

  private mutating func add(_ list: PostingList, _ header: SearchHeader) {
    let score = SearchScore(
      documentCount: header.documentCount, frequency: list.count, meanLength: header.meanLength)
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

  /// The documents that rank first, best first, ties by key.
  func best(
    _ count: Int, in reading: SearchReading, _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> [(key: [UInt8], score: Double)] {
    guard count > 0, !ids.isEmpty else { return [] }
    let threshold = leastOfBest(count)
    var best: [(key: [UInt8], score: Double)] = []
    for (place, score) in scores.enumerated() where score >= threshold {
      best.append((try reading.document(ids[place], transaction).key, score))
    }
    best.sort {
      $0.score != $1.score ? $0.score > $1.score : $0.key.lexicographicallyPrecedes($1.key)
    }
    return Array(best.prefix(count))
  }

  /// The score that so many documents reach.
  private func leastOfBest(_ count: Int) -> Double {
    if scores.count <= count { return -.infinity }
    // A heap whose root is the least of those that are kept.
    var heap = Array(scores[..<count])
    for root in stride(from: count / 2 - 1, through: 0, by: -1) { Self.sink(root, &heap) }
    for score in scores[count...] where score > heap[0] {
      heap[0] = score
      Self.sink(0, &heap)
    }
    return heap[0]
  }

  private static func sink(_ start: Int, _ heap: inout [Double]) {
    var root = start
    while true {
      var least = root
      for child in [2 * root + 1, 2 * root + 2]
      where child < heap.count && heap[child] < heap[least] {
        least = child
      }
      if least == root { return }
      heap.swapAt(root, least)
      root = least
    }
  }
}
