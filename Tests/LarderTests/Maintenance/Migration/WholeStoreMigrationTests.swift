import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Document struct LongNumber: Equatable {
  var id: Int
  var text: String
  var changes: Int
  var more: String?
}

@Document struct IndexedNumber: Equatable {
  var id: Int
  @Indexed var text: String
  var changes: Int
}

@Suite struct WholeStoreMigrationTests {
  @Test("a migration of the whole store is run once, and its version is kept")
  func once() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let numbers = try store.numbers(3)
    #expect(try store.version() == 1)

    #expect(
      try store.migrate(to: 2) { tx in
        try tx.save([["id": 7, "text": "7", "changes": 0]], in: numbers)
      })
    #expect(try !store.migrate(to: 2) { _ in throw Unexpected() })
    #expect(try store.migrate(to: 3) { tx in _ = try tx.delete(keys: [0, 99], in: numbers) })
    try store.close()

    let again = try Store(at: folder.store)
    #expect(try again.version() == 3)
    #expect(try again.collection("Number").version() == 1)
    #expect(try again.collection("Number").documents().map { $0["id"] } == [1, 2, 7])
    #expect(try !again.migrate(to: 2) { _ in throw Unexpected() })
    try verifyAndClose(again)
  }

  @Test("a migration of the whole store waits for its turn without blocking")
  func asynchronous() async throws {
    try await withTemporaryStore { store in
      let numbers = try store.numbers(3)

      let isRun = try await store.migrate(to: 2) { tx in _ = try tx.eraseAllData(of: numbers) }
      let isRunAgain = try await store.migrate(to: 2) { _ in throw Unexpected() }

      #expect((isRun, isRunAgain) == (true, false))
      #expect(try numbers.count() == 0)
    }
  }

  @Test("a body that throws leaves everything as it was, and a step left out is a typed error")
  func thrown() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(3)
      let before = try store.statistics().sequence

      #expect(throws: Unexpected.self) {
        try store.migrate(to: 2) { tx in
          try tx.eraseAllData(of: numbers)
          throw Unexpected()
        }
      }
      #expect(throws: StoreError.versionSkipped(collection: nil, stored: 1, asked: 3)) {
        try store.migrate(to: 3) { _ in }
      }

      #expect(try store.version() == 1)
      #expect(try store.statistics().sequence == before)
      #expect(try numbers.count() == 3)
    }
  }

  @Test("a store without documents begins at the newest version, and nothing is run")
  func fresh() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    #expect(try !store.migrate(to: 5) { _ in throw Unexpected() })
    #expect(try store.version() == 5)

    _ = try store.numbers(2)
    try store.close()

    let again = try Store(at: folder.store)
    #expect(try again.version() == 5)
    #expect(try again.migrate(to: 6) { try $0.eraseAllData(of: again.collection("Number")) })
    #expect(try again.collection("Number").count() == 0)
    try verifyAndClose(again)
  }

  @Test("a collection is renamed with its records, fields and version, and types find it")
  func renamed() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let documents = (0..<2500).map { Contact(id: "\($0)", name: "N", geo: Geo(lat: 1, lon: 2)) }
      try contacts.save(documents)
      try store.migrate(Contact.self, to: 2) { $0["name"] = "M" }
      let sequence = try store.statistics().sequence

      var movedCount = 0
      try store.migrate(to: 2) { tx in
        movedCount = try tx.rename(store.collection("Contact"), to: "Person")
      }

      #expect(movedCount == 2500)
      #expect(try contacts.count() == 0)
      #expect(try store.collection("Person").version() == 2)
      #expect(try store.collection("Contact").version() == 1)
      #expect(
        store.engine.catalogue["Person"]?.tables == store.engine.catalogue["Contact"]?.tables)
      #expect(try store.statistics().sequence == sequence + 2501)
      movedCount = try store.write { try $0.rename(store.collection("Person"), to: "Contact") }
      #expect(movedCount == 2500)
      #expect(try contacts.get("7") == Contact(id: "7", name: "M", geo: Geo(lat: 1, lon: 2)))
      #expect(try contacts.save(contacts.fetch(Contact.all)).unchanged == 2500)
      #expect(try store.version(of: Contact.self) == 2)
    }
  }

  @Test("a renaming that is undone inside a write leaves the catalogue as it was")
  func undone() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(5)
      _ = try store.collection("x").declare(
        InferredShape(), keyField: "id", keyKind: .integer)
      let before = store.engine.catalogue.version

      try store.write { tx in
        #expect(throws: Unexpected.self) {
          try tx.undoable { tx in
            _ = try tx.rename(numbers, to: "x")
            throw Unexpected()
          }
        }
        try tx.save([["id": 9, "text": "9", "changes": 0]], in: numbers)
      }

      #expect(store.engine.catalogue.version == before)
      #expect(try numbers.count() == 6)
      #expect(try store.collection("x").count() == 0)
    }
  }

  @Test("a name that is taken, or cannot be one, and a half-migrated collection are refused")
  func notRenamed() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(5)
      try store.repository(of: Contact.self).save(Contact(id: "a"))
      func rename(to name: String) throws {
        try store.write { _ = try $0.rename(numbers, to: name) }
      }

      #expect(throws: StoreError.collectionExists("Contact")) { try rename(to: "Contact") }
      #expect(throws: StoreError.self) { try rename(to: "") }
      try rename(to: "Number")
      let movedCount = try store.write { try $0.rename(store.collection("none"), to: "x") }
      #expect(movedCount == 0)
      #expect(throws: MigrationError.self) {
        try numbers.migrate(to: 2, batchCount: 2) {
          if $0.key == 3 { throw Unexpected() }
          try convert(&$0)
        }
      }
      #expect(throws: StoreError.unfinishedMigration(collection: "Number", version: 2)) {
        try rename(to: "x")
      }
      try numbers.migrate(to: 2, convert)
      try rename(to: "x")
      #expect(try store.collection("x").documents() == converted(5))
    }
  }

  @Test("a collection is split into two that did not exist, in pieces, in one transaction")
  func split() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(25)
      let (even, odd) = (store.collection("even"), store.collection("odd"))

      try store.migrate(to: 2) { tx in
        var last: Value?
        while true {
          let piece = try tx.fetch(numbers, after: last, limit: 4)
          guard let end = piece.last else { break }
          last = end["id"]
          for document in piece {
            guard case .integer(let id)? = document["id"] else { throw Unexpected() }
            try tx.save([document], in: id % 2 == 0 ? even : odd, keyField: "id")
          }
        }
        let (third, none) = try (tx.get(3, in: odd), tx.get(3, in: even))
        let erasedCount = try tx.eraseAllData(of: numbers)
        #expect(third == numbered(4)[3])
        #expect(none == nil)
        #expect(erasedCount == 25)
      }

      #expect(try even.documents() == numbered(25).enumerated().filter { $0.0 % 2 == 0 }.map(\.1))
      #expect(try odd.count() == 12)
      #expect(try numbers.count() == 0)
      #expect(try store.write { try $0.fetch(even, after: 22) } == [numbered(25)[24]])
    }
  }

  @Test("a write without types declares what is new, and refuses what has no key or two kinds")
  func declaring() throws {
    try withTemporaryStore { store in
      let things = store.collection("Thing")
      func save(_ documents: [DynamicDocument], keyField: String?) throws -> SaveReport {
        try store.write { try $0.save(documents, in: things, keyField: keyField) }
      }

      #expect(throws: StoreError.self) { try save([["id": 1]], keyField: nil) }
      #expect(throws: StoreError.self) { try save([["id": 1]], keyField: "other") }
      #expect(throws: StoreError.self) {
        try save([["id": 1, "a": 1], ["id": 2, "a": "x"]], keyField: "id")
      }
      let names = try store.collectionNames()
      #expect(names.isEmpty)
      #expect(try save([], keyField: nil) == SaveReport())
      #expect(try save([["id": 1, "a": 1]], keyField: "id").inserted == 1)
      #expect(try save([["id": 2, "a": 0.5, "b": "x"]], keyField: nil).inserted == 1)
      #expect(throws: StoreError.self) { try save([["id": 3, "a": "x"]], keyField: nil) }
      #expect(try things.documents() == [["id": 1, "a": 1], ["id": 2, "a": 0.5, "b": "x"]])
    }
  }

  @Test("where a migration stands comes back from its bytes; any damage to them is found")
  func state() throws {
    var random = RandomSource()
    for _ in 0..<100 {
      let state = MigrationState(
        version: random.int(1..<1000), target: random.bool() ? random.int(1..<1000) : nil,
        lastKey: random.bool()
          ? random.array(1..<255) { UInt8(truncatingIfNeeded: $0.next()) } : nil,
        doneCount: random.int(0..<1 << 40), totalCount: random.int(0..<1 << 40))
      let subject = MigrationState.Subject.collection("c")
      var bytes = state.encoded(for: subject)

      #expect(try bytes.withUnsafeBytes { try MigrationState($0, of: subject) } == state)
      #expect(throws: StoreError.self) {
        try bytes.withUnsafeBytes { try MigrationState($0, of: .store) }
      }
      bytes[random.int(0..<bytes.count)] ^= 1 << UInt8(random.int(0..<8))
      #expect(throws: StoreError.self) {
        try bytes.withUnsafeBytes { try MigrationState($0, of: subject) }
      }
    }
  }

  @Test("a type with more fields is saved into the collection that was renamed to its name")
  func renamedAndSaved() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(300)
      var runCount = 0

      try store.migrate(to: 2) { tx in
        runCount += 1
        try tx.rename(numbers, to: "LongNumber")
        try tx.save(LongNumber(id: -1, text: "-1", changes: 0, more: "more"))
      }

      #expect(runCount < 5)
      let long = store.repository(of: LongNumber.self)
      #expect(try long.count() == 301)
      #expect(try long.get(-1)?.more == "more" && long.get(7)?.more == nil)
    }
  }

  @Test("what one write declares and undoes each time ends soon")
  func declaredInVain() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(300)
      var runCount = 0

      #expect(throws: StoreError.self) {
        try store.migrate(to: 2) { tx in
          runCount += 1
          try tx.rename(numbers, to: "IndexedNumber")
          try tx.save(IndexedNumber(id: -1, text: "-1", changes: 0))
        }
      }

      #expect(runCount < 20)
      #expect(try store.version() == 1 && numbers.count() == 300)
    }
  }
}
