import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Sections, pages and related documents of queries with orders, offsets and limits.
@Suite struct SelectionOracleTests {
  @Test("sections, pages and related documents hold what Swift makes of the documents of a query")
  func oracle() throws {
    var random = RandomSource()
    var tally = Tally()
    for round in rounds(repetitions(4), until: { tally.hasMetAll }) {
      try withTemporaryStore { store in
        // More than are collected at once, now and then.
        let count = round == 1 ? 230 : random.int(30..<80)
        let contacts = (0..<count).map { Contact(number: $0, using: &random) }
        let purchases = (0..<random.int(50..<300)).map {
          Purchase(number: $0, contacts: contacts.count, using: &random)
        }
        let people = store.repository(of: Contact.self)
        let bills = store.repository(of: Purchase.self)
        try people.save(contacts.shuffled(using: &random))
        try bills.save(purchases.shuffled(using: &random))
        // With and without an index that has the orders and the conditions.
        if round.isMultiple(of: 2) {
          try store.collection("Contact").createIndex(on: "city", "order")
          try store.collection("Contact").createIndex(on: "order")
          try store.collection("Purchase").createIndex(on: "giftFor", "amount")
          try store.collection("Purchase").createIndex(on: "amount")
        }
        let memory = InMemoryRepository(of: Contact.self)
        let memoryBills = InMemoryRepository(of: Purchase.self)
        try memory.save(contacts)
        try memoryBills.save(purchases)
        let sorted = contacts.sorted { $0.id < $1.id }
        for _ in 0..<30 {
          try askSections(sorted, [people, memory], store, &tally, using: &random)
          try askPages(sorted, [people, memory], &tally, using: &random)
          try askRelated(sorted, purchases, people, bills, memoryBills, &tally, using: &random)
        }
      }
    }
    print("selections: \(tally)")
    #expect(tally.hasMetAll, "\(random.hint)")
  }

  private struct Tally {
    var asked = 0
    var sections = 0
    var pages = 0
    var related = 0
    var byIndex = 0

    var hasMetAll: Bool {
      sections > asked / 2 && pages > asked * 2 && related > asked && byIndex > asked / 2
    }
  }

  /// A query, what it selects without offset and limit, and these two.
  private struct Question {
    var query = Contact.all
    var untyped = DynamicQuery()
    var answer: [Contact]
    var skipped = 0
    var maximum = Int.max

    init(about contacts: [Contact], using random: inout RandomSource) {
      answer = contacts
      if random.bool() {
        let order = random.int(0..<6)
        query = query.where { $0.order <= order }
        untyped = DynamicQuery(
          where: .test(FieldPath(field: "order"), .lessOrEqual(.integer(Int64(order)))))
        answer.removeAll { $0.order > order }
      }
      let isReversed = random.bool()
      let direction: SortOrder = isReversed ? .reverse : .forward
      switch random.int(0..<4) {
      case 0:
        query = query.sorted(by: \.city, direction).sorted(by: \.order)
        untyped = untyped.sorted(by: "city", isReversed: isReversed).sorted(by: "order")
        sort {
          isReversed
            ? ($1.city, $0.order) < ($0.city, $1.order) : ($0.city, $0.order) < ($1.city, $1.order)
        }
      case 1:
        query = query.sorted(by: \.order, direction)
        untyped = untyped.sorted(by: "order", isReversed: isReversed)
        sort { isReversed ? $0.order > $1.order : $0.order < $1.order }
      case 2:
        query = query.sorted(by: \.note, direction)
        untyped = untyped.sorted(by: "note", isReversed: isReversed)
        sort { isReversed ? Self.nilFirst($1.note, $0.note) : Self.nilFirst($0.note, $1.note) }
      default: break
      }
    }

    private static func nilFirst(_ left: String?, _ right: String?) -> Bool {
      guard let right else { return false }
      return left.map { $0 < right } ?? true
    }

    /// Stable, which Swift's sort does not promise.
    private mutating func sort(_ precedes: (Contact, Contact) -> Bool) {
      answer = answer.enumerated().sorted { left, right in
        if precedes(left.element, right.element) { return true }
        return !precedes(right.element, left.element) && left.offset < right.offset
      }.map(\.element)
    }

    /// The same with an offset and a limit.
    mutating func cut(using random: inout RandomSource) {
      if random.bool() {
        skipped = random.int(0..<12)
        query = query.offset(skipped)
        untyped = untyped.offset(skipped)
      }
      if random.bool() {
        maximum = random.int(0..<40)
        query = query.limit(maximum)
        untyped = untyped.limit(maximum)
      }
      answer = Array(answer.dropFirst(skipped).prefix(maximum))
    }
  }

