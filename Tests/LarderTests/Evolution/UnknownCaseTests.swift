import Foundation
import LarderTestKit
import LarderTesting
import Synchronization
import Testing

@testable import Larder

/// Documents of a newer version of an app, with cases of enums that this one does not know.
@Suite struct UnknownCaseTests {
  // MARK: Versions of one app

  enum NewState: String, Storable { case open, closed, frozen }
  enum OldState: String, Storable { case open, closed }

  private typealias NewTicket = AnyTicket<NewState>
  typealias Ticket = AnyTicket<OldState>

  /// A ticket with the states that a version of the app knows.
  struct AnyTicket<State: Storable & Equatable & Sendable>: Document, Identifiable, Equatable {
    var id: Int
    var state: State
    var title = ""

    static var schema: Schema<Self> {
      Schema(
        "Ticket", key: \.id,
        fields: [
          Field("id", \.id), Field("state", \.state), Field("title", \.title, default: ""),
        ])
    }

    func encode(into record: inout RecordWriter) {
      record.put(id, at: 0)
      record.put(state, at: 1)
      record.put(title, at: 2)
    }

    init(id: Int, state: State, title: String = "") {
      (self.id, self.state, self.title) = (id, state, title)
    }

    init(from record: borrowing RecordReader) throws(RecordError) {
      id = try record.get(0)
      state = try record.get(1)
      title = try record.get(2)
    }
  }

  private struct PlainNew: Codable, Identifiable, Sendable {
    enum State: String, Codable, Sendable { case open, frozen }
    enum Payment: Codable, Sendable { case cash, card(number: Int), voucher(code: String) }
    var id: Int
    var state: State?
    var payment: Payment?
    var title: String
  }

  struct Plain: Codable, Identifiable, Sendable, Equatable {
    enum State: String, Codable, Sendable { case open }
    enum Payment: Codable, Sendable, Equatable { case cash, card(number: Int) }
    var id: Int
    var state: State?
    var payment: Payment?
    var title: String
  }

  private final class Reports: Sendable {
    private let found = Mutex<[UnreadableDocument]>([])
    var all: [UnreadableDocument] { found.withLock { $0 } }
    var keys: [String] { Array(Set(all.map(\.key))).sorted() }
    func callAsFunction(_ document: UnreadableDocument) { found.withLock { $0.append(document) } }
  }

  /// Ten tickets; those that are frozen are not to be read by the older app.
  private func fill(_ store: Store, frozen: Set<Int>) throws {
    try store.repository(of: NewTicket.self).save(
      (0..<10).map { NewTicket(id: $0, state: frozen.contains($0) ? .frozen : .open) })
  }

  private func tickets(_ ids: [Int]) -> [Ticket] { ids.map { Ticket(id: $0, state: .open) } }

  // MARK: The error

