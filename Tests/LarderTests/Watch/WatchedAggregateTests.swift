import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct WatchedAggregateTests {
  private struct Plain: Codable, Identifiable, Sendable, Equatable {
    var id: Int
  }

  /// A watched aggregate without its task: asked for its next step by the test.
  private struct Watched {
    let name: String
    /// Takes a step, and compares what is known then with the aggregate made anew.
    let look: (Store, Comment) throws -> Bool
    let rereadCount: () -> Int

    init<Result: Equatable & Sendable>(
      _ name: String, _ aggregate: Aggregate<Specimen, Result>, _ query: Query<Specimen>,
      in store: Store
    ) {
      self.name = name
      var watch = AggregateWatch(
        store, aggregate, of: query, ModelForm<Specimen, Specimen>.documents, ignoring: [])
      var known: Result?
      rereadCount = { watch.rereadCount }
      look = { store, hint in
        let new = try watch.next(skippingTo: 0)
        if let new {
          #expect(known.map { !$0.isSame(as: new) } ?? true, hint)
          known = new
        }
        let expected = try store.repository(of: Specimen.self).aggregate(aggregate, of: query)
        let isSame = try "\(#require(known))" == "\(expected)"
        if !isSame {
          try #require(
            isSame, "\(name) of \(query): \(String(describing: known)), not \(expected), \(hint)")
        }
        return new != nil
      }
    }
  }

  private func watches(
    _ query: Query<Specimen>, in store: Store
  ) -> [Watched] {
    [
      Watched("count", .count(), query, in: store),
      Watched("sum of integers", .sum(\.small), query, in: store),
      Watched("sum of doubles", .sum(\.ratio), query, in: store),
      Watched("average", .average(\.weight), query, in: store),
      Watched("sum of decimals", .sum(\.cost), query, in: store),
      Watched("counts", .counts(by: \.note), query, in: store),
      Watched("counts by an enum", .counts(by: \.color), query, in: store),
      Watched("sums", .sums(of: \.ratio, by: \.isOpen), query, in: store),
      Watched("distinct", .distinct(\.count), query, in: store),
      Watched("smallest", .min(\.count), query, in: store),
      Watched("largest", .max(\.name), query, in: store),
      Watched("keys", .keys(), query, in: store),
    ]
  }

  @Test("after every step a watched aggregate is what it is when it is made anew")
  func oracle() throws {
    var random = RandomSource()
    let changes = WatchOracleTests()
    var (compared, told, reread) = (0, 0, 0)
    func hasMetAll() -> Bool { told > compared / 20 && reread < compared / 40 }
    while compared < 8_000 || compared < 160_000 && !hasMetAll() {
      try withTemporaryStore { store in
        let pool = (0..<40).map {
          Specimen(id: random.pick(Pool.keys) + "\($0 % 20)", using: &random)
        }
        if random.bool() { try changes.change(store, pool, using: &random) }
        if random.bool() { try changes.declareIndexes(in: store, using: &random) }
        var watched = watches(Specimen.all, in: store)
        for _ in 0..<4 {
          watched += watches(WatchOracleTests.query(pool, using: &random), in: store)
        }
        for _ in 0..<30 {
          try changes.change(store, pool, using: &random)
          for one in watched where !random.once(in: 4) {
            if try one.look(store, "\(one.name), \(random.hint)") { told += 1 }
            compared += 1
          }
        }
        // Of all documents, and of such that can be followed to the end.
        reread += watched[..<4].reduce(0) { $0 + $1.rereadCount() }
      }
    }
    print("watched aggregates: \(compared) compared, \(told) told, \(reread) made anew")
    #expect(hasMetAll(), "\(random.hint)")
  }

  @Test(
    "a count, a sum and groups arrive, and again when they have changed", .timeLimit(.minutes(20)))
  func arrive() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save([
        Contact(id: "1", city: "Oslo", order: 3), Contact(id: "2", city: "Bergen", order: 4),
      ])
      let inOslo = Contact.where { $0.city == "Oslo" }
      var count = contacts.watchCount(inOslo).makeAsyncIterator()
      var sum = contacts.watch(.sum(\.order), of: inOslo).makeAsyncIterator()
      var groups = contacts.watch(.counts(by: \.city)).makeAsyncIterator()
      #expect(try await count.next() == 1)
      #expect(try await sum.next() == 3)
      #expect(try await groups.next()?.map(\.key) == ["Bergen", "Oslo"])

      // Nothing of the count changes, but the sum does.
      try await contacts.save(Contact(id: "1", city: "Oslo", order: 5))
      #expect(try await sum.next() == 5)
      try await contacts.save(Contact(id: "2", city: "Oslo", order: -5))

      #expect(try await count.next() == 2)
      #expect(try await sum.next() == 0)
      #expect(try await groups.next()?.map(\.value) == [2])
    }
  }

  @Test("mapped, plain and in-memory repositories watch what they make of their own models")
  func others() async throws {
    let memory = InMemoryRepository(of: Contact.self)
    var sums = (memory as any Repository<Contact, Contact>)
      .watch(.sum(\.order), of: Contact.all, ignoring: []).makeAsyncIterator()
    #expect(try await sums.next() == 0)
    try await memory.save(Contact(id: "1", city: "Oslo", order: 2))
    #expect(try await sums.next() == 2)

    try await withTemporaryStore { store in
      // What a mapper hides counts for nothing, neither before a change nor after it.
      let samples = store.repository(of: Sample.self)
      let models = store.repository(of: Sample.self, mappedBy: SampleMapper())
      try await samples.save([Sample(id: "a", rank: 2), Sample(id: "b", rank: 9, isHidden: true)])
      var ranks = models.watch(.sum(\.rank), of: Sample.all).makeAsyncIterator()
      var count = models.watchCount().makeAsyncIterator()
      #expect(try await ranks.next() == 2)
      #expect(try await count.next() == 1)
      try await samples.save([Sample(id: "a", rank: 2, isHidden: true), Sample(id: "b", rank: 9)])
      #expect(try await ranks.next() == 9)
      try await samples.save(Sample(id: "a", rank: 3))
      #expect(try await ranks.next() == 12)
      #expect(try await count.next() == 2)

      let plain = store.repository(of: Plain.self)
      var plainCount = plain.watchCount().makeAsyncIterator()
      #expect(try await plainCount.next() == 0)
      try await plain.save([Plain(id: 1), Plain(id: 2)])
      #expect(try await plainCount.next() == 2)
    }
  }

  @Test("decimals that cancel out each other, and not what comes between them, are added anew")
  func cancelledOut() async throws {
    let huge = try #require(Decimal(string: "3e120"))
    try await withTemporaryStore { store in
      let notes = store.repository(of: Specimen.self)
      var random = RandomSource()
      func save(_ id: String, _ cost: Decimal) async throws {
        var specimen = Specimen(id: id, using: &random)
        specimen.cost = cost
        try await notes.save(specimen)
      }
      try await save("b", huge)
      try await save("c", -huge)
      try await save("d", 2)
      var sums = notes.watch(.sum(\.cost)).makeAsyncIterator()
      #expect(try await sums.next() == 2)

      // Swallowed, as it stands before the huge one; what is added alone goes on as it was.
      try await save("a", 1)
      try await save("e", 5)

      #expect(try await sums.next() == 7)
      #expect(try notes.sum(\.cost) == 7)
    }
  }

  @Test("a sum that cannot be held ends the watcher with the error that says so")
  func overflow() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      var sums = contacts.watch(.sum(\.order)).makeAsyncIterator()
      #expect(try await sums.next() == 0)
      try await contacts.save([
        Contact(id: "1", city: "", order: .max), Contact(id: "2", city: "", order: 1),
      ])
      await #expect(throws: StoreError.self) { try await sums.next() }
      #expect(try await sums.next() == nil)
    }
  }
}
