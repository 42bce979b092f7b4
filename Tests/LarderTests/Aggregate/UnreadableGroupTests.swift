import Larder
import LarderTestKit
import LarderTesting
import Testing

/// Aggregates over values that the type of a field does not have.
@Suite struct UnreadableGroupTests {
  enum State: String, Storable, Comparable {
    case open, closed

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  @EmbeddedDocument
  struct Desk: Equatable {
    var state: State
  }

  @Document
  struct Ticket: Identifiable, Equatable {
    var id: Int
    var state: State
    var price = 1
    var maybe: State?
    var desk = Desk(state: .open)
  }

  /// Six tickets, of which one was saved by a newer version of the app.
  private func withTickets(
    newer ticket: DynamicDocument, index: FieldPath?,
    _ body: (StoreRepository<Ticket>, _ error: StoreError) throws -> Void
  ) throws {
    try withTemporaryStore { store in
      let tickets = store.repository(of: Ticket.self)
      try tickets.save((0..<6).map { Ticket(id: $0, state: $0 < 2 ? .open : .closed) })
      let collection = store.collection("Ticket")
      try collection.save([ticket])
      if let index {
        try collection.createIndex(on: [DynamicIndexPart(index)])
        try collection.buildIndexes()
      }
      let error = #expect(throws: StoreError.self) { try tickets.fetch(Ticket.all) }
      try body(tickets, try #require(error))
    }
  }

  @Test(
    "a case that the type does not know is told with its document, as where that is fetched",
    arguments: [nil, FieldPath(field: "state")])
  func unknownCase(index: FieldPath?) throws {
    let newer: DynamicDocument = ["id": 3, "state": "frozen", "price": 5]
    try withTickets(newer: newer, index: index) { tickets, error in
      #expect(
        error
          == .unknownCase(
            collection: "Ticket", key: "3",
            reason: .field("state", .unknownCase("frozen", type: "State"))))
      #expect(throws: error) { try tickets.counts(by: \.state) }
      #expect(throws: error) { try tickets.distinct(\.state) }
      #expect(throws: error) { try tickets.sums(of: \.price, by: \.state) }
      #expect(throws: error) { try tickets.min(\.state) }
      #expect(throws: error) { try tickets.max(\.state) }
      let others = try tickets.distinct(\.state, of: Ticket.where { $0.id != 3 })
      #expect(others == [State.closed, .open])
    }
  }

  @Test(
    "so is one in a field that may be nil", arguments: [nil, FieldPath(field: "maybe")])
  func optional(index: FieldPath?) throws {
    let newer: DynamicDocument = ["id": 4, "state": "open", "maybe": "frozen"]
    try withTickets(newer: newer, index: index) { tickets, error in
      #expect(
        error
          == .unknownCase(
            collection: "Ticket", key: "4",
            reason: .field("maybe", .unknownCase("frozen", type: "State"))))
      #expect(throws: error) { try tickets.counts(by: \.maybe) }
      #expect(throws: error) { try tickets.min(\.maybe) }
    }
  }

  @Test("so is one in an embedded document, with the names of the fields down to it")
  func embedded() throws {
    let newer: DynamicDocument = [
      "id": 4, "state": "open", "desk": .document(["state": "frozen"]),
    ]
    try withTickets(newer: newer, index: nil) { tickets, error in
      #expect(
        error
          == .unknownCase(
            collection: "Ticket", key: "4",
            reason: .field("desk", .field("state", .unknownCase("frozen", type: "State")))))
      #expect(throws: error) { try tickets.counts(by: \.desk.state) }
      #expect(throws: error) { try tickets.max(\.desk.state) }
    }
  }

  @Test("an extreme that is too large for its type names the field")
  func tooLarge() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Int8>.self).save(One(7))
      try store.repository(of: One<Int>.self).save(One(300, id: "b"))
      let error = StoreError.damagedRecord(
        collection: "One", key: "", reason: .field("value", .outOfRange(expected: "Int8")))
      let narrow = store.repository(of: One<Int8>.self)

      #expect(throws: error) { try narrow.max(\.value) }
      #expect(try narrow.min(\.value) == 7)
    }
  }
}