  @Test("a case that a type does not know is no damage, and its message destroys nothing")
  func message() throws {
    try withTemporaryStore { store in
      try fill(store, frozen: [3])

      let error = #expect(throws: StoreError.self) {
        try store.repository(of: Ticket.self).fetch(Ticket.all)
      }

      #expect(
        error
          == .unknownCase(
            collection: "Ticket", key: "3",
            reason: .field("state", .unknownCase("frozen", type: "OldState"))))
      let text = "\(try #require(error))"
      #expect(text.contains("newer version of the app"))
      #expect(!text.lowercased().contains("delete"))
      #expect(!(try #require(error)).isDamage)
    }
  }

  @Test("the same is said of the enums of plain types, with a raw value or with payloads")
  func plainMessage() throws {
    try withTemporaryStore { store in
      let new = store.repository(of: PlainNew.self, collection: "Plain")
      try new.save(PlainNew(id: 1, state: .frozen, payment: nil, title: "a"))
      try new.save(PlainNew(id: 2, state: nil, payment: .voucher(code: "x"), title: "b"))
      let old = store.repository(of: Plain.self)

      #expect(
        throws: StoreError.unknownCase(
          collection: "Plain", key: "1",
          reason: .field("state", .unknownCase("frozen", type: "State")))
      ) { try old.get(1) }
      #expect(
        throws: StoreError.unknownCase(
          collection: "Plain", key: "2",
          reason: .field("payment", .unknownCase("voucher", type: "Payment")))
      ) { try old.get(2) }
    }
  }

  @Test("an older app that replaces a case that it does not know leaves the new one alone")
  func replacedCase() throws {
    try withTemporaryStore { store in
      let new = store.repository(of: PlainNew.self, collection: "Plain")
      try new.save(PlainNew(id: 2, state: .frozen, payment: .voucher(code: "x"), title: "b"))
      let old = store.repository(of: Plain.self)
      let plain = Plain(id: 2, state: .open, payment: .card(number: 7), title: "c")

      try old.save(plain)

      #expect(try old.get(2) == plain)
      guard case .card(7)? = try new.get(2)?.payment else {
        Issue.record("the payment was changed")
        return
      }
    }
  }

  @Test("the same holds of a document that is an enum itself, with payloads or without")
  func replacedDocument() throws {
    enum New: Codable, Identifiable, Sendable, Equatable {
      case circle(radius: Double), nothing, star(pointCount: Int), dot
      var id: Int { 1 }
    }
    enum Old: Codable, Identifiable, Sendable, Equatable {
      case circle(radius: Double), nothing
      var id: Int { 1 }
    }
    let replacements: [(stored: New, saved: Old, expected: New)] = [
      (.star(pointCount: 5), .circle(radius: 2), .circle(radius: 2)),
      (.star(pointCount: 5), .nothing, .nothing),
      (.dot, .circle(radius: 2), .circle(radius: 2)), (.dot, .nothing, .nothing),
    ]
    for (stored, saved, expected) in replacements {
      try withTemporaryStore { store in
        let new = store.repository(of: New.self, collection: "Shape")
        let old = store.repository(of: Old.self, collection: "Shape")
        try new.save(stored)

        #expect(try old.save(saved).updated == 1)

        #expect(try old.get(1) == saved)
        #expect(try new.get(1) == expected)
        try new.save(stored)
        #expect(try new.get(1) == stored)
      }
    }
  }

  // MARK: Reading the others

  @Test("the others are had, and that one is reported, by every way of reading")
  func others() throws {
    try withTemporaryStore { store in
      try fill(store, frozen: [0, 3, 9])
      let repository = store.repository(of: Ticket.self)
      let reports = Reports()
      let query = Ticket.all.skippingUnreadable { reports($0) }
      let readable = tickets([1, 2, 4, 5, 6, 7, 8])

      #expect(try repository.fetch(query) == readable)
      #expect(reports.keys == ["0", "3", "9"])
      #expect(reports.all.allSatisfy { $0.collection == "Ticket" && $0.isFromNewerVersion })
      #expect(try repository.fetch(query.offset(1).limit(3)) == tickets([2, 4, 5]))
      #expect(try repository.count(query) == 7)
      #expect(try repository.sum(\.id, of: query) == 33)
      #expect(try repository.fetch(query.sorted(by: \.id, .reverse)) == readable.reversed())
      #expect(
        try store.read { snapshot in
          var seen: [Ticket] = []
          try snapshot.forEach(query) {
            seen.append($0)
            return true
          }
          return seen
        } == readable)
      #expect(try store.write { try $0.fetch(query) } == readable)
      let sections = try repository.sections(by: \.title, of: query)
      #expect(sections.map(\.models) == [readable])
    }
  }

  @Test("pages go on behind the documents that are left out")
  func pages() throws {
    try withTemporaryStore { store in
      try fill(store, frozen: [0, 2, 3, 9])
      let repository = store.repository(of: Ticket.self)
      let query = Ticket.all.limit(2).skippingUnreadable { _ in }

      var pages: [[Int]] = []
      var page = try repository.page(query)
      pages.append(page.models.map(\.id))
      while let next = page.next {
        page = try repository.page(query, after: next)
        pages.append(page.models.map(\.id))
      }

      #expect(pages == [[1, 4], [5, 6], [7, 8]])
    }
  }

  @Test("keys whose documents cannot be read are reported, and the others are given")
  func keys() async throws {
    try await withTemporaryStore { store in
      try fill(store, frozen: [3])
      let repository = store.repository(of: Ticket.self)
      let erased: any Repository<Ticket, Ticket> = repository
      let reports = Reports()

      #expect(
        try repository.get(keys: [5, 3, 11, 2], skippingUnreadable: { reports($0) })
          == tickets([5, 2]))
      #expect(reports.keys == ["3"])
      #expect(
        try erased.get(keys: [3, 4], skippingUnreadable: { reports($0) }) == tickets([4]))
      #expect(
        try await repository.async.get(keys: [3, 4], skippingUnreadable: { reports($0) })
          == tickets([4]))
      #expect(throws: StoreError.self) { try repository.get(keys: [5, 3]) }
    }
  }

  @Test("conditions and orders of plain types, which decode the value, leave it out as well")
  func plainTypes() throws {
    try withTemporaryStore { store in
      let new = store.repository(of: PlainNew.self, collection: "Plain")
      for id in 0..<6 {
        try new.save(
          PlainNew(
            id: id, state: id == 4 ? .frozen : .open,
            payment: id == 1 ? .voucher(code: "x") : .cash,
            title: "t\(id % 2)"))
      }
      let old = store.repository(of: Plain.self)
      let reports = Reports()

      // The condition and the order of a plain type decode the whole value.
      let found = try old.fetch(
        old.where { $0.title == "t0" }.sorted(by: \.title).skippingUnreadable { reports($0) })

      #expect(found.map(\.id) == [0, 2])
      #expect(reports.keys.contains("4"))
      #expect(try old.count(old.all.skippingUnreadable { reports($0) }) == 4)
      #expect(reports.keys == ["1", "4"])
    }
  }

  // MARK: Watching

  @Test("a watched query goes on when a document comes that its type cannot read")
  func watching() async throws {
    try await withTemporaryStore { store in
      try fill(store, frozen: [3])
      let repository = store.repository(of: Ticket.self)
      let reports = Reports()
      let query = Ticket.all.skippingUnreadable { reports($0) }
      var lists = repository.values(of: query).makeAsyncIterator()
      var counts = repository.watchCount(query).makeAsyncIterator()

      #expect(try await lists.next() == Rows(tickets([0, 1, 2, 4, 5, 6, 7, 8, 9])))
      #expect(try await counts.next() == 9)

      try await store.repository(of: NewTicket.self).save(NewTicket(id: 5, state: .frozen))
      #expect(try await lists.next() == Rows(tickets([0, 1, 2, 4, 6, 7, 8, 9])))
      #expect(try await counts.next() == 8)
      #expect(reports.keys == ["3", "5"])

      try await store.repository(of: NewTicket.self).save(NewTicket(id: 3, state: .open))
      #expect(try await lists.next() == Rows(tickets([0, 1, 2, 3, 4, 6, 7, 8, 9])))
      #expect(try await counts.next() == 9)
    }
  }

  @Document
  struct Visit: Identifiable, Equatable {
    var id: Int
    var ticketID: Int
  }

  @Test("models are joined without what they refer to where its type cannot read that")
  func joined() async throws {
    try await withTemporaryStore { store in
      try fill(store, frozen: [3])
      let visits = store.repository(of: Visit.self)
      try await visits.save([Visit(id: 1, ticketID: 3), Visit(id: 2, ticketID: 4)])
      let joined = visits.including(\.ticketID, from: store.repository(of: Ticket.self))
      let reports = Reports()
      let query = Visit.all.skippingUnreadable { reports($0) }

      let fetched = try joined.fetch(query).map(\.related?.id)
      #expect(fetched == [nil, 4])
      #expect(reports.keys == ["3"])
      #expect(throws: StoreError.self) { try joined.fetch(Visit.all) }

      var lists = joined.values(of: query).makeAsyncIterator()
      let first = try #require(try await lists.next()).map(\.related?.id)
      #expect(first == [nil, 4])
      try await store.repository(of: NewTicket.self).save(NewTicket(id: 4, state: .frozen))
      let second = try #require(try await lists.next()).map(\.related?.id)
      #expect(second == [nil, nil])
      #expect(reports.keys == ["3", "4"])
    }
  }

  @Test("which documents are left out agrees with plain Swift, whatever the query")
  func random() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(40) {
      try withTemporaryStore { store in
        let all = (0..<40).map { id in
          NewTicket(
            id: id, state: random.pick([.open, .closed, .frozen]),
            title: random.pick(["a", "b", "c"]))
        }
        try store.repository(of: NewTicket.self).save(all)
        if random.bool() {
          try store.collection("Ticket").createIndex(on: "title")
        }
        let title = random.pick(["a", "b", "c"])
        let (offset, limit) = (random.int(0..<5), random.int(0..<20))
        var query = Ticket.where { $0.title >= title }.offset(offset).limit(limit)
        var expected = all.filter { $0.title >= title && $0.state != .frozen }
        if random.bool() {
          query = query.sorted(by: \.title, .reverse)
          expected = ["c", "b", "a"].flatMap { title in expected.filter { $0.title == title } }
        }
        query = query.skippingUnreadable { _ in }
        let ids = expected.dropFirst(offset).prefix(limit).map(\.id)
        let repository = store.repository(of: Ticket.self)

        #expect(try repository.fetch(query).map(\.id) == ids, "\(random.hint)")
        #expect(try repository.count(query) == ids.count, "\(random.hint)")
        #expect(try repository.page(query).models.map(\.id) == ids, "\(random.hint)")
      }
    }
  }
}
