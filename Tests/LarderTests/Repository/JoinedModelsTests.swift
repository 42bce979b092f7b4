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

  @Test("ignored changes of both sides come with the next step for another one, of whichever side")
  func ignoring() async throws {
    try await withRepositories { people, bills in
      let joined = bills.including(\.contactID, from: people)
      var steps = joined.watch(Purchase.all, ignoring: [.sync]).makeAsyncIterator()
      var list = Rows<Included<Purchase, Contact?>>()
      list.apply(try #require(try await steps.next()))
      #expect(list.isEmpty)

      try await people.save(Contact(id: "7", name: "N7", city: ""), as: .sync)
      try await bills.save(Purchase(id: 1, contactID: "7"), as: .sync)
      try await bills.save(Purchase(id: 2, contactID: "x"))
      list.apply(try #require(try await steps.next()))
      #expect(list.map(\.related?.name) == ["N7", nil])

      try await people.save(Contact(id: "7", name: "renamed", city: ""), as: .sync)
      try await bills.save(Purchase(id: 3, contactID: "7"), as: .sync)
      try await people.save(Contact(id: "x", name: "Nx", city: ""))
      list.apply(try #require(try await steps.next()))
      #expect(list.map(\.related?.name) == ["renamed", "Nx", "renamed"])
    }
  }

  /// A watch that ignores what is synced, and the list that its steps have made.
  private struct Ignoring<
    Model: Equatable & Sendable, Other: Sendable, Related: Equatable & Sendable
  > {
    let watch: JoinedWatch<Model, Other, String, Related>
    var list = Rows<Included<Model, Related>>()
    var stepCount = 0

    /// Takes all steps that there are. Where there is one, or has to be, the list is `expected` then.
    mutating func look(
      for expected: [Included<Model, Related>], isIgnored: Bool, isSure: Bool, _ hint: String
    ) throws {
      let before = stepCount
      while true {
        let (step, mayBeMore) = try watch.look()
        if let step {
          list.apply(step)
          stepCount += 1
        } else if !mayBeMore {
          break
        }
      }
      let isStill = stepCount == before
      let isRight = isIgnored ? isStill : isStill && !isSure || list == expected
      if !isRight { try #require(isRight, "\(hint)") }
    }
  }

  @Test("after each step a watch that ignores changes shows what joining everything anew gives")
  func ignoringOracle() async throws {
    var random = RandomSource()
    let hint = random.hint
    var stepCount = 0
    for _ in rounds(repetitions(8), until: { stepCount > repetitions(8) * 30 }) {
      let seed = random.next()
      try await withRepositories { people, bills in
        var random = RandomSource(seed: seed)
        let shownBills = Purchase.all.sorted(by: \.amount).limit(random.pick([3, 100]))
        let (shownPeople, sortedBills) = (
          Contact.all.sorted(by: \.order), Purchase.all.sorted(by: \.amount)
        )
        var buyers = Ignoring(
          watch: JoinedWatch(
            .init(wanted: { [$0.contactID] }, key: { $0.id }, related: { $0[0].first }),
            bills.watch(shownBills, ignoring: [.sync]), people.watch(Contact.all, ignoring: [.sync])
          ))
        var bought = Ignoring(
          watch: JoinedWatch(
            .init(wanted: { [$0.id] }, key: { $0.giftFor }, related: { $0[0] }),
            people.watch(shownPeople, ignoring: [.sync]),
            bills.watch(sortedBills, ignoring: [.sync])))
        for number in 0..<40 {
          // The first one is the look at what is stored.
          let isIgnored = number > 0 && !random.once(in: 3)
          // What one change does another may undo, so that there is no step. A bill that costs less than
          // all others is always seen.
          let isSure = !isIgnored && (number == 0 || random.bool())
          if isSure {
            let (buyer, other) = ("\(random.int(0..<12))", "\(random.int(0..<12))")
            try await bills.save(
              Purchase(id: 100, contactID: buyer, giftFor: other, amount: -1 - number))
          } else {
            let origin: ChangeOrigin = isIgnored ? .sync : .local
            try await Self.change(people, bills, as: origin, using: &random)
          }
          let everybody = try people.fetch(shownPeople)
          let all = try bills.fetch(sortedBills)
          let withBuyers = try bills.fetch(shownBills).map { bill in
            Included(model: bill, related: everybody.first { $0.id == bill.contactID })
          }
          let withGifts = everybody.map { person in
            Included(model: person, related: all.filter { $0.giftFor == person.id })
          }
          try buyers.look(for: withBuyers, isIgnored: isIgnored, isSure: isSure, hint)
          try bought.look(for: withGifts, isIgnored: isIgnored, isSure: isSure, hint)
        }
        stepCount += buyers.stepCount + bought.stepCount
      }
    }
    #expect(stepCount > repetitions(8) * 30, "\(hint)")
  }

  private static func change(
    _ people: any Repository<Contact, Contact>, _ bills: any Repository<Purchase, Purchase>,
    as origin: ChangeOrigin, using random: inout RandomSource
  ) async throws {
    let ids = random.array(1..<4) { $0.int(0..<12) }
    switch random.int(0..<6) {
    case 0: try await people.delete(keys: ids.map { "\($0)" }, as: origin)
    case 1: try await bills.delete(keys: ids, as: origin)
    case 2, 3:
      let page = ids.map { Contact(id: "\($0)", city: "", order: random.int(0..<9)) }
      try await people.save(page, as: origin)
    default:
      let page = ids.map {
        Purchase(
          id: $0, contactID: "\(random.int(0..<12))", giftFor: "\(random.int(0..<12))",
          amount: random.int(0..<9))
      }
      try await bills.save(page, as: origin)
    }
  }

  @Test("sides that can only be waited for are joined, too")
  func waitedFor() async throws {
    func waiting<Element>(_ watch: WatchSequence<Element>) -> WatchSequence<Element> {
      WatchSequence { watch.makeAsyncIterator().step }
    }
    try await withRepositories { people, bills in
      try await people.save(contacts)
      try await bills.save(purchases)
      let joined = JoinedWatch<Purchase, Contact, String, String?>(
        .init(wanted: { [$0.contactID] }, key: { $0.id }, related: { $0[0].first?.name }),
        waiting(bills.watch(Purchase.all)), waiting(people.watch(Contact.all)))
      var list = Rows<Included<Purchase, String?>>()
      list.apply(try #require(try await joined.next()))
      #expect(list.map(\.related) == ["Nb", nil, "N\u{E9}", "Nb"])

      try await people.save(Contact(id: "x", name: "Nx", city: ""))
      list.apply(try #require(try await joined.next()))
      #expect(list.map(\.related) == ["Nb", "Nx", "N\u{E9}", "Nb"])
      try await bills.delete(keys: [1, 3])
      list.apply(try #require(try await joined.next()))
      #expect(list.map(\.related) == ["Nx", "Nb"])
    }
  }

  @Test("a side of which nothing has changed is not read anew, however much was saved to others")
  func otherCollections() throws {
    try withTemporaryStore { store in
      try store.repository(of: Contact.self).save(contacts)
      let selection = Contact.all.selection
      var watch = ResultWatch(store, selection, RowReader<Contact, Contact>(selection))
      var ignoring = ResultWatch(
        store, selection, RowReader<Contact, Contact>(selection), ignoring: [.sync])
      _ = try (watch.next(skippingTo: 0), ignoring.next(skippingTo: 0))

      try store.repository(of: Purchase.self).save(
        (0..<5000).map { Purchase(id: $0, contactID: "a") })

      let unchanged = try (watch.nextWithIgnored(), ignoring.nextWithIgnored())
      #expect(unchanged.0 == nil && unchanged.1 == nil)
      #expect(watch.rereadCount == 0 && ignoring.rereadCount == 0)
      try store.repository(of: Contact.self).save(Contact(id: "new"), as: .sync)
      let nothing = try ignoring.next(skippingTo: 0)
      let ignored = try ignoring.nextWithIgnored()
      #expect(nothing == nil)
      #expect(ignored != nil)
    }
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
    rows.note(others: .initial(Rows(others), sequence: 1))
    let first = rows.owedStep()
    var list = Rows<Included<Contact, Contact?>>()
    list.apply(try #require(first))
    #expect(early == nil)
    #expect(rows.joinedCount == count && list.count == count)

    var changed = others[7]
    changed.name = "new"
    rows.note(others: Self.update(at: 7, changed, sequence: 2))
    let renamed = rows.owedStep()
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
    rows.note(
      others: .update(
        ResultDifference(
          removals: [], insertions: [(2_000, Contact(id: "5000", city: ""), nil)], updates: [],
          sequence: 4)))
    #expect(rows.owedStep() == nil)
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
