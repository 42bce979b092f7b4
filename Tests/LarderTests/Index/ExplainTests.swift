import Foundation
import LarderTesting
import Testing

@testable import Larder

@Suite struct ExplainTests {
  private func withParcels(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore { store in
      try store.repository(of: Parcel.self).save(
        (0..<2_000).map {
          Parcel(id: $0, code: "c\($0)", shelf: $0 % 100, labels: ["l\($0 % 50)"])
        })
      try body(store)
    }
  }

  @Test("a selective condition reads its index's range, and the text says so")
  func index() throws {
    try withParcels { store in
      let plan = try Parcel.where { $0.shelf == 7 && $0.code != "c7" }.explain(in: store)

      #expect(
        plan.source == .index(.init(name: "shelf", fields: ["shelf"], rangeCount: 1)))
      #expect(plan.residual == "code != \"c7\"")
      #expect((plan.examinedRows, plan.matchedRows) == (20, 19))
      #expect(plan.estimatedRows == 20)
      #expect(
        "\(plan)"
          == "index \"shelf\" (shelf), 1 range: 20 documents, then code != \"c7\": 19 documents")
    }
  }

  @Test("a condition that most documents fulfil is answered by a scan")
  func scan() throws {
    try withParcels { store in
      let plan = try Parcel.where { $0.shelf >= 5 }.explain(in: store)

      #expect(plan.source == .scan)
      #expect((plan.examinedRows, plan.matchedRows) == (2_000, 1_900))
    }
  }

  @Test("a sort with a limit goes along an index and ends with the limit")
  func order() throws {
    try withParcels { store in
      let plan = try Parcel.all.sorted(by: \.shelf, .reverse).limit(3).explain(in: store)

      #expect(plan.order == .index)
      #expect(plan.examinedRows == 3)
    }
  }

  @Test("conditions on the key read by key, or a range of keys")
  func keys() throws {
    try withParcels { store in
      let one = try Parcel.where { $0.id == 7 }.explain(in: store)
      let some = try Parcel.where { $0.id.isIn([7, 8, 9_999]) }.explain(in: store)
      let range = try Parcel.where { $0.id >= 10 && $0.id < 20 }.explain(in: store)

      #expect((one.source, one.examinedRows) == (.keys(count: 1), 1))
      #expect((some.source, some.examinedRows) == (.keys(count: 3), 2))
      #expect((range.source, range.examinedRows) == (.keyRange, 10))
      #expect(range.residual == nil)
    }
  }

  @Test("an or of conditions with an index each is their union")
  func union() throws {
    try withParcels { store in
      let query = Parcel.where { $0.shelf == 7 || $0.labels.contains("l3") }
      let plan = try query.explain(in: store)

      guard case .union(let uses) = plan.source else {
        Issue.record("\(plan)")
        return
      }
      #expect(uses.map(\.name) == ["shelf", "labels"])
      #expect(plan.matchedRows == 60)
    }
  }

  @Test("conditions that contradict each other read nothing")
  func nothing() throws {
    try withParcels { store in
      let shelf = try Parcel.where { $0.shelf == 7 && $0.shelf == 8 }.explain(in: store)
      let id = try Parcel.where { $0.id < 7 && $0.id > 8 }.explain(in: store)

      #expect(shelf.source == .nothing)
      #expect(id.source == .nothing)
    }
  }

  @Test("a property that is not stored is decoded, and the plan says so")
  func computed() throws {
    try withParcels { store in
      let plan = try Parcel.where { $0.entityAccessorKey == 7 }.explain(in: store)

      #expect(plan.decodesToFilter)
      #expect(plan.source == .scan)
    }
  }

  @Test("counting by an index reads no document")
  func count() throws {
    try withParcels { store in
      let parcels = store.repository(of: Parcel.self)

      let onShelf = try parcels.count(Parcel.where { $0.shelf == 7 })
      let labelled = try parcels.count(Parcel.where { $0.labels.contains("l3") })

      #expect((onShelf, labelled) == (20, 40))
    }
  }
}
