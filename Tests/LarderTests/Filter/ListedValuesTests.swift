import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Conditions with a list of values, which may come from a set: its order is another one each time.
@Suite struct ListedValuesTests {
  let folder = TestFolder()

  private static let cities = ["Oslo", "Bergen", "\u{C5}lesund", "A\u{30A}lesund", "", "\u{0}"]

  @Test("a list makes the same query whatever its order, and however often it has a value")
  func equalQueries() {
    let cities = Self.cities
    let again = Array(cities.reversed()) + cities
    let notes: [String?] = ["b", nil, "a"]
    let notesAgain: [String?] = [nil, "a", "b", nil, "a"]
    let pairs: [(Query<Contact>, Query<Contact>)] = [
      (Contact.where { $0.city.isIn(cities) }, Contact.where { $0.city.isIn(again) }),
      (
        Contact.where { $0.order.isIn([3, -1, 500]) },
        Contact.where { $0.order.isIn([500, 3, -1]) }
      ),
      (
        Contact.where { $0.balance.isIn([0.5, -.infinity, -2]) },
        Contact.where { $0.balance.isIn([-2, 0.5, -.infinity, 0.5]) }
      ),
      (Contact.where { $0.note.isIn(notes) }, Contact.where { $0.note.isIn(notesAgain) }),
      (
        Contact.where { $0.tags.containsAny(of: cities) },
        Contact.where { $0.tags.containsAny(of: again) }
      ),
      (
        Contact.where { $0.tags.containsAll(of: cities) },
        Contact.where { $0.tags.containsAll(of: again) }
      ),
      (
        Contact.matching(#Predicate { cities.contains($0.city) }),
        Contact.matching(#Predicate { again.contains($0.city) })
      ),
    ]
    for (one, other) in pairs {
      #expect(one == other)
      #expect("\(one)" == "\(other)")
      #expect(one.selection.fingerprint("Contact") == other.selection.fingerprint("Contact"))
    }
  }

  @Test("values of any kind are listed in an order that depends on them alone, equal ones once")
  func order() {
    var random = RandomSource()
    let values: [Value] =
      Self.cities.map(Value.string)
      + [0, -0.0, 1.5, .infinity, .nan, -1e300].map(Value.double)
      + [0, 1, -1, .max, .min].map(Value.integer)
      + [.unsigned(.max), .bool(true), .bool(false), .null, .data(Data([0, 1]))]
      + ["1", "1.5", "-7e20"].map { .decimal(Decimal(string: $0) ?? 0) }
      + [0, -1, 1e9].map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
      + Pool.ids.map(Value.uuid)
      + (0..<200).map { _ in .integer(random.integer()) }
    let ordered = values.inOwnOrder
    for _ in 0..<20 {
      let again = (values + values).shuffled(using: &random).inOwnOrder

      #expect(again.count == ordered.count, "\(random.hint)")
      for (one, other) in zip(ordered, again) {
        #expect(one.isIdentical(to: other) && "\(one)" == "\(other)", "\(random.hint)")
      }
    }
    for value in values where value.isEqual(to: value) {
      let equals = ordered.filter { $0.isEqual(to: value) }
      // An integer and a double that are equal are two values.
      #expect(equals.count == 1 || value == .integer(0) || value == .double(0), "\(value)")
    }
  }

  @Test("a cursor is taken by a query whose list has another order")
  func cursor() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(
        (0..<6).map { Contact(id: "\($0)", name: "n\($0)", city: Self.cities[$0 % 2]) })
      func query(_ cities: [String]) -> Query<Contact> {
        Contact.where { $0.city.isIn(cities) }.sorted(by: \.name).limit(4)
      }
      let first = try contacts.page(query(["Oslo", "Bergen"]))
      let second = try contacts.page(query(["Bergen", "Oslo"]), after: first.next)

      #expect(first.models.map(\.id) == ["0", "1", "2", "3"])
      #expect(second.models.map(\.id) == ["4", "5"])
    }
  }

  // MARK: Partial indexes

  private typealias Condition = @Sendable (Fields<Contact>, [String]) -> Filter<Contact>

  private static let conditions: [Condition] = [
    { $0.city.isIn($1) },
    { $0.tags.containsAny(of: $1) },
    { $0.name == "n" && $0.tags.containsAll(of: $1) },
    { field, cities in !field.tags.contains { $0.isIn(cities) } },
  ]

