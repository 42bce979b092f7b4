import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Texts that are alike as far as an entry of an index has them: only what stands behind that tells
/// them apart.
@Suite struct CutTextIndexOracleTests {
  @Test("conditions on texts that are alike up to where indexes cut them select what Swift selects")
  func cutTexts() throws {
    var random = RandomSource()
    let total = repetitions(500)
    var tally = Tally()
    while tally.asked < total || tally.asked < 20 * total && !tally.hasMetAll(total) {
      let texts = Self.texts(using: &random)
      let volumes = (0..<30).map { Self.volume($0, of: texts, using: &random) }
      let memory = InMemoryRepository(of: Volume.self)
      try memory.save(volumes)
      try withTemporaryStore { plain in
        try plain.repository(of: Volume.self).save(volumes)
        try withTemporaryStore { store in
          let isLate = random.bool()
          if isLate { try store.repository(of: Volume.self).save(volumes) }
          try store.declare(Volume.self, indexes: Self.declarations(texts, using: &random))
          if !isLate { try store.repository(of: Volume.self).save(volumes) }
          for _ in 0..<50 {
            try ask(
              .random(texts, depth: 2, using: &random), of: volumes, memory, plain, store, &tally,
              &random)
          }
        }
      }
    }
    #expect(tally.hasMetAll(total), "\(random.hint)")
  }

  private struct Tally {
    var asked = 0
    var found = 0
    var byIndex = 0

    /// Plans that are never made, and questions that nothing answers, prove nothing.
    func hasMetAll(_ total: Int) -> Bool { found > total / 4 && byIndex > total / 2 }
  }

  /// A few texts with a common beginning that ends around the cut, of characters of one to four
  /// bytes, so that it cuts some of them in two; and their beginnings.
  private static func texts(using random: inout RandomSource) -> [String] {
    let unit = random.pick(["x", "\u{E9}", "e\u{301}", "\u{65E5}", "\u{1F600}", "\0", "x\u{65E5}"])
    let count = random.int(240..<261)
    var stem = String(repeating: "y", count: random.int(0..<4))
    while TextOracle.composed(stem).utf8.count < count { stem += unit }
    let rest = String(repeating: "z", count: 300)
    let ends = [
      "", "a", "b", "ab", "0", "\u{E9}", "e\u{301}", "\u{301}", "\0", "\u{65E5}", "\u{1F600}",
      rest + "a", rest + "b", unit, unit + "a", unit + unit,
    ]
    return ends.map { stem + $0 } + [String(stem.dropLast()), stem + stem, "x", "z"]
  }

  private static func volume(
    _ id: Int, of texts: [String], using random: inout RandomSource
  ) -> Volume {
    Volume(
      id: id, path: random.pick(texts), alias: random.maybe(texts), shelf: random.int(0..<3),
      tags: random.several(texts))
  }

  private static func declarations(
    _ texts: [String], using random: inout RandomSource
  ) -> [IndexDeclaration] {
    let path: [IndexPart<Volume>] = [.ascending(\.path), .descending(\.path)]
    let others: [IndexPart<Volume>] = [
      .ascending(\.shelf), .descending(\.shelf), .ascending(\.alias), .descending(\.alias),
      .ascending(\.tags), .descending(\.tags),
    ]
    return (0..<5).map { number in
      var parts = [random.pick(path)]
      if random.bool() {
        parts.insert(random.pick(others), at: random.int(0..<2))
      } else if random.once(in: 3) {
        parts = [random.pick(others)]
      }
      var filter: FilterNode?
      if random.once(in: 5) {
        filter = VolumeCondition.random(texts, depth: 0, using: &random).filter(Fields()).node
      }
      return IndexDeclaration(
        name: "\(number)", parts: parts.map(\.part), isUnique: false, filter: filter)
    }
  }

  private func ask(
    _ condition: VolumeCondition, of volumes: [Volume],
    _ memory: InMemoryRepository<Volume, Volume>,
    _ plain: Store, _ store: Store, _ tally: inout Tally, _ random: inout RandomSource
  ) throws {
    var query = Volume.where(condition.filter)
    var untyped = DynamicQuery(where: condition.untyped)
    var selected = volumes.filter(condition.holds)
    if random.bool() {
      let isReversed = random.bool()
      query = query.sorted(by: \.path, isReversed ? .reverse : .forward)
      untyped = untyped.sorted(by: "path", isReversed: isReversed)
      selected = selected.enumerated().sorted { first, second in
        let (left, right) = (
          TextOracle.normal(first.element.path), TextOracle.normal(second.element.path)
        )
        if left == right { return first.offset < second.offset }
        return isReversed ? left > right : left < right
      }.map(\.element)
    }
    let keys = selected.map(\.id)
    let hint = Comment(rawValue: "\(query), \(random.hint)")

    try #require(try memory.fetch(query).map(\.id) == keys, hint)
    for store in [plain, store] {
      let repository = store.repository(of: Volume.self)
      try #require(try repository.fetch(query).map(\.id) == keys, hint)
      try #require(try repository.count(query) == keys.count, hint)
      let collection = store.collection("Volume")
      let documents = try collection.fetch(untyped).map { $0["id"] }
      try #require(documents == keys.map { .integer(Int64($0)) }, hint)
      try #require(try collection.count(untyped) == keys.count, hint)
    }
    try #require(try deleted(query, in: store) == keys.count, hint)
    try store.eachPlan(of: query) { found, plan in
      try #require(found == keys, "\(plan), \(hint)")
      if case .index = plan.source { tally.byIndex += 1 }
    }
    tally.asked += 1
    if !keys.isEmpty { tally.found += 1 }
  }

  /// What a delete would say, in a transaction that is not kept.
  private func deleted(_ query: Query<Volume>, in store: Store) throws -> Int {
    struct Undo: Error {}
    var count = 0
    do {
      try store.write { tx in
        count = try tx.delete(query)
        throw Undo()
      }
    } catch is Undo {}
    return count
  }
}
