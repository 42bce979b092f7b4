import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct QueryOracleTests {
  @Test("a query selects what Swift's filter and a stable sort select, in that order")
  func oracle() throws {
    var random = RandomSource()
    let total = repetitions(10_000)
    var done = 0
    var hits = 0
    while done < total || done < 20 * total && hits <= total / 4 {
      let count = min(2_500, total)
      try withTemporaryStore { store in
        let specimens = try stored(in: store, using: &random)
        hits += try store.read { snapshot in
          var hits = 0
          for _ in 0..<count {
            let (query, expected) = Self.question(about: specimens, using: &random)
            let found = try snapshot.fetch(query).map(\.id)
            try #require(found == expected, "\(query), \(random.hint)")
            if !found.isEmpty { hits += 1 }
          }
          return hits
        }
      }
      done += count
    }
    // Questions that nothing answers would prove nothing.
    #expect(hits > total / 4, "\(random.hint)")
  }

  /// Saves random specimens; returns what was read back, in the order of the keys.
  private func stored(in store: Store, using random: inout RandomSource) throws -> [Specimen] {
    let repository = store.repository(of: Specimen.self)
    for _ in 0..<3 {
      try repository.save(
        Pool.texts.filter { !$0.isEmpty && random.once(in: 10) }.map {
          Specimen(id: $0, using: &random)
        })
    }
    let specimens = try repository.fetch(Specimen.all)
    let keys = specimens.map { TextOracle.normal($0.id) }
    #expect(keys == keys.sorted())
    return specimens
  }

  /// A random query, and the keys of its answer.
  private static func question(
    about specimens: [Specimen], using random: inout RandomSource
  ) -> (Query<Specimen>, [String]) {
    var query = Specimen.all
    var answer = Array(specimens.enumerated())
    if !random.once(in: 8) {
      let condition = Condition.random(depth: random.int(0..<5), using: &random)
      query = query.where(condition.filter)
      answer.removeAll { !condition.holds($0.element) }
    }
    var orderings: [Ordering] = []
    for _ in 0..<random.int(0..<4) { orderings.append(Ordering.random(using: &random)) }
    for ordering in orderings { query = ordering.sort(query) }
    answer.sort { first, second in
      for ordering in orderings {
        let comparison = ordering.compare(first.element, second.element)
        if comparison != 0 { return comparison < 0 }
      }
      return first.offset < second.offset
    }
    if random.once(in: 4) {
      let offset = random.pick([0, 1, 2, 5, 100, .max])
      query = query.offset(offset)
      answer = Array(answer.dropFirst(offset))
    }
    if random.once(in: 4) {
      let limit = random.pick([0, 1, 2, 5, 100, .max])
      query = query.limit(limit)
      answer = Array(answer.prefix(limit))
    }
    return (query, answer.map(\.element.id))
  }
}
