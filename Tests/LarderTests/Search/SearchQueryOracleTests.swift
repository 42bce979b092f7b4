import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite("a search among the conditions of a query")
struct SearchQueryOracleTests {
  private static let fields = Fields<Pamphlet>()

  private static func condition(_ typed: String) -> SearchCondition {
    let paths = [
      fields.title.storedPath, fields.text.storedPath, fields.tags.storedPath,
      fields.source.name.storedPath, fields.source.remarks.storedPath,
    ]
    return SearchCondition(
      fields: paths.compactMap { $0.map(Operand.field) }, weights: Pamphlet.weights,
      expression: SearchExpression(typed, isBeingTyped: true, allowsTypos: true))
  }

  private func typed(_ random: inout RandomSource) -> String {
    random.array(1..<4) { random in
      let word = Pamphlet.word(&random)
      switch random.int(0..<8) {
      case 0: return "\"\(word) \(Pamphlet.word(&random))\""
      case 1: return "-" + word
      case 2: return word + " OR " + Pamphlet.word(&random)
      case 3: return String(word.prefix(random.int(1..<4))) + "*"
      default: return word + (random.bool() ? "" : " ")
      }
    }.joined(separator: " ")
  }

  private func query(_ condition: SearchCondition, _ random: inout RandomSource) -> Query<Pamphlet>
  {
    var query = Pamphlet.all.searching(condition)
    if random.once(in: 3) {
      let (low, high) = (random.int(0..<400), random.int(0..<800))
      query = query.where { $0.id > low && $0.id < low + high }
    }
    if random.once(in: 4) { query = query.where { $0.tags.contains("sea") || $0.place == 0 } }
    switch random.int(0..<4) {
    case 0: query = query.sorted(by: \.title)
    case 1: query = query.sorted(by: \.place, .reverse).limit(random.int(0..<40))
    case 2: query = query.limit(random.int(0..<40)).offset(random.int(0..<10))
    default: break
    }
    return query
  }

  @Test("finds the same by the index as by reading every document, in a store and in memory")
  func oracle() throws {
    var random = RandomSource()
    var usedCount = 0
    var foundCount = 0
    for _ in 0..<repetitions(2) {
      let pamphlets = (0..<800).map { id in
        var pamphlet = Pamphlet.random(id, &random)
        pamphlet.place = random.int(0..<30)
        return pamphlet
      }
      let queries = (0..<60).map { _ in
        query(Self.condition(typed(&random)), &random)
      }
      let memory = InMemoryRepository(of: Pamphlet.self)
      try memory.save(pamphlets)
      try withTemporaryStore { store in
        let repository = store.repository(of: Pamphlet.self)
        try repository.save(pamphlets)
        let read = try queries.map { try repository.fetch($0) }
        try store.declarePamphletWords()
        try store.collection("Pamphlet").buildIndexes()
        for (query, expected) in zip(queries, read) {
          #expect(try repository.fetch(query) == expected, "\(query) \(random.hint)")
          #expect(try memory.fetch(query) == expected, "\(query) \(random.hint)")
          #expect(try repository.count(query) == expected.count, "\(query) \(random.hint)")
          foundCount += expected.count
          if case .search = try query.explain(in: store).source { usedCount += 1 }
        }
        let gone = Set(pamphlets.map(\.id).filter { $0 % 3 == 0 })
        try repository.delete(keys: Array(gone))
        #expect(
          try repository.fetch(
            Pamphlet.all.searching(Self.condition("oslo ")).sorted(by: \.id))
            == pamphlets.filter { !gone.contains($0.id) && $0.has("oslo") }, "\(random.hint)")
      }
    }
    #expect(usedCount > 0 && foundCount > 0, "\(random.hint)")
  }

  @Test("deletes what it finds, and nothing else")
  func deleting() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: Pamphlet.self)
      let pamphlets = (0..<500).map { Pamphlet.random($0, &random) }
      try repository.save(pamphlets)
      try store.declarePamphletWords()
      let found = pamphlets.filter { $0.has("fjord") }
      #expect(
        try repository.delete(Pamphlet.all.searching(Self.condition("\"fjord\"")))
          == found.count, "\(random.hint)")
      #expect(
        try repository.fetch(Pamphlet.all) == pamphlets.filter { !$0.has("fjord") },
        "\(random.hint)")
    }
  }
}

extension Pamphlet {
  /// Whether a word is in one of its texts, of which this knows only ASCII.
  fileprivate func has(_ word: String) -> Bool { [self].frequencies(of: word).isEmpty == false }
}
