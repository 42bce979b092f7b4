import Foundation
import Larder
import LarderTesting
import Testing

/// What the tables of the article on indexes say, asked of the planner.
@Suite struct IndexesArticleTests {
  @Test("the conditions that an index serves, according to the article, are served by one")
  func served() throws {
    try withVisits { store in
      let served: [Query<Visit>] = [
        Visit.where { $0.city == "c7" },
        Visit.where { $0.soldAt == nil },
        Visit.where { $0.isOpen },
        Visit.where { !$0.isClosed },
        Visit.where { $0.city.isIn(["c7", "c8"]) },
        Visit.where { $0.price > 990 },
        Visit.where { $0.price.isIn(100...103) },
        Visit.where { $0.rank < .middle },
        Visit.where { $0.name.hasPrefix("n19") },
        Visit.where { $0.tags.contains("t3") },
        Visit.where { $0.tags.contains { $0 == "t3" } },
        Visit.where { $0.tags.contains { $0.hasPrefix("t49") } },
        Visit.where { $0.tags.containsAny(of: ["t3", "t4"]) },
        Visit.where { $0.tags.containsAll(of: ["t3", "u3"]) },
        Visit.where { $0.city == "c7" && $0.note == "a" },
        Visit.where { $0.city == "c7" || $0.price > 990 },
        Visit.where { $0.seat.row == "r7" },
        Visit.where { $0.city > "c98" && $0.floor > 3 },
        Visit.where { $0.note.hasSuffix("x") && $0.floor < 3 },
        Visit.where { $0.note.hasSuffix("x") },
        Visit.where { $0.id == 7 },
        Visit.where { $0.id.isIn([7, 8]) },
        Visit.where { $0.id < 20 },
      ]
      for query in served {
        let plan = try query.explain(in: store)
        #expect(plan.source != .scan, "\(query): \(plan)")
        #expect(plan.examinedCount < 250, "\(query): \(plan)")
        #expect(plan.matchedCount > 0, "\(query): \(plan)")
      }
    }
  }

  @Test("the conditions that no index serves, according to the article, are answered by a scan")
  func unserved() throws {
    try withVisits { store in
      let unserved: [Query<Visit>] = [
        Visit.where { $0.city != "c7" },
        Visit.where { !($0.price < 990) },
        Visit.where { $0.soldAt != nil },
        Visit.where { $0.name.hasSuffix("19") },
        Visit.where { $0.name.contains("19") },
        Visit.where { $0.name.lowercased() == "n19" },
        Visit.where { $0.tags.count == 3 },
        Visit.where { $0.tags.contains { $0 != "t3" } },
        Visit.where { $0.tags.allSatisfy { $0 == "t3" } },
        Visit.where { $0.name == $0.city },
        Visit.where { $0.label == "n19" },
        Visit.where { $0.city == "c7" || $0.note == "a" },
        Visit.where { $0.floor == 3 },
        Visit.where { $0.name.isIn((0..<300).map { "n\($0)" }) },
      ]
      for query in unserved {
        let plan = try query.explain(in: store)
        #expect(plan.source == .scan, "\(query): \(plan)")
      }
    }
  }

  @Test("the orders that an index gives, according to the article, need no sorting")
  func orders() throws {
    try withVisits { store in
      let given: [Query<Visit>] = [
        Visit.all.sorted(by: \.city),
        Visit.all.sorted(by: \.city, .reverse).sorted(by: \.floor, .reverse),
        Visit.all.sorted(by: \.seller).sorted(by: \.soldAt, .reverse),
        Visit.where { $0.city == "c7" }.sorted(by: \.floor),
        Visit.where { $0.seller == "s7" }.sorted(by: \.soldAt, .reverse),
        Visit.all.sorted(by: \.rank),
      ]
      let sorted: [Query<Visit>] = [
        Visit.all.sorted(by: \.city).sorted(by: \.floor, .reverse),
        Visit.where { $0.city.isIn(["c7", "c8"]) }.sorted(by: \.floor),
        Visit.all.sorted(by: \.soldAt, nils: .last),
        Visit.all.sorted(by: \.tags.count),
        Visit.all.sorted(by: \.label),
        Visit.all.sorted(by: \.id, .reverse),
      ]
      for query in given {
        let plan = try query.limit(5).explain(in: store)
        #expect(plan.order == .index, "\(query): \(plan)")
      }
      for query in sorted {
        let plan = try query.limit(5).explain(in: store)
        #expect(plan.order == .sort, "\(query): \(plan)")
      }
      let inOrder = [
        Visit.all, Visit.all.sorted(by: \.id), Visit.all.sorted(by: \.id).sorted(by: \.city),
      ]
      for query in inOrder {
        let plan = try query.limit(5).explain(in: store)
        #expect(plan.order == .keys, "\(query): \(plan)")
      }
    }
  }

  @Test("the plan that the article reads line by line is what a query says")
  func text() throws {
    try withVisits { store in
      let query = Visit.where { $0.city == "c7" && $0.code != "x" }.sorted(by: \.floor).limit(10)
      let plan = try query.explain(in: store)

      #expect(
        "\(plan)"
          == "index \"city,floor\" (city, floor), 1 range: 10 documents, then code != \"x\": "
          + "10 documents, in the order of the index")
    }
  }

  private func withVisits(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore { store in
      try store.repository(of: Visit.self).save((0..<2_000).map { Visit(number: $0) })
      try body(store)
    }
  }
}

@Document
private struct Visit: Identifiable {
  var id: Int
  var city: String
  var floor: Int
  var seller: String
  @Indexed var price: Int
  @Indexed var soldAt: Date?
  @Indexed(unique: true) var code: String?
  @Indexed var name: String
  @Indexed var tags: [String]
  @Indexed var isOpen: Bool
  @Indexed var isClosed: Bool
  @Indexed var rank: VisitRank
  var seat: VisitSeat?
  var note: String

  var label: String { name }

  static let indexes: [Index<Visit>] = [
    Index(\.city, \.floor), Index(.ascending(\.seller), .descending(\.soldAt)), Index(\.seat.row),
    Index(\.price, where: { $0.note.hasSuffix("x") }),
  ]

  /// Every field has its value in a few of the documents.
  init(number: Int) {
    id = number
    city = "c\(number % 100)"
    floor = number % 10
    seller = "s\(number % 100)"
    price = number % 1_000
    soldAt = number % 20 == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number))
    code = "k\(number)"
    name = "n\(number)"
    tags = ["t\(number % 50)", "u\(number % 40)"]
    isOpen = number % 50 == 0
    isClosed = number % 50 != 0
    rank = number % 50 == 0 ? .low : .high
    seat = VisitSeat(row: "r\(number % 40)")
    note = number % 50 == 0 ? "x" : "a"
  }
}

@EmbeddedDocument
private struct VisitSeat {
  var row: String
}

private enum VisitRank: Int, Storable, Comparable, CaseIterable {
  case low, middle, high

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
