import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Embedded documents that have a default: what records without them have, conditions and indexes see.
@Suite struct EmbeddedDefaultTests {
  struct Spot: EmbeddedDocument, Equatable {
    var code = 7
    var word: String? = "default"

    static let schema = Schema<Spot>(
      "Spot", fields: [Field("code", \.code, default: 7), Field("word", \.word)])

    func encode(into record: inout RecordWriter) {
      record.put(code, at: 0)
      record.put(word, at: 1)
    }
  }

  struct Geo: EmbeddedDocument, Equatable {
    var lat = 59.5
    var alias: String?
    var spot = Spot(code: 3, word: nil)
    var tags: [String] = []

    static let schema = Schema<Geo>(
      "Geo",
      fields: [
        Field("lat", \.lat), Field("alias", \.alias), Field("spot", \.spot, default: Spot()),
        Field("tags", \.tags, default: []),
      ])

    func encode(into record: inout RecordWriter) {
      record.put(lat, at: 0)
      record.put(alias, at: 1)
      record.put(spot, at: 2)
      record.put(tags, at: 3)
    }
  }

  struct Shop: Document, Identifiable, Equatable {
    var id: Int
    var geo = Geo()
    var second: Geo? = Geo(lat: 1)
    var third: Geo?

    static let schema = Schema<Shop>(
      "Shop", key: \.id,
      fields: [
        Field("id", \.id), Field("geo", \.geo, default: Geo()),
        Field("second", \.second, default: Geo(lat: 1)), Field("third", \.third),
      ])

    func encode(into record: inout RecordWriter) {
      record.put(id, at: 0)
      record.put(geo, at: 1)
      record.put(second, at: 2)
      record.put(third, at: 3)
    }
  }

  /// The same collection before it had places.
  struct OldShop: Document, Identifiable {
    var id: Int

    static let schema = Schema<OldShop>("Shop", key: \.id, fields: [Field("id", \.id)])

    func encode(into record: inout RecordWriter) { record.put(id, at: 0) }
  }

  private static let indexes: [[Index<Shop>]] = [
    [],
    [
      Index(\.geo.lat), Index(\.geo.alias), Index(\.geo.spot.code), Index(\.geo.spot.word),
      Index(\.second.lat), Index(\.third.lat), Index(\.geo.tags), Index(\.third.spot.code),
    ],
    [
      Index(.descending(\.geo.lat), .ascending(\.second.spot.code)),
      Index(\.geo.spot.code, \.geo.alias), Index(.descending(\.geo.spot.word)),
      Index(\.second.lat, where: { $0.geo.lat > 1 }), Index(.descending(\.second.alias)),
    ],
  ]

  // Immutable.
  nonisolated(unsafe) private static let conditions:
    [((Fields<Shop>) -> Filter<Shop>, (Shop) -> Bool)] = [
      ({ $0.geo.lat == 59.5 }, { $0.geo.lat == 59.5 }),
      ({ $0.geo.lat < 59.5 }, { $0.geo.lat < 59.5 }),
      (
        { $0.geo.lat > 1 && $0.second.lat >= 1 },
        { $0.geo.lat > 1 && $0.second.map { $0.lat >= 1 } ?? false }
      ),
      ({ $0.geo.alias == nil }, { $0.geo.alias == nil }),
      ({ $0.geo.alias == "a" }, { $0.geo.alias == "a" }),
      ({ $0.geo.spot.code == 3 }, { $0.geo.spot.code == 3 }),
      ({ $0.geo.spot.code == 7 }, { $0.geo.spot.code == 7 }),
      ({ $0.geo.spot.word == "default" }, { $0.geo.spot.word == "default" }),
      ({ $0.geo.spot.word == nil }, { $0.geo.spot.word == nil }),
      ({ $0.second.lat == 1 }, { $0.second?.lat == 1 }),
      ({ $0.second.lat == nil }, { $0.second?.lat == nil }),
      ({ $0.second == nil }, { $0.second == nil }),
      ({ $0.second.spot.code.isIn([3, 7]) }, { [3, 7].contains($0.second?.spot.code) }),
      ({ $0.second.alias <= "b" }, { $0.second?.alias.map { $0 <= "b" } ?? false }),
      ({ $0.third.lat == nil }, { $0.third == nil }),
      ({ $0.third.spot.code == 7 }, { $0.third?.spot.code == 7 }),
      ({ $0.geo.tags.contains("a") }, { $0.geo.tags.contains("a") }),
      ({ $0.geo.tags.isEmpty == true }, { $0.geo.tags.isEmpty }),
    ]

