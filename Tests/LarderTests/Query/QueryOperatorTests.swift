import Foundation
import LarderTesting
import Testing

@testable import Larder

@Suite struct QueryOperatorTests {
  private let contacts = [
    Contact(id: "a", name: "Astrid", city: "Oslo", order: 3, tags: ["vip", "new"]),
    Contact(id: "b", name: "Bj\u{F8}rn", city: "oslo", order: 1, geo: Geo(lat: 59.9, lon: 10.7)),
    Contact(id: "c", name: "Oslo", city: "Oslo", order: 7, tags: ["old"], note: "calls"),
  ]

  private func keys(of query: Query<Contact>) throws -> [String] {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save(contacts)
      return try repository.fetch(query).map(\.id)
    }
  }

  @Test("text is found in any case by the small letters of both")
  func letters() throws {
    #expect(try keys(of: Contact.where { $0.city.lowercased() == "oslo" }) == ["a", "b", "c"])
    #expect(try keys(of: Contact.where { $0.name.uppercased().contains("BJ\u{D8}") }) == ["b"])
    #expect(try keys(of: Contact.where { $0.note.lowercased().hasPrefix("cal") }) == ["c"])
  }

  @Test("texts and arrays have a count, and are empty or not")
  func counts() throws {
    #expect(try keys(of: Contact.where { $0.tags.isEmpty }) == ["b"])
    #expect(try keys(of: Contact.where { !$0.tags.isEmpty && $0.tags.count < 2 }) == ["c"])
    #expect(try keys(of: Contact.where { $0.name.count == 5 }) == ["b"])
    #expect(try keys(of: Contact.where { $0.note.count > 1 }) == ["c"])
    #expect(try keys(of: Contact.where { $0.note.isEmpty == false }) == ["c"])
    #expect(try keys(of: Contact.all.sorted(by: \.tags.count, .reverse)) == ["a", "c", "b"])
  }

  @Test("fields of one document are compared with each other")
  func relations() throws {
    #expect(try keys(of: Contact.where { $0.name == $0.city }) == ["c"])
    #expect(try keys(of: Contact.where { $0.name < $0.city }) == ["a", "b"])
    #expect(try keys(of: Contact.where { $0.order > $0.tags.count }) == ["a", "b", "c"])
    #expect(try keys(of: Contact.where { $0.note == $0.geo.label }) == ["a", "b"])
  }

  @Test("elements are asked for one by one, several at once, or by a condition")
  func elements() throws {
    #expect(try keys(of: Contact.where { $0.tags.containsAny(of: ["old", "new"]) }) == ["a", "c"])
    #expect(try keys(of: Contact.where { $0.tags.containsAll(of: ["vip", "new"]) }) == ["a"])
    #expect(try keys(of: Contact.where { $0.tags.containsAny(of: []) }) == [])
    #expect(try keys(of: Contact.where { $0.tags.containsAll(of: []) }) == ["a", "b", "c"])
    #expect(try keys(of: Contact.where { $0.tags.contains { $0.hasPrefix("v") } }) == ["a"])
    #expect(try keys(of: Contact.where { $0.tags.allSatisfy { $0 == "old" } }) == ["b", "c"])
    // A `Bool` stands alone.
    #expect(try keys(of: Contact.where { $0.tags.contains { $0.isEmpty } }) == [])
    #expect(try keys(of: Contact.where { !$0.tags.allSatisfy { $0.isEmpty } }) == ["a", "c"])
  }

  @Test("ranges without a lower end are conditions")
  func ranges() throws {
    #expect(try keys(of: Contact.where { $0.order.isIn(...3) }) == ["a", "b"])
    #expect(try keys(of: Contact.where { $0.order.isIn(..<3) }) == ["b"])
    #expect(try keys(of: Contact.where { $0.geo.lat.isIn(...60) }) == ["b"])
    #expect(try keys(of: Contact.where { $0.note.isIn(["calls", nil]) }) == ["a", "b", "c"])
  }

  @Test("nil comes where the order says, in either direction")
  func nils() throws {
    #expect(try keys(of: Contact.all.sorted(by: \.note, nils: .last)) == ["c", "a", "b"])
    #expect(
      try keys(of: Contact.all.sorted(by: \.note, .reverse, nils: .first)) == ["a", "b", "c"])
    #expect(Contact.all.sorted(by: \.note, nils: .first) == Contact.all.sorted(by: \.note))
    #expect(
      Contact.all.sorted(by: \.note, .reverse, nils: .last)
        == Contact.all.sorted(by: \.note, .reverse))
  }

  @Test(
    "an order by a field of an embedded document is one of stored fields, that an index may have")
  func nestedOrder() {
    let path = Contact.all.sorted(by: \.geo.lat).selection.order.map(\.operand)
    let whole = Specimen.all.sorted(by: \.base.place.code).selection.order.map(\.operand)
    let keyPath: any KeyPath<Specimen, Int> & Sendable = \.base.place.code
    let given = Specimen.all.sorted(by: keyPath).selection.order.map(\.operand)

    #expect(path.map(\.description) == ["geo.lat"])
    #expect(whole.map(\.description) == ["base.place.code"])
    #expect(given == whole)
  }

  @Test("an enum is ordered as Swift orders it, by an index on its raw values where these agree")
  func enums() {
    let grade = Specimen.where { $0.grade >= .fair }
    #expect("\(grade)" == #"Specimen where grade in ["a", "z"]"#)
    #expect("\(Specimen.where { $0.rank < .high })" == "Specimen where rank in [-1, 0]")
    #expect("\(Specimen.where { $0.code < .init(rawValue: 1) })".hasSuffix("<computed> == true"))
    #expect("\(Specimen.all.sorted(by: \.rank))".hasSuffix("sorted by rank"))
    #expect("\(Specimen.all.sorted(by: \.grade))".hasSuffix("sorted by <computed>"))
  }

  @Test("the count of a set has equal elements once, whoever wrote them")
  func countOfSet() throws {
    try withTemporaryStore { store in
      let sets = store.repository(of: One<Set<Int>>.self)
      try sets.save(One([5]))
      try store.collection("One").save([["id": "b", "value": [1, 1, 2]]])

      #expect(try sets.fetch(One<Set<Int>>.where { $0.value.count == 2 }).map(\.id) == ["b"])
      #expect(try sets.count(One<Set<Int>>.where { $0.value.count == 3 }) == 0)
    }
  }

  @Test("every new operator is printed")
  func printed() {
    func text(_ condition: (Fields<Specimen>) -> Filter<Specimen>) -> String {
      String("\(Specimen.where(condition))".dropFirst("Specimen where ".count))
    }
    #expect(text { $0.tags.isEmpty == true } == "tags.isEmpty == true")
    #expect(text { $0.note.count > 3 } == "note.count > 3")
    #expect(text { $0.name.lowercased() == "a" } == #"name.lowercased == "a""#)
    #expect(text { $0.made < $0.sold } == "made < sold")
    #expect(text { $0.made != $0.sold } == "made != sold")
    #expect(text { $0.made >= $0.sold } == "sold <= made")
    #expect(text { $0.places.contains { $0.code < 3 } } == "places contains { $0.code < 3 }")
    #expect(
      text { $0.tags.allSatisfy { $0 == "a" } } == #"!(tags contains { $0 != "a" })"#)
    #expect(
      "\(Specimen.all.sorted(by: \.note, nils: .last))"
        == "Specimen where true sorted by note.isNil, note")
  }

  @Test("a query that compares with NaN is equal to itself")
  func notANumber() {
    func query(_ value: Double) -> Query<Specimen> {
      Specimen.where { $0.ratio < value || $0.ratio.isIn([value]) || $0.ratios.contains(value) }
    }
    let date = Date(timeIntervalSinceReferenceDate: .nan)

    #expect(query(.nan) == query(.nan))
    #expect(query(.nan) != query(-.nan))
    #expect(query(.nan) != query(1))
    #expect(Specimen.where { $0.made == date } == Specimen.where { $0.made == date })
    #expect(
      Specimen.where { $0.ratios.contains { $0 < .nan } }
        == Specimen.where { $0.ratios.contains { $0 < .nan } })
  }
}

