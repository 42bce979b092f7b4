import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Document private struct Ware: Identifiable, Equatable {
  var id: Int
  @Indexed var shelf: Int
  @Indexed var weight: Float
  var price: Int

  static let indexes: [Index<Ware>] = [Index(\.price, \.shelf)]
}

@Suite("an index and a list of many values")
struct LongListTests {
  @Test("does not look for more values than there are documents")
  func fewDocuments() throws {
    try withTemporaryStore { store in
      let wares = store.repository(of: Ware.self)
      try wares.save((0..<1000).map { Ware(id: $0, shelf: $0, weight: 0, price: 0) })
      for (count, isByIndex) in [(100, true), (1500, false)] {
        let query = Ware.where { $0.shelf.isIn(Array(900..<900 + count)) }
        var isFound = false
        if case .index = try query.explain(in: store).source { isFound = true }
        #expect(isFound == isByIndex, "\(count)")
        #expect(try wares.fetch(query).map(\.id) == Array(900..<1000))
        #expect(try wares.count(query) == 100)
      }
    }
  }

  @Test("gives what Swift's filter gives, of long lists by the index")
  func lists() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let wares = store.repository(of: Ware.self)
      let all = (0..<30_000).map { id in
        Ware(
          id: id, shelf: random.int(0..<20_000), weight: Float(random.int(0..<20_000)) / 3,
          price: random.int(0..<3_000))
      }
      try wares.save(all)
      for count in [1, 2, 255, 256, 257, 1_000, 4_000] {
        let shelves = (0..<count).map { _ in random.int(0..<20_000) }
        let isWanted = Set(shelves)
        let query = Ware.where { $0.shelf.isIn(shelves) }
        let hint = "\(count) values, \(random.hint)"
        #expect(try wares.fetch(query) == all.filter { isWanted.contains($0.shelf) }, "\(hint)")
        #expect(try wares.count(query) == all.count { isWanted.contains($0.shelf) }, "\(hint)")
        if count < 3_000 {
          let plan = try query.explain(in: store)
          guard case .index(let use) = plan.source else {
            Issue.record("\(plan), \(hint)")
            continue
          }
          #expect(use.name == "shelf")
          #expect(plan.examinedCount == plan.matchedCount, "\(hint)")
        }

        // Two lists for one field, and one for the first of two.
        let others = (0..<count).map { _ in random.int(0..<20_000) } + shelves.prefix(count / 2)
        let isOther = Set(others)
        #expect(
          try wares.fetch(Ware.where { $0.shelf.isIn(shelves) && $0.shelf.isIn(others) })
            == all.filter { isWanted.contains($0.shelf) && isOther.contains($0.shelf) }, "\(hint)")
        let prices = shelves.map { $0 % 3_000 }
        let isPrice = Set(prices)
        #expect(
          try wares.fetch(
            Ware.where { $0.price.isIn(prices) && $0.shelf < 5_000 }.sorted(by: \.shelf).limit(7))
            == Array(
              all.filter { isPrice.contains($0.price) && $0.shelf < 5_000 }
                .sorted { ($0.shelf, $0.id) < ($1.shelf, $1.id) }.prefix(7)), "\(hint)")
        let weights = (0..<count).map { _ in Float(random.int(0..<20_000)) / 3 }
        let isWeight = Set(weights)
        #expect(
          try wares.fetch(Ware.where { $0.weight.isIn(weights) })
            == all.filter { isWeight.contains($0.weight) }, "\(hint)")
      }
    }
  }
}
