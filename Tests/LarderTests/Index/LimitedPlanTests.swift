import LarderTesting
import Testing

@testable import Larder

@Document private struct Errand: Equatable {
  var id: Int
  @Indexed var status = "done"
  @Indexed var place = 0
  @Indexed var street = 0
  static let indexes: [Index<Errand>] = [Index(\.street, \.place)]
}

/// What a limit, and lists of values, do to the choice of a plan.
@Suite struct LimitedPlanTests {
  private func withErrands(open: Int, _ body: (Store) throws -> Void) throws {
    try withTemporaryStore { store in
      let count = 4_000
      // Those that match are the newest.
      try store.repository(of: Errand.self).save(
        (0..<count).map {
          Errand(
            id: $0, status: $0 < count - open ? "done" : "open", place: $0 % 200, street: $0 % 40)
        })
      try body(store)
    }
  }

  @Test(
    "the first matches of an indexed value are read by the index, however many there are",
    arguments: [10, 300, 450, 2_500])
  func firstMatches(open: Int) throws {
    try withErrands(open: open) { store in
      let errands = store.repository(of: Errand.self)
      let query = Errand.where { $0.status == "open" }
      for limited in [query.limit(5), query.sorted(by: \.id).limit(5), query.limit(3).offset(2)] {
        let plan = try limited.explain(in: store)
        #expect(
          plan.source == .index(.init(name: "status", fields: ["status"], rangeCount: 1)), "\(plan)"
        )
        #expect(plan.examinedCount == 5, "\(plan)")
      }
      #expect(
        try errands.fetch(query.limit(5)).map(\.id) == Array(4_000 - open..<4_005 - open))
      #expect(try errands.first(query)?.id == 4_000 - open)
      // Each page begins where the one before has ended.
      var cursor: PageCursor?
      var found: [Int] = []
      repeat {
        let page = try errands.page(query.limit(50), after: cursor)
        found += page.models.map(\.id)
        cursor = page.next
      } while cursor != nil
      #expect(found == Array(4_000 - open..<4_000))
    }
  }

  @Test(
    "with a limit, other conditions do not make a scan of what an index finds", arguments: [1, 10])
  func otherConditions(limit: Int) throws {
    try withErrands(open: 10) { store in
      for query in [
        Errand.where { $0.street == 3 && $0.place == 163 },
        Errand.where { $0.street == 3 && $0.status == "open" },
      ] {
        let plan = try query.limit(limit).explain(in: store)
        #expect(plan.source != .scan, "\(plan)")
        #expect(plan.examinedCount <= 100, "\(plan)")
      }
    }
  }

  @Test("keys that are listed are looked up where they are the fewest, and not whatever they are")
  func listedKeys() throws {
    try withErrands(open: 10) { store in
      let errands = store.repository(of: Errand.self)
      let few = Errand.where { $0.id.isIn(stride(from: 0, to: 4_000, by: 400)) && $0.street >= 0 }
      #expect(try few.explain(in: store).source == .keys(count: 10))
      // Fewer than the index finds, and more.
      let some = Array(stride(from: 1, to: 4_000, by: 40))
      let more = Errand.where { $0.id.isIn(some) && $0.status == "open" }
      #expect(try more.explain(in: store).examinedCount <= 10)
      // A limit ends the look-ups, and does not make a scan of them.
      for limit in [1, 20, 40] {
        let alone = Errand.where { $0.id.isIn(some) }
        #expect(try alone.limit(limit).explain(in: store).examinedCount == limit)
        #expect(
          try alone.sorted(by: \.place).limit(limit).explain(in: store).source == .keys(count: 100))
        let asked = Errand.where { $0.id.isIn(some) && $0.status != "lost" }
        #expect(try asked.limit(limit).explain(in: store).examinedCount == limit)
      }
      let fewer = Errand.where { $0.id.isIn(some) && $0.status == "done" }
      #expect(try fewer.explain(in: store).source == .keys(count: 100))
      for count in [900, 1_100, 4_000, 9_000] {
        let many = Array(0..<count).reversed()
        for limit in [Int.max, 5] {
          let query = Errand.where { $0.id.isIn(many) && $0.place == 7 }
          let all = (0..<min(count, 4_000)).filter { $0 % 200 == 7 }
          #expect(try errands.fetch(query.limit(limit)).map(\.id) == Array(all.prefix(limit)))
          #expect(try query.limit(limit).explain(in: store).examinedCount <= 20)
        }
        let alone = try errands.fetch(Errand.where { $0.id.isIn(many) })
        #expect(alone.map(\.id) == Array(0..<min(count, 4_000)))
        let one = Errand.where { $0.id.isIn(many) && $0.id == 4 }
        #expect(try one.explain(in: store).examinedCount == 1)
      }
    }
  }

  @Test("where a scan ends sooner than the index would, there is a scan")
  func manyWanted() throws {
    try withErrands(open: 3_900) { store in
      let plan = try Errand.where { $0.status == "open" }.limit(1_000).explain(in: store)
      #expect(plan.source == .scan)
    }
  }

  @Test("values of one property that stand beside each other cost what a list of them costs")
  func equalities() throws {
    try withErrands(open: 10) { store in
      let errands = store.repository(of: Errand.self)
      let places = [3, 7, 11, 150, 199, 500]
      let list = Errand.where { $0.place.isIn(places) }
      let alternatives = Errand.where {
        $0.place == 3 || $0.place == 7 || $0.place == 11 || $0.place == 150 || $0.place == 199
          || $0.place == 500
      }
      let plan = try alternatives.explain(in: store)
      #expect(plan.source == (try list.explain(in: store).source))
      #expect(plan.source == .index(.init(name: "place", fields: ["place"], rangeCount: 6)))
      #expect(plan.residual == nil)
      #expect(try errands.fetch(alternatives) == errands.fetch(list))
      #expect(try errands.count(alternatives) == 100)
    }
  }

  @Test("two long lists over the fields of one index make no range for every pair")
  func pairs() throws {
    try withErrands(open: 10) { store in
      let (streets, places) = (Array(0..<250), Array(0..<4_000))
      let query = Errand.where { $0.street.isIn(streets) && $0.place.isIn(places) }
      guard case .conjunction(let parts) = query.selection.filter,
        let index = store.engine.catalogue["Errand"]?.indexes.first(where: {
          $0.definition.parts.count == 2
        })
      else {
        Issue.record("there is such an index")
        return
      }
      let access = try #require(IndexAccess(index, parts))
      #expect(access.ranges.count == 250)
      #expect(access.settled.count == 1)
      let errands = store.repository(of: Errand.self)
      #expect(try errands.count(query) == 4_000)
      #expect(try errands.min(\.id, of: query) == 0)
    }
  }
}
