import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct JoinedModelsTests {
  private let contacts = ["a", "b", "c", "\u{E9}"].map { Contact(id: $0, name: "N\($0)", city: "") }
  private let purchases = [
    Purchase(id: 1, contactID: "b", giftFor: "a", helperIDs: ["c", "a", "x"], amount: 30),
    Purchase(id: 2, contactID: "x", helperIDs: [], amount: 10),
    Purchase(id: 3, contactID: "e\u{301}", giftFor: "x", helperIDs: ["a", "a"], amount: 20),
    Purchase(id: 4, contactID: "b", amount: 5),
  ]

  /// Both on every kind of repository, and on one of each.
  private func withRepositories(
    _ body: (any Repository<Contact, Contact>, any Repository<Purchase, Purchase>) async throws
      -> Void
  ) async throws {
    try await withTemporaryStore { store in
      try await body(store.repository(of: Contact.self), store.repository(of: Purchase.self))
    }
    try await withTemporaryStore { store in
      try await body(InMemoryRepository(of: Contact.self), store.repository(of: Purchase.self))
    }
    try await body(InMemoryRepository(of: Contact.self), InMemoryRepository(of: Purchase.self))
  }

  @Test("models of any repository come with what they refer to in any other")
  func including() async throws {
    try await withRepositories { people, bills in
      try await people.save(contacts)
      try await bills.save(purchases)
      let query = Purchase.all.sorted(by: \.amount)

      let buyers = try bills.including(\.contactID, from: people).fetch(query)
      let presented = try bills.including(\.giftFor, from: people).fetch(query)
      let helped = try bills.including(\.helperIDs, from: people).fetch(Purchase.all)

      #expect(buyers.map(\.model.id) == [4, 2, 3, 1])
      #expect(buyers.map(\.related?.name) == ["Nb", nil, "N\u{E9}", "Nb"])
      #expect(presented.map(\.related?.id) == [nil, nil, nil, "a"])
      #expect(helped.map { $0.related.map(\.id) } == [["c", "a"], [], ["a", "a"], []])
    }
  }

  @Test("documents of any repository come with what refers to them in any other")
  func collecting() async throws {
    try await withRepositories { people, bills in
      try await people.save(contacts)
      try await bills.save(purchases)

      let bought = try people.collecting(
        Purchase.all.sorted(by: \.amount), from: bills, by: \.contactID
      ).fetch(Contact.all)
      let gifts = try people.collecting(
        Purchase.where { $0.amount > 1 }, from: bills, by: \.giftFor
      ).fetch(Contact.where { $0.id < "c" })

      #expect(bought.map(\.model.id) == ["a", "b", "c", "\u{E9}"])
      #expect(bought.map { $0.related.map(\.id) } == [[], [4, 1], [], [3]])
      #expect(gifts.map { $0.related.map(\.id) } == [[1], []])
    }
  }

  @Test("a mapper's models are joined on both sides")
  func mapped() async throws {
    try await withTemporaryStore { store in
      let people = store.repository(of: Contact.self)
      let bills = store.repository(of: Purchase.self, mappedBy: BillMapper())
      try await people.save(contacts)
      try await store.repository(of: Purchase.self).save(purchases)

      let buyers = try bills.including(\.buyer, from: people).fetch(Purchase.all)
      let bought = try people.collecting(Purchase.all, from: bills, by: \.buyer).fetch(Contact.all)

      #expect(buyers.map(\.related?.name) == ["Nb", "N\u{E9}", "Nb"])
      #expect(bought.map { $0.related.map(\.number) } == [[], [1, 4], [], [3]])
    }
  }

  /// A watch, and the list that its steps have made.
  private final class Watched<Model: Equatable & Sendable, Related: Equatable & Sendable> {
    private var iterator: WatchSequence<ResultChange<Included<Model, Related>>>.AsyncIterator
    private var list = Rows<Included<Model, Related>>()
    private(set) var stepCount = 0

    init(_ watch: WatchSequence<ResultChange<Included<Model, Related>>>) {
      iterator = watch.makeAsyncIterator()
    }

    /// Takes steps until the list is what it has to be.
    func look(for expected: [Included<Model, Related>], _ hint: String) async throws {
      // Of each side one step may have been made before the last save, and one after it.
      for _ in 0..<4 {
        if stepCount > 0, list == expected { return }
        list.apply(try #require(try await iterator.next(), "\(hint)"))
        stepCount += 1
      }
      let isSame = list == expected
      if !isSame { try #require(isSame, "\(hint)") }
    }
  }

  @Test(
    "a watch of joined models comes to what joining everything anew gives, whichever side changes")
  func oracle() async throws {
    var random = RandomSource()
    var stepCount = 0
    func hasSeenEnough() -> Bool { stepCount > repetitions(8) * 60 }
    var round = 0
    while round < repetitions(8) || round < repetitions(160) && !hasSeenEnough() {
      round += 1
      let seed = random.next()
      let hint = random.hint
      try await withRepositories { people, bills in
        var random = RandomSource(seed: seed)
        let shownBills = Purchase.all.sorted(by: \.amount).limit(random.pick([3, 100]))
        let shownPeople = Contact.all.sorted(by: \.order)
        let buyers = Watched(bills.including(\.contactID, from: people).watch(shownBills))
        let bought = Watched(
          people.collecting(Purchase.all.sorted(by: \.amount), from: bills, by: \.giftFor)
            .watch(shownPeople))
        for _ in 0..<30 {
          let ids = (0..<random.int(1..<4)).map { _ in random.int(0..<12) }
          switch random.int(0..<6) {
          case 0: try await people.delete(keys: ids.map { "\($0)" })
          case 1: try await bills.delete(keys: ids)
          case 2, 3:
            let page = ids.map { Contact(id: "\($0)", city: "", order: random.int(0..<9)) }
            try await people.save(page)
          default:
            let page = ids.map {
              Purchase(
                id: $0, contactID: "\(random.int(0..<12))", giftFor: "\(random.int(0..<12))",
                amount: random.int(0..<9))
            }
            try await bills.save(page)
          }
          if random.once(in: 3) { continue }
          let everybody = try people.fetch(shownPeople)
          let all = try bills.fetch(Purchase.all.sorted(by: \.amount))
          try await buyers.look(
            for: bills.fetch(shownBills).map { bill in
              Included(model: bill, related: everybody.first { $0.id == bill.contactID })
            }, hint)
          try await bought.look(
            for: everybody.map { person in
              Included(model: person, related: all.filter { $0.giftFor == person.id })
            }, hint)
        }
        stepCount += buyers.stepCount + bought.stepCount
      }
    }
    print("joined: \(stepCount) steps")
    #expect(hasSeenEnough())
  }

  @Test("a change joins the models that it is of, and no others")
  func cost() throws {
    let count = 20_000
    var rows = JoinedRows<Contact, Contact, Int, Contact?>(
      JoinedRows.Link(
        wanted: { [$0.order] }, key: { Int($0.id) }, related: { $0[0].first }))
    let models = (0..<count).map { Contact(id: "m\($0)", city: "", order: $0 % 2_000) }
    let others = (0..<2_000).map { Contact(id: "\($0)", city: "") }
    let early = rows.take(models: .initial(Rows(models), sequence: 1))
    let first = rows.take(others: .initial(Rows(others), sequence: 1))
    var list = Rows<Included<Contact, Contact?>>()
    list.apply(try #require(first))
    #expect(early == nil)
    #expect(rows.joinedCount == count && list.count == count)

    var changed = others[7]
    changed.name = "new"
    let renamed = rows.take(others: Self.update(at: 7, changed, sequence: 2))
    list.apply(try #require(renamed))
    #expect(rows.joinedCount == count + 10)
    #expect(
      list.indices.filter { list[$0].related?.name == "new" } == (0..<10).map { 7 + 2_000 * $0 })
    var moved = models[9_000]
    moved.order = 7
    let rejoined = rows.take(models: Self.update(at: 9_000, moved, sequence: 3))
    list.apply(try #require(rejoined))
    #expect(rows.joinedCount == count + 11)
    #expect(list[9_000].related == changed)

    // Nobody asks for it.
    let unwanted = rows.take(
      others: .update(
        ResultDifference(
          removals: [], insertions: [(2_000, Contact(id: "5000", city: ""), nil)], updates: [],
          sequence: 4)))
    #expect(unwanted == nil)
    #expect(rows.joinedCount == count + 11)
  }

  private static func update(
    at offset: Int, _ contact: Contact, sequence: UInt64
  ) -> ResultChange<Contact> {
    .update(
      ResultDifference(
        removals: [], insertions: [], updates: [(offset, contact)], sequence: sequence))
  }

  @Test(
    "a watch of joined models ends with its loop, with its task, and with a store that is closed")
  func ending() async throws {
    let store = try Store.temporary()
    let people = store.repository(of: Contact.self)
    let bills = store.repository(of: Purchase.self)
    let joined = bills.including(\.contactID, from: people)
    func isQuiet() -> Bool { store.engine.watchHub.isEmpty }

    for try await _ in joined.watch(Purchase.all) { break }
    while !isQuiet() { await Task.yield() }
    let task = Task { for try await _ in joined.watch(Purchase.all) {} }
    while isQuiet() { await Task.yield() }
    task.cancel()
    try await task.value
    while !isQuiet() { await Task.yield() }
    var iterator = joined.watch(Purchase.all).makeAsyncIterator()
    _ = try await iterator.next()
    try store.close()

    await #expect(throws: StoreError.closed) { try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }
}

/// Bills that cost something.
private struct BillMapper: EntityMapper {
  struct Bill: Equatable {
    var number: Int
    var buyer: String
  }

  func convert(_ entity: Purchase) -> Bill? {
    entity.amount == 10 ? nil : Bill(number: entity.id, buyer: entity.contactID)
  }

  func newEntity(for model: Bill) -> Purchase { Purchase(id: model.number, contactID: model.buyer) }
  func update(_ entity: inout Purchase, by model: Bill) { entity.contactID = model.buyer }
  func entityAccessorKey(_ model: Bill) -> Int { model.number }
}
