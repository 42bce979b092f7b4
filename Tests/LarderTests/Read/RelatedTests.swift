import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct RelatedTests {
  private let contacts = ["a", "b", "c", "\u{E9}"].map { Contact(id: $0, name: "N\($0)") }
  private let purchases = [
    Purchase(id: 1, contactID: "b", giftFor: "a", helperIDs: ["c", "a", "x"], amount: 30),
    Purchase(id: 2, contactID: "x", helperIDs: [], amount: 10),
    Purchase(id: 3, contactID: "e\u{301}", giftFor: "x", helperIDs: ["a", "a"], amount: 20),
    Purchase(id: 4, contactID: "b", amount: 5),
  ]

  private func withBoth(_ body: (Store) throws -> Void) throws {
    try withTemporaryStore { store in
      try store.repository(of: Contact.self).save(contacts)
      try store.repository(of: Purchase.self).save(purchases)
      try body(store)
    }
  }

  @Test("documents come with the one that they refer to, or with none")
  func toOne() throws {
    try withBoth { store in
      let repository = store.repository(of: Purchase.self)
      let query = Purchase.all.sorted(by: \.amount)
      let buyers = try repository.fetch(query, including: \.contactID, of: Contact.self)
      let presented = try repository.fetch(query, including: \.giftFor, of: Contact.self)

      #expect(buyers.map(\.model.id) == [4, 2, 3, 1])
      #expect(buyers.map(\.related?.name) == ["Nb", nil, "N\u{E9}", "Nb"])
      #expect(presented.map(\.related?.id) == [nil, nil, nil, "a"])
    }
  }

  @Test("documents come with those that they refer to, in the field's order")
  func toMany() throws {
    try withBoth { store in
      let helped = try store.repository(of: Purchase.self).fetch(
        Purchase.all, including: \.helperIDs, of: Contact.self)

      #expect(helped.map { $0.related.map(\.id) } == [["c", "a"], [], ["a", "a"], []])
    }
  }

  @Test("documents whose keys have a type of their own come with those that refer to them")
  func collectingByTypedKeys() throws {
    try withTemporaryStore { store in
      let shelves = store.repository(of: LabelledShelf.self)
      try shelves.save([1, 2, 3].map { LabelledShelf(id: ShelfLabel(rawValue: $0)) })
      try store.repository(of: LabelledJar.self).save([
        LabelledJar(id: 1, shelf: ShelfLabel(rawValue: 2)),
        LabelledJar(id: 2, shelf: ShelfLabel(rawValue: 1), spare: ShelfLabel(rawValue: 3)),
        LabelledJar(id: 3, shelf: ShelfLabel(rawValue: 2), spare: ShelfLabel(rawValue: 9)),
      ])

      let jars = try shelves.fetch(
        LabelledShelf.all, collecting: LabelledJar.all.sorted(by: \.id, .reverse), by: \.shelf)
      let spare = try shelves.fetch(LabelledShelf.all, collecting: LabelledJar.all, by: \.spare)

      #expect(jars.map { $0.related.map(\.id) } == [[2], [3, 1], []])
      #expect(spare.map { $0.related.map(\.id) } == [[], [], [2]])
    }
  }

  @Test("documents come with those that refer to them, in the order that these are asked for in")
  func collecting() throws {
    try withBoth { store in
      let repository = store.repository(of: Contact.self)
      let bought = try repository.fetch(
        Contact.all, collecting: Purchase.all.sorted(by: \.amount), by: \.contactID)
      let gifts = try repository.fetch(
        Contact.where { $0.id < "c" }, collecting: Purchase.where { $0.amount > 1 }, by: \.giftFor)

      #expect(bought.map(\.model.id) == ["a", "b", "c", "\u{E9}"])
      #expect(bought.map { $0.related.map(\.id) } == [[], [4, 1], [], [3]])
      #expect(gifts.map { $0.related.map(\.id) } == [[1], []])
      #expect(
        throws: StoreError.queryNotAllowed(operation: "collecting", reason: "it has a limit")
      ) {
        try repository.fetch(Contact.all, collecting: Purchase.all.limit(1), by: \.contactID)
      }
    }
  }

  @Test("more documents than an index looks for at once are collected all the same")
  func many() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save((0..<450).map { Contact(id: "\($0)") })
      try store.repository(of: Purchase.self).save(
        (0..<900).map { Purchase(id: $0, contactID: "\($0 / 2)") })

      let bought = try contacts.fetch(Contact.all, collecting: Purchase.all, by: \.contactID)

      #expect(bought.count == 450)
      #expect(bought.allSatisfy { $0.related.map(\.contactID) == [$0.model.id, $0.model.id] })
    }
  }

  @Test("documents are got by keys each once; keys that are missing or no keys are left out")
  func documents() throws {
    try withBoth { store in
      let found = try store.repository(of: Contact.self).documents(
        keys: ["c", "a", "x", "", "c", String(repeating: "k", count: 300), "e\u{301}"])

      #expect(Set(found.keys) == ["a", "c", "\u{E9}"])
      #expect(found["\u{E9}"]?.name == "N\u{E9}")
      #expect(try store.repository(of: Node.self).documents(keys: ["a"]).isEmpty)
    }
  }

  @Test("a document is deleted with what refers to it, or not at all")
  func cascade() throws {
    try withBoth { store in
      struct Refused: Error {}
      func delete(_ id: String, fails: Bool) throws {
        try store.write { tx in
          try tx.delete(Purchase.where { $0.contactID == id })
          try tx.delete(Contact.self, id)
          if fails { throw Refused() }
        }
      }
      #expect(throws: Refused.self) { try delete("b", fails: true) }
      #expect(try store.repository(of: Purchase.self).count() == 4)
      try delete("b", fails: false)

      #expect(try store.repository(of: Purchase.self).keys() == [2, 3])
      #expect(try store.repository(of: Contact.self).keys() == ["a", "c", "\u{E9}"])
    }
  }
}