@Suite struct QueryDepthTests {
  /// `a || (b && (a || (b && ...`, so many levels deep.
  private func nested(_ levels: Int) -> Query<Contact> {
    Contact.where { contact in
      var filter = contact.order == 1
      for level in 0..<levels {
        filter = level % 2 == 0 ? contact.order < 5 && filter : contact.order == 0 || filter
      }
      return filter
    }
  }

  @Test("conditions of a hundred levels are asked; deeper ones are refused before they are")
  func limit() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(Contact(id: "a", order: 1))
      let memory = InMemoryRepository(of: Contact.self)
      try memory.save(Contact(id: "a", order: 1))
      let repositories: [any Repository<Contact, Contact>] = [contacts, memory]
      for repository in repositories {
        #expect(try repository.fetch(nested(99)).count == 1)
        for levels in [100, 5_000] {
          let error = StoreError.queryTooDeep(limit: 100)
          #expect(throws: error) { try repository.fetch(nested(levels)) }
          #expect(throws: error) { try repository.count(nested(levels)) }
          #expect(throws: error) { try repository.delete(nested(levels)) }
          #expect(throws: error) { try repository.fetch(nested(levels).where { $0.order == 1 }) }
          #expect(throws: error) { try repository.save([], clearBeforeSaving: nested(levels)) }
        }
        #expect(try repository.count() == 1)
      }
    }
  }

  @Test("a chain of one operator is one level, however long it is; two negations are none")
  func chains() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(Contact(id: "a", order: 1))
      let all = Contact.where { contact in
        (0..<3_000).reduce(contact.order == 1) { filter, _ in filter && contact.order < 5 }
      }
      let any = Contact.where { contact in
        (0..<3_000).reduce(contact.order == 1) { $0 || contact.order == $1 + 10 }
      }
      let not = Contact.where { contact in
        (0..<3_000).reduce(contact.order == 1) { filter, _ in !filter }
      }

      #expect(try contacts.count(all) == 1)
      #expect(try contacts.count(any) == 1)
      #expect(try contacts.count(not) == 1)
    }
  }

  @Test("conditions on elements count as levels")
  func elements() throws {
    try withTemporaryStore { store in
      let nodes = store.repository(of: Node.self)
      try nodes.save(Node(depth: 5))
      let query = Node.where { node in
        node.children.contains { child in
          (0..<100).reduce(child.label == "") { filter, level in
            level % 2 == 0 ? filter && child.label == "" : filter || child.label == "x"
          }
        }
      }
      #expect(throws: StoreError.queryTooDeep(limit: 100)) { try nodes.count(query) }
      #expect(
        try nodes.count(
          Node.where { $0.children.contains { $0.children.contains { $0.id == "3" } } }) == 1)
    }
  }

  @Test("every condition that is allowed can be stored")
  func stored() throws {
    var node = try #require(nested(98).selection.filter as FilterNode?)
    node = .all([node, .test(.field([FieldStep(Contact.schema.fields[0])]), .equal("a"))])
    let bytes = try #require(node.encoded())

    #expect(try FilterNode(decoding: bytes) == node)
  }
}