  private static func geo(_ random: inout RandomSource) -> Geo {
    Geo(
      lat: random.pick([1, 2, 59.5, 60]), alias: random.pick([nil, "a", "b"]),
      spot: Spot(code: random.pick([3, 7, 8]), word: random.pick([nil, "default", "x"])),
      tags: random.several(["a", "b"]))
  }

  /// Documents with and without the fields, in a store and in memory.
  private func withShops(
    _ indexes: [Index<Shop>], _ body: (Store, [Shop]) throws -> Void
  ) throws {
    var random = RandomSource(seed: 6)
    try withTemporaryStore { store in
      try store.repository(of: OldShop.self).save((0..<20).map { OldShop(id: $0) })
      let shops = (20..<60).map { id in
        Shop(
          id: id, geo: Self.geo(&random), second: random.bool() ? nil : Self.geo(&random),
          third: random.bool() ? nil : Self.geo(&random))
      }
      try store.declare(Shop.self, indexes: indexes.map(\.definition))
      try store.repository(of: Shop.self).save(shops)
      try body(store, (0..<20).map { Shop(id: $0) } + shops)
    }
  }

  @Test(
    "conditions on their fields select what Swift selects, with indexes and without",
    arguments: 0..<3)
  func conditions(set: Int) throws {
    try withShops(Self.indexes[set]) { store, shops in
      let repository = store.repository(of: Shop.self)
      let memory = InMemoryRepository(of: Shop.self)
      try memory.save(shops)
      #expect(try repository.fetch(Shop.all) == shops)
      for (number, (filter, holds)) in Self.conditions.enumerated() {
        let query = Shop.where(filter)
        let expected = shops.filter(holds).map(\.id)

        #expect(try repository.fetch(query).map(\.id) == expected, "\(number)")
        #expect(try repository.count(query) == expected.count, "\(number)")
        #expect(try memory.fetch(query).map(\.id) == expected, "\(number)")
        #expect(try !query.explain(in: store).decodesToFilter, "\(number)")
        try store.eachPlan(of: query) { keys, plan in
          #expect(keys == expected, "\(number): \(plan)")
        }
      }
      let sorted = shops.sorted {
        ($0.geo.lat, $0.geo.spot.code, $0.id) < ($1.geo.lat, $1.geo.spot.code, $1.id)
      }
      let order = Shop.all.sorted(by: \.geo.lat).sorted(by: \.geo.spot.code)
      #expect(try repository.fetch(order).map(\.id) == sorted.map(\.id))
      let predicate = #Predicate<Shop> { $0.geo.lat > 2 && $0.geo.spot.code == 3 }
      let found = Shop.matching(predicate)
      #expect(try !found.explain(in: store).decodesToFilter)
      #expect(
        try repository.fetch(found).map(\.id)
          == shops.filter { $0.geo.lat > 2 && $0.geo.spot.code == 3 }.map(\.id))
    }
  }

  @Test("an index over such a field is used, and is the same one when the store is opened again")
  func reopened() throws {
    let folder = TestFolder()
    let query = Shop.where { $0.geo.lat == 2 }
    var expected: [Int] = []
    for _ in 0..<2 {
      let store = try Store(at: folder.store)
      if expected.isEmpty {
        try store.repository(of: OldShop.self).save((0..<400).map { OldShop(id: $0) })
        try store.declare(Shop.self, indexes: [Index<Shop>(\.geo.lat).definition])
        let shops = [Shop(id: 500, geo: Geo(lat: 2)), Shop(id: 501, geo: Geo(lat: 3))]
        try store.repository(of: Shop.self).save(shops)
        expected = [500]
      }
      guard case .index = try query.explain(in: store).source else {
        Issue.record("the index is not used")
        return
      }
      #expect(try store.repository(of: Shop.self).fetch(query).map(\.id) == expected)
      let lacking = Shop.where { $0.geo.lat == 59.5 }
      #expect(try store.repository(of: Shop.self).count(lacking) == 400)
      try verifyAndClose(store)
    }
  }
}

extension EmbeddedDefaultTests.Spot {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(code: try record.get(0), word: try record.get(1))
  }
}

extension EmbeddedDefaultTests.Geo {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      lat: try record.get(0), alias: try record.get(1), spot: try record.get(2),
      tags: try record.get(3))
  }
}

extension EmbeddedDefaultTests.Shop {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), geo: try record.get(1), second: try record.get(2),
      third: try record.get(3))
  }
}

extension EmbeddedDefaultTests.OldShop {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0))
  }
}
