import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct UnfinishedMigrationTests {
  /// Migrates up to a document, where it fails.
  private func stop(
    _ numbers: DynamicCollection, at key: Value, batchCount: Int,
    progress: (StoreProgress) -> Void = { _ in }
  ) throws -> MigrationError? {
    do {
      try numbers.migrate(to: 2, batchCount: batchCount, progress: progress) { number in
        if number.key == key { throw Unexpected() }
        try convert(&number)
      }
      return nil
    } catch let error as MigrationError {
      return error
    }
  }

  @Test("a closure that throws is named with its document, and its batch is left as it was")
  func throwing() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(100)

      let error = try #require(try stop(numbers, at: 57, batchCount: 10))

      #expect((error.collection, error.key, error.version) == ("Number", "57", 2))
      #expect(error.underlying is Unexpected)
      #expect(error.description.contains("Number 57 cannot be migrated to version 2"))
      #expect(
        try numbers.documents() == Array(converted(50)) + Array(numbered(100).dropFirst(50)))
      #expect(try numbers.version() == 1)
    }
  }

  @Test("a migration goes on behind its last batch, and no document is migrated twice")
  func resumed() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(100)
      for key in [3, 57, 57, 58, 99] {
        #expect(try stop(numbers, at: .integer(Int64(key)), batchCount: 10)?.key == "\(key)")
      }

      let report = try numbers.migrate(to: 2, batchCount: 10, convert)

      #expect(report == MigrationReport(version: 2, migrated: 10))
      #expect(try numbers.documents() == converted(100))
    }
  }

  @Test("a migration that fails in its first batch has not begun")
  func notBegun() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(100)
      let before = try store.statistics()

      #expect(try stop(numbers, at: 9, batchCount: 10) != nil)

      #expect(try store.statistics() == before)
      #expect(store.engine.catalogue["Number"]?.documentTable == 0)
      #expect(try numbers.save(numbered(1)).unchanged == 1)
    }
  }

  @Test("until it is finished a collection is neither written nor read by a type, but by none")
  func refused() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(20)
      try store.repository(of: Contact.self).save(Contact(id: "a"))
      let typed = store.repository(of: Number.self)
      #expect(try stop(numbers, at: 17, batchCount: 10) != nil)
      let unfinished = StoreError.unfinishedMigration(collection: "Number", version: 2)

      #expect(throws: unfinished) { try typed.get(1) }
      #expect(throws: unfinished) { try typed.count() }
      #expect(throws: unfinished) { try typed.fetch(Number.where { $0.text < 5 }) }
      #expect(throws: unfinished) { try typed.save(Number(id: 1, text: 1, changes: 1)) }
      #expect(throws: unfinished) { try typed.delete(keys: [1]) }
      #expect(throws: unfinished) { try store.declare(Number.self) }
      #expect(throws: unfinished) { try numbers.save([["id": 1, "text": "x"]]) }
      #expect(throws: unfinished) { try numbers.save([["id": 1, "fresh": "x"]]) }
      #expect(throws: unfinished) {
        try store.write { try $0.save([["id": 1, "text": "x"]], in: numbers) }
      }
      #expect(throws: unfinished) {
        try store.write { try $0.save([["id": 1, "fresh": 1]], in: numbers, keyField: nil) }
      }
      #expect(throws: unfinished) { try numbers.migrate(to: 3, convert) }
      #expect(unfinished.description.contains("migrate(to: 2)"))

      #expect(try numbers.get(3) == converted(4)[3])
      #expect(try numbers.get(13) == numbered(14)[13])
      #expect(try store.check().isSound)
      #expect(try store.repository(of: Contact.self).count() == 1)
    }
  }

  @Test("a document that cannot be read stops a migration, which goes on when it is deleted")
  func damaged() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let numbers = try store.numbers(20)
    try store.close()
    try withEnvironment(folder.store) { environment in
      let database = try #require(
        try environment.database(named: "documents/Number", create: false))
      try flip(in: environment, database, key: [0x80, 0, 0, 0, 0, 0, 0, 12], at: -10)
    }
    let again = try Store(at: folder.store)
    let damaged = again.collection("Number")
    let error = StoreError.damagedRecord(collection: "Number", key: "12", reason: .checksum)
    #expect(throws: error) { try damaged.migrate(to: 2, batchCount: 5, convert) }
    #expect(throws: error) { try damaged.migrate(to: 2, batchCount: 5, convert) }

    #expect(try damaged.delete(keys: [12, 400]) == 1)
    var progress: [StoreProgress] = []
    try damaged.migrate(to: 2, batchCount: 5, progress: { progress.append($0) }, convert)

    var expected = converted(20)
    expected.remove(at: 12)
    #expect(try damaged.documents() == expected)
    #expect(progress.last?.completed == 19)
    #expect(progress.last?.total == 19)
    #expect(numbers.name == "Number")
    try verifyAndClose(again)
  }

  @Test("a collection that is erased in the midst of a migration is migrated")
  func erased() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(20)
      #expect(try stop(numbers, at: 17, batchCount: 10) != nil)
      try store.repository(of: Number.self).eraseAllData()

      #expect(try numbers.migrate(to: 2, convert).migrated == 0)

      try store.repository(of: Number.self).save(Number(id: 1, text: 1, changes: 1))
      #expect(try numbers.version() == 2)
    }
  }

  @Test("a batch that was encoded before a migration is encoded again after it")
  func staleBatch() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(Contact(id: "a"))
      let stale = try #require(try contacts.batch(of: [Contact(id: "b")], isReplacing: false))

      try store.migrate(Contact.self, to: 2) { _ in }

      let result = try store.write { try $0.apply(stale, Contact.self, clearing: nil) }
      #expect(result == nil)
      #expect(try contacts.count() == 1)
      try contacts.save(Contact(id: "b"))
      #expect(try contacts.count() == 2)
    }
  }

  @Test("a migration whose state was lost goes on by what the records say, and none is done twice")
  func lostState() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(50)
      #expect(try stop(numbers, at: 27, batchCount: 10) != nil)
      let migrations = try #require(try store.engine.migrations())
      try store.write { try $0.put(nil, of: .collection("Number"), in: migrations) }

      #expect(throws: StoreError.unfinishedMigration(collection: "Number", version: 2)) {
        try numbers.migrate(to: 3, convert)
      }
      #expect(try numbers.migrate(to: 2, batchCount: 7, convert).migrated == 30)

      #expect(try numbers.documents() == converted(50))
      #expect(try numbers.version() == 2)
    }
  }

  @Test("a store that is salvaged in the midst of a migration goes on with it, versions and all")
  func salvaged() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let numbers = try store.numbers(50)
    try store.collection("Done").save([["id": 1]], keyField: "id")
    try store.collection("Done").migrate(to: 2) { $0["new"] = true }
    try store.migrate(to: 2) { _ in }
    #expect(try stop(numbers, at: 27, batchCount: 10) != nil)
    try store.close()

    _ = try Store.quarantine(at: URL(filePath: folder.store))

    let again = try Store(at: folder.store)
    #expect(try again.version() == 2)
    #expect(try again.collection("Done").version() == 2)
    #expect(try again.collection("Done").documents() == [["id": 1, "new": true]])
    #expect(throws: StoreError.unfinishedMigration(collection: "Number", version: 2)) {
      try again.repository(of: Number.self).count()
    }
    #expect(
      try again.collection("Number").migrate(to: 2, batchCount: 7, convert).migrated == 30)
    #expect(try again.collection("Number").documents() == converted(50))
    try verifyAndClose(again)
  }

  @Test("a quarantine that was cut short goes on where a collection is in the midst of a migration")
  func salvagedInTwo() throws {
    let folder = TestFolder()
    let url = URL(filePath: folder.store)
    let store = try Store(at: folder.store)
    let numbers = try store.numbers(50)
    #expect(try stop(numbers, at: 27, batchCount: 10) != nil)
    // So many pages that reading them is told of several times.
    let text = String(repeating: "x", count: 3000)
    _ = try store.collection("Page").save(
      (0..<4000).map { ["id": .integer(Int64($0)), "text": .string(text)] }, keyField: "id")
    try store.close()

    #expect(throws: CancellationError.self) {
      try Store.quarantine(at: url) { news in
        if try #require(news.documentCount) >= 2000 { throw CancellationError() }
      }
    }
    let report = try Store.quarantine(at: url)

    #expect(report.salvage.unsaved.isEmpty && report.salvage.damagedRecordCount == 0)
    let again = try Store(at: folder.store)
    #expect(try again.collection("Page").count() == 4000)
    #expect(
      try again.collection("Number").migrate(to: 2, batchCount: 7, convert).migrated == 30)
    #expect(try again.collection("Number").documents() == converted(50))
    try verifyAndClose(again)
  }

  @Test("documents that are salvaged into a store that began at a newer version are migrated")
  func salvagedLate() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    _ = try store.numbers(20)
    try store.close()
    let new = try Store(at: folder.path + "/new")
    let numbers = new.collection("Number")
    #expect(try numbers.migrate(to: 2, convert).migrated == 0)
    #expect(try numbers.version() == 2)

    let report = try new.salvage(from: URL(filePath: folder.store))

    #expect(report.documentCounts == ["Number": 20] && report.unsaved.isEmpty)
    #expect(try numbers.version() == 1)
    #expect(try numbers.migrate(to: 2, convert).migrated == 20)
    #expect(try numbers.documents() == converted(20))
    try verifyAndClose(new)
  }

  @Test("documents of another version than those that a store has are not salvaged, and named")
  func salvagedBeside() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    _ = try store.numbers(20)
    _ = try store.collection("Other").save([["id": 1]], keyField: "id")
    try store.close()
    let new = try Store(at: folder.path + "/new")
    let numbers = new.collection("Number")
    try numbers.migrate(to: 2, convert)
    try new.repository(of: Number.self).save(Number(id: 100, text: 1, changes: 1))

    let report = try new.salvage(from: URL(filePath: folder.store))

    #expect(report.documentCounts == ["Other": 1])
    #expect(report.unsaved.mapValues(\.count) == ["Number": 20])
    #expect(try numbers.version() == 2)
    #expect(try numbers.documents() == [["id": 100, "text": 1, "changes": 1]])
    try verifyAndClose(new)
  }

  // MARK: Plain types

  @Test("a plain type is refused meanwhile, and saves documents of the new version afterwards")
  func plainType() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(20)
      let plain = store.repository(of: PlainNumber.self, collection: "Number")
      let stale = try #require(try stop(numbers, at: 17, batchCount: 10))
      #expect(stale.key == "17")
      let unfinished = StoreError.unfinishedMigration(collection: "Number", version: 2)
      #expect(throws: unfinished) { try plain.get(keys: [3]) }
      #expect(throws: unfinished) { try plain.save([PlainNumber(id: 3, text: 3, changes: 3)]) }

      try numbers.migrate(to: 2, convert)

      #expect(try plain.get(keys: [3]) == [PlainNumber(id: 3, text: 3, changes: 1)])
      try plain.save([
        PlainNumber(id: 3, text: 4, changes: 5),
        PlainNumber(id: 77, text: 1, changes: 2, more: "x"),
      ])
      #expect(try numbers.get(3) == ["id": 3, "text": 4, "changes": 5])
      #expect(try numbers.get(77) == ["id": 77, "text": 1, "changes": 2, "more": "x"])
      #expect(try plain.fetch(plain.where { $0.text == 1 }).map(\.id).sorted() == [1, 77])
      #expect(try store.check().isSound)
    }
  }

  // MARK: Progress

  @Test("progress never falls, counts what an earlier run did, and ends with everything")
  func progress() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(95)
      var news: [StoreProgress] = []
      #expect(try stop(numbers, at: 57, batchCount: 10) { news.append($0) } != nil)
      #expect(news.map(\.completed) == [10, 20, 30, 40, 50])

      try numbers.migrate(to: 2, batchCount: 10, progress: { news.append($0) }, convert)

      #expect(news.map(\.completed) == [10, 20, 30, 40, 50, 60, 70, 80, 90, 95])
      #expect(
        news.allSatisfy { $0.total == 95 && $0.subject == "Number" && $0.phase == .migrating })
      #expect(news.map { $0.fraction == 1 } == Array(repeating: false, count: 9) + [true])
      try numbers.migrate(to: 2, progress: { _ in throw Unexpected() }, convert)
    }
  }

  @Test("what is told of a batch is kept already, and what the listener throws ends it there")
  func listenerThrows() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(50)
      #expect(throws: Unexpected.self) {
        try numbers.migrate(to: 2, batchCount: 10) { news in
          let migrated = try numbers.documents().count { $0["changes"] == 1 }
          #expect(migrated == news.completed)
          if news.completed == 30 { throw Unexpected() }
        } _: {
          try convert(&$0)
        }
      }

      #expect(try numbers.documents().count { $0["changes"] == 1 } == 30)
      #expect(try numbers.migrate(to: 2, convert).migrated == 20)
    }
  }

  @Test("a task that is cancelled ends its migration between two batches")
  func cancelled() async throws {
    try await withTemporaryStore { store in
      let numbers = try store.numbers(3500)
      let task = Task {
        try await store.migrate(Number.self, to: 2) { _ in
          withUnsafeCurrentTask { $0?.cancel() }
        } _: {
          try convert(&$0)
        }
      }

      await #expect(throws: CancellationError.self) { try await task.value }

      #expect(try numbers.documents().count { $0["changes"] == 1 } == 1000)
      #expect(try await store.migrate(Number.self, to: 2, convert).migrated == 2500)
      #expect(try numbers.documents() == converted(3500))
    }
  }

  @Test("a reader sees every batch whole or not at all")
  func readers() async throws {
    try await withTemporaryStore { store in
      let numbers = try store.numbers(20_000)
      let isOver = Locked(false)
      let reader = Task.detached {
        var counts: Set<Int> = []
        while !isOver.withLock({ $0 }) {
          var migrated = 0
          // It is no sequence.
          // swift-format-ignore: ReplaceForEachWithForLoop
          try numbers.forEach { document in
            guard case .integer? = document["text"] else { return false }
            migrated += 1
            return true
          }
          counts.insert(migrated)
          // Tasks share few threads.
          await Task.yield()
        }
        return counts
      }

      try await store.migrate(Number.self, to: 2, convert)
      isOver.withLock { $0 = true }

      let counts = try await reader.value
      #expect(counts.allSatisfy { $0 % 1000 == 0 }, "\(counts.sorted())")
    }
  }
}

private struct PlainNumber: Codable, Identifiable, Sendable, Equatable {
  var id: Int
  var text: Int
  var changes: Int
  var more: String?
}
