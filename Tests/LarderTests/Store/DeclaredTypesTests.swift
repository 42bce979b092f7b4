import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct DeclaredTypesTests {
  private let folder = TestFolder()

  @Document(as: "Ticket")
  struct Ticket: Identifiable, Equatable {
    var id: Int
    @Indexed var title = ""
  }

  @Document(as: "Seat")
  struct Seat: Identifiable, Equatable {
    var id: Int
    var row = 0
  }

  /// Another type for the same collection, whose field is of another kind.
  @Document(as: "Seat")
  struct NamedSeat: Identifiable, Equatable {
    var id: Int
    var row: String
  }

  /// Saves in two collections; returns how often the body ran.
  private func saveBoth(in store: Store) throws -> Int {
    var runs = 0
    try store.write { tx in
      runs += 1
      try tx.save(Ticket(id: runs))
      try tx.save(Seat(id: 1, row: runs))
    }
    return runs
  }

  @Test("the first write runs its body once in a store that was opened with the types")
  func once() throws {
    let store = try Store(
      at: URL(filePath: folder.store), documents: [Ticket.self, Seat.self])

    #expect(try saveBoth(in: store) == 1)
    #expect(try store.repository(of: Ticket.self).fetch(Ticket.all) == [Ticket(id: 1)])
    #expect(try store.collection("Ticket").indexes().map(\.name) == ["title"])
    try verifyAndClose(store)
  }

  @Test("without them it runs once more for each type, and only the last run is kept")
  func thrice() throws {
    let store = try Store(at: folder.store)

    #expect(try saveBoth(in: store) == 3)
    #expect(try store.repository(of: Ticket.self).fetch(Ticket.all) == [Ticket(id: 3)])
    try verifyAndClose(store)
  }

  @Test("a temporary store knows the types that it is made with")
  func temporary() throws {
    let store = try Store.temporary(documents: [Ticket.self, Seat.self])

    #expect(try saveBoth(in: store) == 1)
    try verifyAndClose(store)
  }

  @Test("opening with types that are known waits for no write")
  func known() throws {
    let store = try Store(at: folder.store, documents: [Ticket.self, Seat.self])

    try store.write { _ in
      // Would wait for this write, whose body waits for it.
      try OnThread { [folder] in
        try Store(at: folder.store, documents: [Seat.self, Ticket.self]).close()
      }.value()
    }

    try verifyAndClose(store)
  }

  @Test("a type that does not fit what is stored is refused, and nothing is changed")
  func unfit() throws {
    let store = try Store(at: folder.store, documents: [Seat.self])
    try store.repository(of: Seat.self).save(Seat(id: 1, row: 7))
    let before = try CallFaultTests.Contents(of: store)
    try store.close()

    #expect(
      throws: StoreError.kindMismatch(
        collection: "Seat", field: "row", stored: "int64", declared: "string")
    ) {
      try Store(at: folder.store, documents: [NamedSeat.self])
    }

    let again = try Store(at: folder.store)
    #expect(try CallFaultTests.Contents(of: again) == before)
    try verifyAndClose(again)
  }

  @Test("a store that is only read is opened with types that it does not know")
  func readOnly() throws {
    try Store(at: folder.store, documents: [Seat.self]).close()

    let store = try Store(
      at: folder.store, documents: [Ticket.self, Seat.self],
      options: StoreOptions(isReadOnly: true))

    #expect(try store.collectionNames() == ["Seat"])
    #expect(try store.repository(of: Ticket.self).fetch(Ticket.all) == [])
    try store.close()
  }
}
