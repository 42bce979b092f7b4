import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Indexes that are built, declared and dropped in a store that has no room for them.
@Suite(.timeLimit(.minutes(20))) struct FullIndexTests {
  private let folder = TestFolder()

  private func options(quota: Int? = nil, map: Int? = nil) -> StoreOptions {
    var options = StoreOptions()
    options.quotaByteCount = quota
    options.mapByteCount = map
    return options
  }

  private func accounts(_ numbers: Range<Int>) -> [Account] {
    numbers.map {
      let digits = String($0 + 1_000_000)
      return Account(
        number: $0, balance: $0, text: digits + "-" + digits + String(repeating: "x", count: 100))
    }
  }

  /// Saves until the store is full, or its file has so many bytes; returns how many documents.
  private func fill(_ store: Store, upTo byteCount: Int = .max) throws -> Int {
    var count = 0
    while try byteCount == .max || store.statistics().fileByteCount < byteCount {
      do {
        try store.repository(of: Account.self).save(accounts(count..<count + 400))
        count += 400
      } catch StoreError.full {
        break
      }
    }
    return count
  }

  private func states(_ store: Store) throws -> [IndexDescription.State] {
    try store.collection("Account").indexes().map(\.state)
  }

  /// Waits in the writer's line behind steps of the background, as often as there are some.
  private func waitForIndexes(_ store: Store) throws {
    for _ in 0..<1000 where try states(store).contains(.building) {
      try store.settle()
    }
  }

  @Test("indexes take nothing above the quota; they wait for room, and buildIndexes() says so")
  func quota() throws {
    let store = try Store(at: folder.store, options: options(quota: 4 << 20))
    _ = try fill(store)
    let collection = store.collection("Account")

    for field in ["text", "balance"] {
      do {
        try collection.createIndex(on: [DynamicIndexPart(FieldPath(field: field))])
      } catch StoreError.full {
        continue
      }
      guard case .full(let shortage)? = storeError({ try collection.buildIndexes() }) else {
        Issue.record("it was built")
        continue
      }
      #expect(shortage.limit == .quota)
      #expect("\(shortage)".contains("dropIndex"))
    }

    #expect(try store.statistics().usedByteCount <= 4 << 20)
    #expect(try states(store).first == .building)
    try verifyAndClose(store)
  }

  @Test("every document of a full map can be deleted although an index was begun on it")
  func deletes() throws {
    let store = try Store(at: folder.store, options: options(map: 4 << 20))
    store.engine.environment.patience.withLock { $0.drainSeconds = .infinity }
    let count = try fill(store)
    let collection = store.collection("Account")
    for field in ["text", "balance"] {
      // Refused where there is no room even for its description.
      _ = try? collection.createIndex(on: [DynamicIndexPart(FieldPath(field: field))])
      #expect(throws: StoreError.self) { try collection.buildIndexes() }
    }

    for start in stride(from: 0, to: count, by: 100) {
      let deleted = try store.repository(of: Account.self).delete(
        keys: Array(start..<start + 100))
      #expect(deleted == 100)
    }

    try waitForIndexes(store)
    #expect(try states(store).allSatisfy { $0 == .complete })
    try verifyAndClose(store)
  }

  @Test("documents of a full map can be deleted while the background reads entries for an index")
  func deletesBesideReading() throws {
    let store = try Store(at: folder.store, options: options(map: 4 << 20))
    store.engine.environment.patience.withLock { $0.drainSeconds = .infinity }
    let count = try fill(store)
    let accounts = store.repository(of: Account.self)
    let isReading = DispatchSemaphore(value: 0)
    let reading = OnThread {
      // As the background does. What is freed meanwhile is not free before its end.
      try store.engine.indexReading.withLock { _ in
        try store.read { snapshot in
          _ = try snapshot.count(Account.all)
          isReading.signal()
          usleep(300_000)
        }
      }
    }
    isReading.wait()

    for start in stride(from: 0, to: count, by: 100) {
      #expect(try accounts.delete(keys: Array(start..<start + 100)) == 100)
    }

    try reading.value()
    try verifyAndClose(store)
  }

  @Test("a map that may grow does so for an index")
  func growth() throws {
    let store = try Store(at: folder.store, options: options(quota: 64 << 20, map: 4 << 20))
    store.engine.environment.patience.withLock { $0.drainSeconds = .infinity }
    let count = try fill(store, upTo: 7 << 19)
    #expect(try store.statistics().mapByteCount == 4 << 20)
    let collection = store.collection("Account")

    try collection.createIndex(on: "text")
    try waitForIndexes(store)
    try collection.createIndex(on: "balance")
    try collection.buildIndexes()

    #expect(try store.statistics().mapByteCount > 4 << 20)
    #expect(try states(store) == [.complete, .complete])
    #expect(try collection.indexes().map(\.entryCount) == [count, count])
    try verifyAndClose(store)
  }

  @Test("a map that cannot grow while somebody reads is said to be full")
  func growthInsideRead() throws {
    let store = try Store(at: folder.store, options: options(quota: 64 << 20, map: 4 << 20))
    _ = try fill(store, upTo: 15 << 18)
    let collection = store.collection("Account")

    try store.read { _ in
      try collection.createIndex(on: "text")
      guard case .full(let shortage)? = storeError({ try collection.buildIndexes() }) else {
        Issue.record("it was built")
        return
      }
      #expect(shortage.limit == .map)
    }

    try collection.buildIndexes()
    #expect(try states(store) == [.complete])
    try verifyAndClose(store)
  }

  @Test("an index that found no room goes on by itself once documents have gone")
  func goesOn() throws {
    let store = try Store(at: folder.store, options: options(quota: 4 << 20))
    let count = try fill(store)
    let collection = store.collection("Account")
    try store.repository(of: Account.self).delete(keys: Array(0..<100))
    try collection.createIndex(on: "text")
    #expect(throws: StoreError.self) { try collection.buildIndexes() }

    try store.repository(of: Account.self).delete(Account.where { $0.number < count / 2 })
    try waitForIndexes(store)

    #expect(try states(store) == [.complete])
    try verifyAndClose(store)
  }

  @Test("what the index of a small collection finds no room for is built later, and is no error")
  func small() throws {
    let store = try Store(at: folder.store, options: options(quota: 256 << 10))
    let notes = store.repository(of: Note.self)
    try notes.save((0..<300).map { Note(id: "\($0)", nonce: "n\($0)", batchCount: 1) })
    _ = try fill(store)
    let accounts = try store.repository(of: Account.self).count()
    try store.repository(of: Account.self).delete(keys: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])

    for field in ["nonce", "batchCount"] {
      do {
        try store.collection("Note").createIndex(on: [DynamicIndexPart(FieldPath(field: field))])
      } catch StoreError.full {
        // Where there is no room for its description either.
      }
    }

    #expect(try store.statistics().usedByteCount <= 256 << 10)
    try store.repository(of: Account.self).delete(keys: Array(0..<accounts))
    try store.collection("Note").createIndex(on: "nonce")
    try store.collection("Note").buildIndexes()
    #expect(try store.collection("Note").indexes().allSatisfy { $0.state == .complete })
    try verifyAndClose(store)
  }

  @Test("an index that waits for room says so to the log and in its description, and does not spin")
  func visible() throws {
    let events = Locked<[LogEvent]>([])
    var options = options(quota: 4 << 20)
    options.log = { event in events.withLock { $0.append(event) } }
    let store = try Store(at: folder.store, options: options)
    _ = try fill(store)
    let repository = store.repository(of: Account.self)
    try repository.delete(keys: Array(0..<100))
    let collection = store.collection("Account")

    try collection.createIndex(on: "text")
    try store.settle()
    for round in 0..<20 { try repository.save(Account(number: 200, balance: round, text: "")) }
    try store.settle()

    #expect(try collection.indexes().map { $0.shortage?.limit } == [.quota])
    let told = events.withLock { $0 }.filter { $0.message == "an index waits for room" }
    #expect(told.count == 1)
    #expect(told.first?.metadata["index"] == "text")
    #expect(store.engine.writer.waitingCount == 0)
    try repository.eraseAllData()
    try waitForIndexes(store)
    #expect(try collection.indexes().map { $0.shortage } == [nil])
    try verifyAndClose(store)
  }

  @Test("search indexes are merged while another index waits for room, which is not tried again")
  func merging() async throws {
    let store = try Store(at: folder.store, options: options(quota: 4 << 20))
    let notes = store.collection("Note")
    try notes.save([["id": "a", "text": "some words"]], keyField: "id")
    try notes.createSearchIndex(on: ["text"])
    _ = try fill(store)
    try await store.repository(of: Account.self).delete(keys: Array(0..<100))
    try store.collection("Account").createIndex(on: "text")
    try store.settle()
    #expect(try store.collection("Account").indexes().map { $0.shortage?.limit } == [.quota])
    let engine = store.engine

    engine.indexWork.withLock { $0.searchesToMerge = engine.catalogue.searchNumbers }
    engine.scheduleIndexWork()

    #expect(try await eventually { engine.indexWork.withLock(\.searchesToMerge).isEmpty })
    try store.settle()
    #expect(!engine.indexWork.withLock(\.isScheduled))
    try verifyAndClose(store)
  }

  @Test("an index can be dropped where nothing else has room, and what it took is free again")
  func dropped() throws {
    let store = try Store(at: folder.store, options: options(quota: 4 << 20))
    let repository = store.repository(of: Account.self)
    try repository.save(accounts(0..<8000))
    let collection = store.collection("Account")
    try collection.createIndex(on: "text")
    try collection.buildIndexes()
    let count = try fill(store)
    let before = try store.statistics().usedByteCount

    #expect(try collection.dropIndex("text"))
    try store.engine.writer.run { while try store.engine.workOnIndex() {} }

    #expect(try store.statistics().usedByteCount < before)
    try repository.save(accounts(count + 10_000..<count + 10_100))
    try verifyAndClose(store)
  }

  @Test("a store that is full opens, with an index that is not finished")
  func opened() throws {
    let first = try Store(at: folder.store, options: options(map: 4 << 20))
    _ = try fill(first)
    try first.repository(of: Account.self).delete(keys: Array(0..<100))
    try first.collection("Account").createIndex(on: "text")
    #expect(throws: StoreError.self) { try first.collection("Account").buildIndexes() }
    try first.close()

    let store = try Store(at: folder.store, options: options(map: 16 << 20))
    try waitForIndexes(store)

    #expect(try states(store) == [.complete])
    try verifyAndClose(store)
  }
}
