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

  enum Shop { @Document struct Sold: Equatable { var id: Int } }
  enum Bill { @Document struct Sold: Equatable { var id: Int } }

  @Test("two types of one list that only have the same name are refused, and nothing is made")
  func namesakes() throws {
    let types: [any Document.Type] = [Shop.Sold.self, Ticket.self, Shop.Sold.self, Bill.Sold.self]
    let url = URL(filePath: folder.store)
    let errors = try [
      storeError { _ = try Store(at: url, documents: types) },
      storeError { _ = try Store(at: folder.store, documents: types) },
      storeError { _ = try Store.temporary(documents: types) },
      storeError { try Store.temporary().declare(types) },
    ].map { try #require($0) }
    for error in errors {
      guard case .sharedCollection("Sold", let names) = error else {
        Issue.record("thrown was \(error)")
        continue
      }
      #expect(
        names.map { $0.split(separator: ".").suffix(2).joined(separator: ".") } == [
          "Shop.Sold", "Bill.Sold",
        ])
    }
    #expect(!FileManager.default.fileExists(atPath: folder.store))
    // One who says so may have both.
    try Store.temporary(documents: [Shop.Sold.self, Ticket.self, Shop.Sold.self]).close()
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

  // MARK: Migrations

  /// Saves seats with their number as row, and stops a migration of them in its second batch.
  private func stopMigration(_ change: (inout MigratingDocument) throws -> Void) throws {
    let store = try Store(at: folder.store, documents: [Seat.self])
    try store.repository(of: Seat.self).save((0..<20).map { Seat(id: $0, row: $0) })
    #expect(throws: MigrationError.self) {
      try store.collection("Seat").migrate(to: 2, batchCount: 10) { seat in
        if seat.key == 17 { throw Unexpected() }
        try change(&seat)
      }
    }
    try store.close()
  }

  @Test("a store is opened with a type whose migration was cut short, which then goes on")
  func unfinished() throws {
    func renumber(_ seat: inout MigratingDocument) throws {
      guard case .integer(let row)? = seat["row"] else { throw Unexpected() }
      seat["row"] = .integer(row + 100)
    }
    try stopMigration(renumber)
    let unfinished = StoreError.unfinishedMigration(collection: "Seat", version: 2)

    let store = try Store(at: folder.store, documents: [Seat.self, Ticket.self])

    #expect(try store.collectionNames() == ["Seat", "Ticket"])
    let seats = store.repository(of: Seat.self)
    #expect(throws: unfinished) { try seats.count() }
    #expect(throws: unfinished) { try store.declare([Seat.self]) }
    #expect(try store.migrate(Seat.self, to: 2, renumber).migrated == 10)
    #expect(try seats.fetch(Seat.all) == (0..<20).map { Seat(id: $0, row: $0 + 100) })
    try verifyAndClose(store)
  }

  @Test("a migration gives a field another kind before its type is named, also at the second start")
  func migratedFirst() throws {
    func name(_ seat: inout MigratingDocument) throws {
      guard case .integer(let row)? = seat["row"] else { throw Unexpected() }
      seat["row"] = .string("row \(row)")
    }
    func start() throws -> (store: Store, migratedCount: Int) {
      let store = try Store(at: folder.store)
      let report = try store.migrate(NamedSeat.self, to: 2, name)
      try store.declare([NamedSeat.self, Ticket.self])
      return (store, report.migrated)
    }
    try stopMigration(name)

    let (store, migratedCount) = try start()

    #expect(migratedCount == 10)
    let expected = (0..<20).map { NamedSeat(id: $0, row: "row \($0)") }
    #expect(try store.repository(of: NamedSeat.self).fetch(NamedSeat.all) == expected)
    #expect(try store.collection("Ticket").indexes().map(\.name) == ["title"])
    let before = try CallFaultTests.Contents(of: store)
    try store.close()
    let (again, laterCount) = try start()
    #expect(laterCount == 0)
    #expect(try CallFaultTests.Contents(of: again) == before)
    try verifyAndClose(again)
    #expect(throws: StoreError.closed) { try again.declare([NamedSeat.self]) }
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
