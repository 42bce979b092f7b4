import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Document struct PagedDay: Equatable {
  var id: Int
  var date: Date
  var double: Int { 2 * id }
}

@Suite struct PageTests {
  private let contacts = (0..<10).map {
    Contact(id: "\($0)", name: "n\($0 % 3)", city: $0 % 2 == 0 ? "Oslo" : "Bergen", order: 9 - $0)
  }

  private func withContacts<Result>(
    _ body: (StoreRepository<Contact>) throws -> Result
  ) throws -> Result {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save(contacts)
      return try body(repository)
    }
  }

  @Test("a page has as many models as the limit, and says where the next begins if there is one")
  func sizes() throws {
    try withContacts { repository in
      let query = Contact.all.sorted(by: \.name)
      let first = try repository.page(query.limit(4))
      let second = try repository.page(query.limit(4), after: first.next)
      let third = try repository.page(query.limit(4), after: second.next)

      #expect(first.models.map(\.id) == ["0", "3", "6", "9"])
      #expect(second.models.map(\.id) == ["1", "4", "7", "2"])
      #expect(third.models.map(\.id) == ["5", "8"])
      #expect(third.next == nil)
      #expect(try repository.page(query.limit(10)).next == nil)
      #expect(try repository.page(query).models.count == 10)
      #expect(try repository.page(query.limit(0)) == Page(models: [], next: nil))
      #expect(try repository.page(query.limit(7), after: first.next).models.count == 6)
    }
  }

  @Test("each document comes once, also where a text's normal form has another normal form")
  func unsteadyForms() throws {
    // U+0F73 is taken apart, and its parts change places with a mark in front of it only the second time.
    let parts = ["\u{F73}", "\u{345}", "\u{F71}", "\u{F72}", "\u{F75}", "\u{F81}", "a", "\u{301}"]
    var random = RandomSource()
    for _ in 0..<repetitions(100) {
      let contacts = (0..<6).map {
        Contact(
          id: "\($0)", name: random.array(1..<5) { $0.pick(parts) }.joined(), city: "Oslo", order: 0
        )
      }
      try withTemporaryStore { store in
        let stored = store.repository(of: Contact.self)
        let memory = InMemoryRepository(of: Contact.self)
        try stored.save(contacts)
        try memory.save(contacts)
        let query = Contact.all.sorted(by: \.name)
        let sorted = try stored.fetch(query).map(\.id)
        #expect(try memory.fetch(query).map(\.id) == sorted, "\(random.hint)")
        var paged: [[String]] = [[], []]
        for (number, repository) in ([stored, memory] as [any Repository<Contact, Contact>])
          .enumerated()
        {
          var cursor: PageCursor?
          repeat {
            let page = try repository.page(query.limit(1), after: cursor)
            paged[number] += page.models.map(\.id)
            cursor = page.next
          } while cursor != nil && paged[number].count < 10
        }
        #expect(paged == [sorted, sorted], "\(random.hint)")
      }
    }
  }

  @Test("an offset holds for the first page only")
  func offset() throws {
    try withContacts { repository in
      let query = Contact.all.offset(2).limit(3)
      let first = try repository.page(query)
      let second = try repository.page(query, after: first.next)

      #expect(first.models.map(\.id) == ["2", "3", "4"])
      #expect(second.models.map(\.id) == ["5", "6", "7"])
    }
  }

  @Test("a cursor of another query is refused, and so is one in what takes the whole match")
  func refused() throws {
    try withContacts { repository in
      let query = Contact.where { $0.order < 100 }.sorted(by: \.name).limit(2)
      let cursor = try #require(try repository.page(query).next)
      let error = StoreError.cursorRefused(
        collection: "Contact", reason: "it belongs to a query with another filter or order")

      for other in [
        Contact.all.sorted(by: \.name), Contact.where { $0.order < 101 }.sorted(by: \.name),
        Contact.where { $0.order < 100 }, Contact.where { $0.order < 100 }.sorted(by: \.city),
        Contact.where { $0.order < 100 }.sorted(by: \.name, .reverse),
      ] {
        #expect(throws: error) { try repository.page(other.limit(2), after: cursor) }
        #expect(throws: error) { try other.after(cursor) }
      }
      let rest = try query.after(cursor)
      #expect(
        throws: StoreError.queryNotAllowed(
          operation: "delete", reason: "it begins behind a cursor")
      ) { try repository.delete(rest) }
      #expect(
        throws: StoreError.queryNotAllowed(
          operation: "clearBeforeSaving", reason: "it begins behind a cursor")
      ) { try repository.save([], clearBeforeSaving: rest) }
      #expect(try repository.count() == 10)
    }
  }

  @Test("a cursor goes on after it was encoded, also when its own document is gone")
  func encoded() throws {
    try withContacts { repository in
      for unlimited in [
        Contact.all, Contact.all.sorted(by: \.name),
        Contact.all.sorted(by: \.geo.lat).sorted(by: \.order, .reverse),
        Contact.all.sorted(by: \.updatedAt, .reverse).sorted(by: \.balance),
      ] {
        let query = unlimited.limit(3)
        let whole = try repository.fetch(unlimited).map(\.id)
        let all = try repository.fetch(Contact.all)
        let first = try repository.page(query)
        let bytes = try JSONEncoder().encode(try #require(first.next))
        let cursor = try JSONDecoder().decode(PageCursor.self, from: bytes)
        #expect(cursor == first.next)

        try repository.delete(keys: first.models.map(\.id))
        let rest = try repository.page(query, after: cursor)

        #expect(first.models.map(\.id) + rest.models.map(\.id) == Array(whole.prefix(6)))
        try repository.save(all)
      }
    }
  }

  @Test("bytes that are no cursor are refused and never trap")
  func hostile() throws {
    try withContacts { repository in
      let query = Contact.all.sorted(by: \.name).sorted(by: \.order).limit(3)
      let cursor = try #require(try repository.page(query).next)
      let json = String(decoding: try JSONEncoder().encode(cursor), as: UTF8.self)
      var random = RandomSource()
      var refused = 0
      for _ in 0..<500 {
        var bytes = Array(json.utf8)
        let place = random.int(0..<bytes.count)
        bytes[place] = Array("AQgw19,\"{}=".utf8)[random.int(0..<11)]
        guard
          let changed = try? JSONDecoder().decode(PageCursor.self, from: Data(bytes)),  // Refused.
          changed != cursor
        else { continue }
        do {
          _ = try repository.page(query, after: changed)
        } catch let error as StoreError {
          guard case .cursorRefused = error else { throw error }
          refused += 1
        }
      }
      #expect(refused > 0)
    }
  }

  @Test("pages of a mapper's models are cut after those that have none are left out")
  func mapped() throws {
    try withTemporaryStore { store in
      let repository = store.repository(mappedBy: SampleMapper())
      let memory = InMemoryRepository(mappedBy: SampleMapper())
      let models = (0..<20).map {
        SampleModel(id: "\($0 + 10)", rank: $0 / 4, isHidden: $0 % 3 == 0)
      }
      for repository in [repository, memory] as [any Repository<SampleModel, Sample>] {
        try repository.save(models)
        let whole = Sample.all.sorted(by: \.rank, .reverse)
        let query = whole.limit(4)
        var ids: [String] = []
        var cursor: PageCursor?
        repeat {
          let page = try repository.page(query, after: cursor)
          #expect(page.models.count == 4 || page.next == nil)
          ids += page.models.map(\.id)
          cursor = page.next
        } while cursor != nil

        #expect(ids == (try repository.fetch(whole).map(\.id)))
      }
    }
  }

  /// Rows that are there all the time and keep their place are given once; the others at most once
  /// for each place that they had.
  @Test("pages neither repeat nor skip what stays, whatever is saved and deleted between them")
  func whileChanging() throws {
    var random = RandomSource()
    for round in 0..<60 {
      try withTemporaryStore { store in
        let indexed = store.repository(of: Parcel.self)
        let hint = Comment(rawValue: "round \(round), \(random.hint)")
        try indexed.save(
          (0..<60).map { Parcel(id: $0, code: "c\($0)", shelf: random.int(0..<6), labels: []) })
        let unlimited =
          random.pick([
            Parcel.all, Parcel.all.sorted(by: \.shelf), Parcel.all.sorted(by: \.shelf, .reverse),
            Parcel.where { $0.shelf > 1 }.sorted(by: \.code, .reverse),
            Parcel.where { $0.shelf == 3 },
          ])
        let query = unlimited.limit(random.int(1..<9))
        let before = Dictionary(
          uniqueKeysWithValues: try indexed.fetch(unlimited).map { ($0.id, $0) })
        var touched: Set<Int> = []
        var seen: [Int: Int] = [:]
        var cursor: PageCursor?
        repeat {
          let page = try indexed.page(query, after: cursor)
          for parcel in page.models { seen[parcel.id, default: 0] += 1 }
          cursor = page.next
          for _ in 0..<random.int(0..<6) {
            let id = random.int(0..<80)
            touched.insert(id)
            if random.bool() {
              try indexed.delete(keys: [id])
            } else {
              try indexed.save(
                Parcel(id: id, code: "x\(id)", shelf: random.int(0..<6), labels: []))
            }
          }
        } while cursor != nil

        for id in before.keys where !touched.contains(id) { #expect(seen[id] == 1, hint) }
        for (id, count) in seen where !touched.contains(id) { #expect(count == 1, hint) }
      }
    }
  }

  @Test("a cursor of another filter is refused, also beside what is computed")
  func cursorOfAnotherFilter() throws {
    try withTemporaryStore { store in
      let days = store.repository(of: PagedDay.self)
      try days.save(
        (0..<9).map { PagedDay(id: $0, date: Date(timeIntervalSinceReferenceDate: Double($0))) })
      func query(_ seconds: Double) -> Query<PagedDay> {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        return PagedDay.where { $0.double > 0 && !($0.date < date) }.limit(2)
      }

      let next = try #require(try days.page(query(0.0001)).next)

      #expect(try days.page(query(0.0001), after: next).models.map(\.id) == [3, 4])
      #expect(throws: StoreError.self) { try days.page(query(0.0002), after: next) }
    }
  }
}