  private static func index(
    _ condition: @escaping Condition, _ cities: [String], name: String? = nil
  ) -> IndexDeclaration {
    Index<Contact>(\.order, name: name, where: { condition($0, cities) }).definition
  }

  private static let contacts = (0..<1_000).map {
    Contact(
      id: "\($0)", name: "n", city: cities[$0 % 4], order: $0,
      tags: $0 % 3 == 0 ? [] : $0 % 3 == 1 ? ["Oslo", "Bergen"] : ["Bergen", "x"])
  }

  private func numbers(_ store: Store) throws -> [UInt32] {
    try store.read { $0.catalogue["Contact"]?.indexes.map(\.number) ?? [] }
  }

  private func expectUsed(_ condition: @escaping Condition, _ store: Store) throws {
    for cities in [["Oslo", "Bergen"], ["Bergen", "Oslo", "Bergen"]] {
      let query = Contact.where { condition($0, cities) && $0.order.isIn(7...9) }
      let plan = try query.explain(in: store)
      guard case .index = plan.source else {
        Issue.record("\(plan)")
        continue
      }
      let found = try store.repository(of: Contact.self).fetch(query)
      let memory = InMemoryRepository(of: Contact.self)
      try memory.save(Self.contacts)
      #expect(try found == memory.fetch(query))
    }
  }

  @Test("a partial index stays the same one when its list comes in another order", arguments: 0..<4)
  func partialIndex(number: Int) throws {
    let condition = Self.conditions[number]
    for name in [nil, "some"] {
      try withTemporaryStore { store in
        try store.repository(of: Contact.self).save(Self.contacts)
        try store.declare(
          Contact.self, indexes: [Self.index(condition, ["Oslo", "Bergen"], name: name)])
        let before = try numbers(store)
        try store.declare(
          Contact.self, indexes: [Self.index(condition, ["Bergen", "Oslo", "Oslo"], name: name)])

        #expect(try numbers(store) == before)
        #expect(before.count == 1)
        try expectUsed(condition, store)
      }
    }
  }

  @Test(
    "an index whose list was stored in another order is the one that is declared", arguments: 0..<4)
  func storedIndex(number: Int) throws {
    let condition = Self.conditions[number]
    let declared = Self.index(condition, ["Oslo", "Bergen"], name: "some")
    let store = try Store(at: folder.store)
    try store.repository(of: Contact.self).save(Self.contacts)
    try store.declare(Contact.self, indexes: [declared])
    let before = try numbers(store)
    try storeReversed(store)
    try store.close()

    let again = try Store(at: folder.store)
    try again.declare(Contact.self, indexes: [declared])

    #expect(try numbers(again) == before)
    try expectUsed(condition, again)
    try verifyAndClose(again)
  }

  /// Stores the condition of each index as it was when lists had the order in which they came, and as if it had
  /// taken the place of the one that is declared.
  private func storeReversed(_ store: Store) throws {
    let records = try #require(
      try store.engine.environment.database(named: Layout.indexesName, create: false))
    try store.write { tx in
      for index in try #require(tx.catalogue["Contact"]).indexes {
        let known = index.definition
        let filter = try #require(index.filter?.reversed.encoded())
        #expect(filter != known.filter)
        let definition = IndexDefinition(
          collection: known.collection, name: known.name, parts: known.parts,
          isUnique: known.isUnique, filter: filter, unicode: known.unicode)
        let record = IndexRecord(definition, .complete, superseded: [known.fingerprint])
        try record.encoded(number: index.number).withUnsafeBytes { record in
          try withUnsafeBytes(of: index.number.bigEndian) { key in
            try tx.transaction.put(record, for: key, in: records)
          }
        }
      }
      tx.hasWrittenMore = true
    }
  }
}

extension FilterNode {
  /// With its lists the other way round.
  fileprivate var reversed: FilterNode {
    switch self {
    case .conjunction(let parts): .conjunction(Self.reversed(parts))
    case .disjunction(let parts): .disjunction(Self.reversed(parts))
    case .not(let part): .not(part.reversed)
    case .test(let operand, .isAny(let values)): .test(operand, .isAny(values.reversed()))
    case .test(let operand, .containsMatch(let part)):
      .test(operand, .containsMatch(part.reversed))
    default: self
    }
  }

  /// The elements that are asked for come last.
  private static func reversed(_ parts: [FilterNode]) -> [FilterNode] {
    let others = parts.filter { part in
      if case .test(_, .containsElement) = part { false } else { true }
    }
    return others.map(\.reversed) + parts[others.count...].reversed()
  }
}
