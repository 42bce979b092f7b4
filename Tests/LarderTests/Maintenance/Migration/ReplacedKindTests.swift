import Foundation
import LarderTesting
import Testing

@testable import Larder

/// Migrations that turn all values of a field into ones of another kind, some of which could be taken for the old one.
@Suite struct ReplacedKindTests {
  private func decimal(_ value: Value) -> Value {
    if case .double(let number) = value { .decimal(Decimal(number)) } else { value }
  }

  // The first batch has a thousand documents.
  @Test(
    "a field gets its kind by the values of all documents, wherever a batch ends",
    arguments: [1000, 1500])
  func manyDocuments(_ count: Int) async throws {
    try await withTemporaryStore { store in
      try await store.repository(of: OldOrder.self).save(
        (0..<count).map {
          OldOrder(
            id: $0, cents: $0 < 1200 ? $0 * 100 : $0 * 100 + 50,
            due: Date(timeIntervalSince1970: 86_400 * Double($0)))
        })

      let report = try await store.migrate(NewOrder.self, to: 2) { order in
        guard case .integer(let cents)? = order["cents"], case .date(let due)? = order["due"]
        else { throw Unexpected() }
        order["cents"] = .decimal(Decimal(cents) / 100)
        order["due"] = .string(
          due.timeIntervalSince1970 < 86_400 * 1300 ? due.formatted(.iso8601) : "someday")
      }

      #expect(report.migrated == count)
      try store.declare(NewOrder.self)
      let orders = try store.repository(of: NewOrder.self).fetch(NewOrder.all)
      #expect(orders.count == count)
      let sum = (0..<count).reduce(Decimal(0)) {
        $0 + Decimal($1) + ($1 < 1200 ? 0 : Decimal(string: "0.5")!)
      }
      #expect(orders.reduce(0) { $0 + $1.cents } == sum)
      #expect(orders[1].due == "1970-01-02T00:00:00Z")
      #expect(try store.check().isSound)
    }
  }

  @Test("so do the elements of arrays, sets and dictionaries, some of which are empty")
  func elements() throws {
    try withTemporaryStore { store in
      let id = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
      try store.repository(of: OldShelf.self).save([
        OldShelf(id: 1),
        OldShelf(id: 2, prices: [9.5], owners: [id], byShop: ["a": 2.5], grid: [[], [0.5]]),
      ])

      try store.migrate(NewShelf.self, to: 2) { shelf in
        guard case .array(let prices)? = shelf["prices"],
          case .array(let owners)? = shelf["owners"],
          case .dictionary(let byShop)? = shelf["byShop"], case .array(let grid)? = shelf["grid"]
        else { throw Unexpected() }
        shelf["prices"] = .array(prices.map(decimal))
        shelf["owners"] = .array(owners.map { .string("\($0)") })
        shelf["byShop"] = .dictionary(byShop.mapValues(decimal))
        shelf["grid"] = .array(
          grid.map { row in
            if case .array(let row) = row { .array(row.map(decimal)) } else { row }
          })
      }

      try store.declare(NewShelf.self)
      let found = try store.repository(of: NewShelf.self).fetch(NewShelf.all.sorted(by: \.id))
      #expect(
        found == [
          NewShelf(id: 1),
          NewShelf(
            id: 2, prices: [9.5], owners: ["\(Value.uuid(id))"], byShop: ["a": 2.5],
            grid: [[], [0.5]]),
        ])
      #expect(try store.check().isSound)
    }
  }

  @Test(
    "an index over an array that becomes one value, or the other way round, is made anew, also of documents without it",
    arguments: [true, false])
  func indexes(isToArray: Bool) throws {
    try withTemporaryStore { store in
      try store.repository(of: BarePaper.self).save(BarePaper(id: 1))
      if isToArray {
        try store.repository(of: PlainPaper.self).save(PlainPaper(id: 2, tags: "a"))
        try store.migrate(TaggedPaper.self, to: 2) { paper in
          if case .string(let tag)? = paper["tags"] { paper["tags"] = .array([.string(tag)]) }
        }
        try store.declare(TaggedPaper.self)
        let papers = store.repository(of: TaggedPaper.self)
        try papers.save(TaggedPaper(id: 3, tags: ["a", "b"]))
        #expect(
          try papers.fetch(TaggedPaper.where { $0.tags.contains("a") }).map(\.id).sorted()
            == [2, 3])
        #expect(try papers.fetch(TaggedPaper.where { $0.tags.isEmpty }).map(\.id) == [1])
      } else {
        try store.repository(of: TaggedPaper.self).save(TaggedPaper(id: 2, tags: ["a", "b"]))
        try store.migrate(PlainPaper.self, to: 2) { paper in
          if case .array(let tags)? = paper["tags"] { paper["tags"] = tags.first ?? .string("") }
        }
        try store.declare(PlainPaper.self)
        let papers = store.repository(of: PlainPaper.self)
        try papers.save(PlainPaper(id: 3, tags: "b"))
        #expect(try papers.fetch(PlainPaper.where { $0.tags == "a" }).map(\.id) == [2])
        #expect(try papers.fetch(PlainPaper.where { $0.tags == "" }).map(\.id) == [1])
      }
      try store.collection("Paper").buildIndexes()
      #expect(try store.check().isSound)
    }
  }
}

@Document(as: "Order") private struct OldOrder {
  var id: Int
  var cents: Int
  var due: Date
}

@Document(as: "Order") private struct NewOrder {
  var id: Int
  var cents: Decimal
  var due: String
}

@Document(as: "Shelf") private struct OldShelf {
  var id: Int
  var prices: [Double] = []
  var owners: Set<UUID> = []
  var byShop: [String: Double] = [:]
  var grid: [[Double]] = []
}

@Document(as: "Shelf") private struct NewShelf: Equatable {
  var id: Int
  var prices: [Decimal] = []
  var owners: Set<String> = []
  var byShop: [String: Decimal] = [:]
  var grid: [[Decimal]] = []
}

@Document(as: "Paper") private struct BarePaper {
  var id: Int
}

@Document(as: "Paper") private struct TaggedPaper {
  var id: Int
  @Indexed var tags: [String] = []
}

@Document(as: "Paper") private struct PlainPaper {
  var id: Int
  @Indexed var tags = ""
}
