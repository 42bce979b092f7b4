import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// `watch(sections:by:)` against `sections(by:of:)`, which sorts and cuts the whole.
@Suite(.timeLimit(.minutes(20))) struct WatchedSectionsTests {
  /// A watch of sections, and what it has given last.
  private final class Watched<Key: Comparable & Comparand> {
    let expected: () throws -> [ModelSection<Key?, Contact>]
    var iterator: WatchSequence<Rows<RowSection<Key?, Contact>>>.AsyncIterator
    var last: [ModelSection<Key?, Contact>]?
    var steps = 0

    init(
      _ sections: WatchSequence<Rows<RowSection<Key?, Contact>>>,
      _ expected: @escaping () throws -> [ModelSection<Key?, Contact>]
    ) {
      iterator = sections.makeAsyncIterator()
      self.expected = expected
    }

    /// Takes the next element where there must be one, and compares.
    func look(_ hint: String) async throws {
      let expected = try expected()
      if expected == last { return }
      let found = try #require(try await iterator.next())
      let sections = found.map { ModelSection(key: $0.key, models: Array($0.rows)) }
      if sections != expected { try #require(sections == expected, "\(hint)") }
      last = expected
      steps += 1
    }
  }

  @Test("each element is what a fetch of the sections gives, on every repository, for every query")
  func oracle() async throws {
    var random = RandomSource()
    var steps = 0
    let wanted = repetitions(25) * 40
    for _ in rounds(repetitions(25), until: { steps > wanted }) {
      try await withTemporaryStore { store in
        let repositories: [any Repository<Contact, Contact>] = [
          store.repository(of: Contact.self), InMemoryRepository(of: Contact.self),
        ]
        let queries = (0..<4).map { _ in Self.query(using: &random) }
        var watches: [Watched<String>] = []
        for repository in repositories {
          for query in queries { watches.append(Self.watched(repository, query)) }
        }
        for watched in watches { try await watched.look("\(random.hint)") }
        for _ in 0..<25 {
          let page = (0..<random.pick([1, 1, 2, 10])).map { _ in Self.contact(using: &random) }
          let isDeletion = random.once(in: 3)
          for repository in repositories {
            if isDeletion {
              try await repository.delete(keys: page.map(\.id))
            } else {
              try await repository.save(page)
            }
          }
          for watched in watches where !random.once(in: 4) {
            try await watched.look("\(random.hint)")
          }
        }
        for watched in watches { try await watched.look("\(random.hint)") }
        steps += watches.reduce(0) { $0 + $1.steps }
      }
    }
    #expect(steps > wanted, "\(random.hint)")
  }

  private static func watched(
    _ repository: some Repository<Contact, Contact>, _ query: Query<Contact>
  ) -> Watched<String> {
    Watched(repository.watch(sections: query, by: \.note)) {
      try repository.sections(by: \.note, of: query)
    }
  }

  private static func query(using random: inout RandomSource) -> Query<Contact> {
    var query = Contact.all
    if random.bool() {
      let bound = random.int(1..<8)
      query = query.where { $0.order < bound }
    }
    switch random.int(0..<5) {
    case 0: query = query.sorted(by: \.note)
    case 1: query = query.sorted(by: \.note, .reverse)
    case 2: query = query.sorted(by: \.note, .forward, nils: .last)
    case 3: query = query.sorted(by: \.order, .reverse)
    default: break
    }
    if random.bool() { query = query.sorted(by: \.city) }
    if random.once(in: 3) { query = query.offset(random.int(0..<6)) }
    if random.once(in: 3) { query = query.limit(random.int(0..<15)) }
    return query
  }

  private static func contact(using random: inout RandomSource) -> Contact {
    Contact(
      id: "\(random.int(0..<40))", city: random.pick(["Oslo", "Bergen", "\u{C5}lesund"]),
      order: random.int(0..<8),
      // Two that are equal, and not the same bytes.
      note: random.pick([nil, "", "a", "B", "\u{E9}", "e\u{301}", "z"]))
  }

  @Test(
    "a field that is never nil, and models of a mapper split by what they say, make sections too")
  func otherKinds() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let names = store.repository(of: Contact.self, mappedBy: CityMapper())
      try await contacts.save([
        Contact(id: "1", city: "Oslo"), Contact(id: "2", city: "Bergen"),
        Contact(id: "3", city: "Oslo"),
      ])
      var cities = contacts.watch(sections: Contact.all, by: \.city).makeAsyncIterator()
      var split = names.watch(sections: Contact.all.sorted(by: \.city), splitBy: { $0.city.first })
        .makeAsyncIterator()
      #expect(try await cities.next()?.map { $0.rows.map(\.id) } == [["2"], ["1", "3"]])
      #expect(try await split.next()?.map(\.key) == ["B", "O"])

      try await contacts.save(Contact(id: "0", city: "Odda"))

      #expect(try await cities.next()?.map(\.id) == ["Bergen", "Odda", "Oslo"])
      #expect(
        try await split.next()?.map { $0.rows.map(\.city) } == [
          ["Bergen"], ["Odda", "Oslo", "Oslo"],
        ])
    }
  }

  @Test("sections of a query that is sorted by their field come as its rows do, wherever nil is")
  func asFetched() async throws {
    let notes: [String?] = ["b", nil, "a", "c", "a", nil]
    let contacts = notes.enumerated().map { Contact(id: "\($0)", city: "", note: $1) }
    let cases: [(SortOrder, NilPlacement, [String?])] = [
      (.forward, .first, [nil, "a", "b", "c"]), (.forward, .last, ["a", "b", "c", nil]),
      (.reverse, .first, [nil, "c", "b", "a"]), (.reverse, .last, ["c", "b", "a", nil]),
    ]
    try await withTemporaryStore { store in
      let repositories: [any Repository<Contact, Contact>] = [
        store.repository(of: Contact.self), InMemoryRepository(of: Contact.self),
      ]
      for repository in repositories {
        for (direction, nils, keys) in cases {
          let sorted = Contact.all.sorted(by: \.note, direction, nils: nils)
          for query in [sorted, sorted.sorted(by: \.id, .reverse).limit(100)] {
            try await repository.eraseAllData()
            try await repository.save(Array(contacts.prefix(3)))
            var watch = repository.watch(sections: query, by: \.note).makeAsyncIterator()
            _ = try await watch.next()

            try await repository.save(contacts)
            let watched = try #require(try await watch.next())
            let fetched = try repository.sections(by: \.note, of: query)
            let rows = watched.flatMap { Array($0.rows) }
            let expected = try repository.fetch(query)

            #expect(fetched.map(\.key) == keys, "\(query)")
            #expect(fetched.flatMap(\.models) == expected, "\(query)")
            #expect(watched.map(\.key) == keys, "\(query)")
            #expect(rows == expected, "\(query)")
          }
        }
      }
    }
  }

  @Test("changes of ignored origins make no element, and come with the next one")
  func ignored() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      var cities = contacts.watch(sections: Contact.all, by: \.city, ignoring: [.sync])
        .makeAsyncIterator()
      #expect(try await cities.next()?.isEmpty == true)

      try await contacts.save(Contact(id: "1", city: "Oslo"), as: .sync)
      try await contacts.save(Contact(id: "2", city: "Bergen"))

      #expect(try await cities.next()?.map(\.key) == ["Bergen", "Oslo"])
    }
  }
}

/// A city's name, for which there is no entity without one.
private struct CityMapper: EntityMapper {
  struct City: Equatable {
    var id: String
    var city: String
  }

  func convert(_ entity: Contact) -> City? {
    entity.city.isEmpty ? nil : City(id: entity.id, city: entity.city)
  }

  func update(_ entity: inout Contact, by model: City) { entity.city = model.city }
  func newEntity(for model: City) -> Contact { Contact(id: model.id, city: model.city) }
  func entityAccessorKey(_ model: City) -> String { model.id }
}
