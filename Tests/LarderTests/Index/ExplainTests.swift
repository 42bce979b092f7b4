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
      #expect((plan.examinedCount, plan.matchedCount) == (20, 19))
      #expect(plan.estimatedCount == 20)
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
      #expect((plan.examinedCount, plan.matchedCount) == (2_000, 1_900))
    }
  }

  @Test("a sort with a limit goes along an index and ends with the limit")
  func order() throws {
    try withParcels { store in
      let plan = try Parcel.all.sorted(by: \.shelf, .reverse).limit(3).explain(in: store)

      #expect(plan.order == .index)
      #expect(plan.examinedCount == 3)
    }
  }

  @Test("of indexes that a condition narrows alike, one that has the order is taken")
  func orderOfEqualIndexes() throws {
    try withTemporaryStore { store in
      let offers = store.repository(of: Offer.self)
      try offers.save(
        (0..<2_000).map { Offer(id: $0, city: "c\($0 % 10)", price: $0 * 7_919 % 2_000) })
      let inOneCity = Offer.where { $0.city == "c7" }

      for query in [inOneCity, inOneCity.limit(5)] {
        let plan = try query.sorted(by: \.price).explain(in: store)

        #expect(plan.order == .index, "\(plan)")
        #expect(
          plan.source
            == .index(.init(name: "city,price", fields: ["city", "price"], rangeCount: 1)))
        #expect(plan.examinedCount == (query.selection.maximum ?? 200))
      }
      #expect(
        try inOneCity.explain(in: store).source
          == .index(.init(name: "city", fields: ["city"], rangeCount: 1)))
      #expect(
        try offers.fetch(inOneCity.sorted(by: \.price)).map(\.price)
          == (0..<2_000).filter { $0 % 10 == 7 }.map { $0 * 7_919 % 2_000 }.sorted())
    }
  }

  @Test("an order that begins with the key is that in which documents lie")
  func orderOfKeys() throws {
    try withParcels { store in
      let parcels = store.repository(of: Parcel.self)
      let byKey = Parcel.all.sorted(by: \.id)

      let first = try byKey.limit(3).explain(in: store)
      let more = try byKey.sorted(by: \.code, .reverse).limit(3).explain(in: store)
      let onShelf = try Parcel.where { $0.shelf == 7 }.sorted(by: \.id).limit(3)
        .explain(in: store)
      let reversed = try Parcel.all.sorted(by: \.id, .reverse).limit(3).explain(in: store)

      #expect((first.source, first.order, first.examinedCount) == (.scan, .keys, 3))
      #expect((more.order, more.examinedCount) == (.keys, 3))
      #expect((onShelf.order, onShelf.examinedCount) == (.keys, 3))
      #expect((reversed.order, reversed.examinedCount) == (.sort, 2_000))
      #expect(
        try parcels.fetch(Parcel.all.sorted(by: \.id, .reverse).limit(2)).map(\.id)
          == [1_999, 1_998])
    }
  }

  @Test("a page in the order of the keys begins where the one before has ended")
  func pagesByKey() throws {
    try withParcels { store in
      let parcels = store.repository(of: Parcel.self)
      for query in [Parcel.all.sorted(by: \.id), Parcel.where { $0.shelf == 7 }.sorted(by: \.id)] {
        var cursor: PageCursor?
        var ids: [Int] = []
        repeat {
          let page = try parcels.page(query.limit(7), after: cursor)
          ids += page.models.map(\.id)
          if let next = page.next {
            let plan = try query.limit(7).after(next).explain(in: store)
            // An index range begins with the last document of the page before.
            #expect(plan.examinedCount <= 8, "\(plan)")
          }
          cursor = page.next
        } while cursor != nil

        #expect(try ids == parcels.fetch(query).map(\.id))
        #expect(ids == ids.sorted())
      }
    }
  }

  @Test("conditions on the key read by key, or a range of keys")
  func keys() throws {
    try withParcels { store in
      let one = try Parcel.where { $0.id == 7 }.explain(in: store)
      let some = try Parcel.where { $0.id.isIn([7, 8, 9_999]) }.explain(in: store)
      let range = try Parcel.where { $0.id >= 10 && $0.id < 20 }.explain(in: store)

      #expect((one.source, one.examinedCount) == (.keys(count: 1), 1))
      #expect((some.source, some.examinedCount) == (.keys(count: 3), 2))
      #expect((range.source, range.examinedCount) == (.keyRange, 10))
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
      #expect(plan.matchedCount == 60)
    }
  }

  @Test("values of one field that are asked for one by one are a list: of keys, and of elements")
  func lists() throws {
    try withParcels { store in
      let keys = try Parcel.where { $0.id == 7 || $0.id.isIn([8, 9_999]) }.explain(in: store)
      let labels = try Parcel.where { $0.labels.contains { $0 == "l3" || $0 == "l4" } }
        .explain(in: store)
      let one = try Parcel.where { $0.labels.contains("l3") }.explain(in: store)

      #expect((keys.source, keys.examinedCount) == (.keys(count: 3), 2))
      guard case .index(let use) = labels.source else {
        Issue.record("\(labels)")
        return
      }
      #expect(use.name == "labels" && labels.matchedCount > one.matchedCount)
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

@Document
private struct Offer: Identifiable {
  var id: Int
  @Indexed var city: String
  var price: Int

  static let indexes: [Index<Offer>] = [Index(\.city, \.price)]
}