  private func askSections(
    _ contacts: [Contact], _ repositories: [any Repository<Contact, Contact>], _ store: Store,
    _ tally: inout Tally, using random: inout RandomSource
  ) throws {
    var question = Question(about: contacts, using: &random)
    question.cut(using: &random)
    let hint = "\(question.query), \(random.hint)"
    tally.asked += 1
    let untyped = try store.collection("Contact").fetch(question.untyped)
    #expect(untyped.map { $0["id"] } == question.answer.map { .string($0.id) }, "\(hint)")
    try expectEveryPlan(question, store, &tally, hint)
    for repository in repositories {
      #expect(try repository.fetch(question.query) == question.answer, "\(hint)")
      let byNote = try repository.sections(by: \.note, of: question.query)
      let notes = Dictionary(grouping: question.answer, by: \.note)
      // Where the query is sorted by the field, its direction holds.
      #expect(byNote.count == notes.count, "\(hint)")
      for section in byNote { #expect(section.models == notes[section.key], "\(hint)") }
      let byCity = try repository.sections(by: \.city, of: question.query)
      let cities = Dictionary(grouping: question.answer, by: \.city)
      #expect(byCity.count == cities.count, "\(hint)")
      for section in byCity { #expect(section.models == cities[section.key], "\(hint)") }
      #expect(
        byCity.map(\.key) == cities.keys.sorted() || byCity.map(\.key) == cities.keys.sorted(by: >),
        "\(hint)")
      tally.sections += byCity.count
    }
  }

  /// With a type and without.
  private func expectEveryPlan(
    _ question: Question, _ store: Store, _ tally: inout Tally, _ hint: String
  ) throws {
    let keys = question.answer.map { Array($0.id.utf8) }
    try store.read { snapshot in
      let binding = try #require(try snapshot.catalogue.binding(of: Contact.self))
      let untyped = try question.untyped.lowered(in: binding.collection)
      for selection in [question.query.selection, untyped] {
        for answer in try snapshot.everyAnswer(to: selection, binding) {
          let selected = answer.keys.dropFirst(question.skipped).prefix(question.maximum)
          #expect(Array(selected) == keys, "\(answer.plan), \(hint)")
          if !answer.plan.isScan { tally.byIndex += 1 }
        }
      }
    }
  }

  private func askPages(
    _ contacts: [Contact], _ repositories: [any Repository<Contact, Contact>],
    _ tally: inout Tally, using random: inout RandomSource
  ) throws {
    let question = Question(about: contacts, using: &random)
    let count = random.int(1..<20)
    let hint = "\(question.query) \(count), \(random.hint)"
    for repository in repositories {
      var found: [Contact] = []
      var cursor: PageCursor?
      repeat {
        let page = try repository.page(question.query.limit(count), after: cursor)
        #expect(page.models.count == count || page.next == nil, "\(hint)")
        found += page.models
        cursor = page.next
        tally.pages += 1
      } while cursor != nil && found.count <= contacts.count
      #expect(found == question.answer, "\(hint)")
    }
  }

  private func askRelated(
    _ contacts: [Contact], _ purchases: [Purchase], _ people: StoreRepository<Contact>,
    _ bills: StoreRepository<Purchase>, _ memory: InMemoryRepository<Purchase, Purchase>,
    _ tally: inout Tally, using random: inout RandomSource
  ) throws {
    let byID = Dictionary(uniqueKeysWithValues: contacts.map { ($0.id, $0) })
    let amount = random.int(0..<50)
    let skipped = random.int(0..<5)
    let limit = random.int(0..<60)
    let query = Purchase.where { $0.amount >= amount }.sorted(by: \.amount, .reverse)
      .offset(skipped).limit(limit)
    let hint = "\(query), \(random.hint)"
    let chosen = Array(
      purchases.filter { $0.amount >= amount }
        .sorted { ($1.amount, $0.id) < ($0.amount, $1.id) }.dropFirst(skipped).prefix(limit))
    #expect(try memory.fetch(query) == chosen, "\(hint)")
    let buyers = try bills.fetch(query, including: \.contactID, of: Contact.self)
    #expect(buyers.map(\.model) == chosen, "\(hint)")
    #expect(buyers.map(\.related) == chosen.map { byID[$0.contactID] }, "\(hint)")
    let gifts = try bills.fetch(query, including: \.giftFor, of: Contact.self)
    #expect(gifts.map(\.model) == chosen, "\(hint)")
    #expect(gifts.map(\.related) == chosen.map { $0.giftFor.flatMap { byID[$0] } }, "\(hint)")
    let helpers = try bills.fetch(query, including: \.helperIDs, of: Contact.self)
    #expect(
      helpers.map(\.related) == chosen.map { $0.helperIDs.compactMap { byID[$0] } }, "\(hint)")

    var question = Question(about: contacts, using: &random)
    question.cut(using: &random)
    let others = Purchase.where { $0.amount >= amount }.sorted(by: \.amount)
    let wanted = purchases.filter { $0.amount >= amount }
      .sorted { ($0.amount, $0.id) < ($1.amount, $1.id) }
    let bought = try people.fetch(question.query, collecting: others, by: \.contactID)
    #expect(bought.map(\.model) == question.answer, "\(hint)")
    #expect(
      bought.map(\.related)
        == question.answer.map { contact in wanted.filter { $0.contactID == contact.id } },
      "\(hint)")
    let presented = try people.fetch(question.query, collecting: others, by: \.giftFor)
    #expect(
      presented.map(\.related)
        == question.answer.map { contact in wanted.filter { $0.giftFor == contact.id } },
      "\(hint)")
    tally.related += buyers.count + bought.count
  }
}

extension Contact {
  fileprivate init(number: Int, using random: inout RandomSource) {
    self.init(
      id: "\(100 + number)", name: "n", city: random.pick(["Oslo", "Bergen", "Aarhus", "\u{C5}l"]),
      order: random.int(0..<6), note: random.bool() ? random.pick(["", "x", "y"]) : nil)
  }
}

extension Purchase {
  /// Now and then it refers to nobody.
  fileprivate init(number: Int, contacts: Int, using random: inout RandomSource) {
    func someone(_ random: inout RandomSource) -> String {
      "\(100 + random.int(0..<contacts + 4))"
    }
    self.init(
      id: number, contactID: someone(&random), giftFor: random.bool() ? someone(&random) : nil,
      helperIDs: random.array(0..<4, someone), amount: random.int(0..<60))
  }
}