@Suite struct SectionTests {
  private let contacts = [
    Contact(id: "a", name: "1", city: "Oslo", order: 3),
    Contact(id: "b", name: "2", city: "Bergen"),
    Contact(id: "c", name: "3", city: "Oslo", order: 1, note: "x"),
    Contact(id: "d", name: "4", city: "cafe\u{301}"),
    Contact(id: "e", name: "5", city: "caf\u{E9}"),
  ]

  @Test("sections are in the order of the field, their documents in that of the query")
  func sections() throws {
    try withTemporaryStore { store in
      let stored = store.repository(of: Contact.self)
      try stored.save(contacts)
      let memory = InMemoryRepository(of: Contact.self)
      try memory.save(contacts)
      for repository in [stored, memory] as [any Repository<Contact, Contact>] {
        let sections = try repository.sections(by: \.city, of: Contact.all.sorted(by: \.order))
        let reversed = try repository.sections(
          by: \.city, of: Contact.all.sorted(by: \.city, .reverse))
        let notes = try repository.sections(by: \.note)

        #expect(sections.map(\.key) == ["Bergen", "Oslo", "caf\u{E9}"])
        #expect(sections.map { $0.models.map(\.id) } == [["b"], ["c", "a"], ["d", "e"]])
        #expect(reversed.map(\.key) == ["caf\u{E9}", "Oslo", "Bergen"])
        #expect(notes.map(\.key) == [nil, "x"])
        #expect(
          try repository.sections(by: \.city, of: Contact.all.limit(2)).map { $0.models.count }
            == [1, 1])
      }
    }
  }

  @Test("sections hold the documents that the query selects, by its own order, offset and limit")
  func limited() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let stored = store.repository(of: Contact.self)
      let memory = InMemoryRepository(of: Contact.self)
      let contacts = (0..<40).map {
        Contact(
          id: "\(100 + $0)", name: "n", city: random.pick(["Oslo", "Bergen", "Aarhus"]),
          order: random.int(0..<20))
      }
      try stored.save(contacts)
      try memory.save(contacts)
      for _ in 0..<repetitions(60) {
        var query = Contact.all.offset(random.int(0..<5)).limit(random.int(0..<30))
        if random.bool() { query = query.sorted(by: \.order, random.bool() ? .forward : .reverse) }
        for repository in [stored, memory] as [any Repository<Contact, Contact>] {
          let selected = try repository.fetch(query)

          let sections = try repository.sections(by: \.city, of: query)

          let expected = Set(selected.map(\.city)).sorted()
          #expect(sections.map(\.key) == expected, "\(random.hint)")
          #expect(
            sections.map(\.models) == expected.map { city in selected.filter { $0.city == city } },
            "\(random.hint)")
        }
      }
    }
  }

  @Test("numbers that are none are one section")
  func notANumber() throws {
    let repository = InMemoryRepository(of: Contact.self)
    try repository.save([
      Contact(id: "a", balance: .nan), Contact(id: "b", balance: 1),
      Contact(id: "c", balance: .nan),
    ])

    let sections = try repository.sections(by: \.balance)

    #expect(sections.map { $0.models.map(\.id) } == [["b"], ["a", "c"]])
  }
}

private struct ShelfLabel: RawRepresentable, Storable, DocumentKey, Hashable, Comparable {
  var rawValue: Int
  static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
}

@Document
private struct LabelledShelf: Identifiable {
  var id: ShelfLabel
}

@Document
private struct LabelledJar: Identifiable {
  var id: Int
  @Indexed var shelf: ShelfLabel
  var spare: ShelfLabel?
}
