import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Indexes that wait for room, beside what makes room for them.
@Suite(.timeLimit(.minutes(20))) struct WaitingIndexTests {
  private let folder = TestFolder()

  private func store(quota: Int? = nil, map: Int? = nil) throws -> Store {
    var options = StoreOptions(durability: .volatile)
    options.quotaByteCount = quota
    options.mapByteCount = map
    return try Store(at: folder.store, options: options)
  }

  private func accounts(_ numbers: Range<Int>) -> [Account] {
    numbers.map {
      Account(number: $0, balance: $0, text: "\($0) " + String(repeating: "x", count: 110))
    }
  }

  /// Saves until there is no room; returns how many.
  private func fill(_ store: Store) throws -> Int {
    var count = 0
    while true {
      do {
        try store.repository(of: Account.self).save(accounts(count..<count + 400))
        count += 400
      } catch StoreError.full { return count }
    }
  }

  /// Waits for the background, a step after the other.
  private func idle(_ store: Store) throws {
    for _ in 0..<200 { try store.settle() }
  }

  @Test("dropping a large index gives its room to the one that waits")
  func drop() throws {
    let store = try store(quota: 4 << 20)
    let repository = store.repository(of: Account.self)
    let collection = store.collection("Account")
    try repository.save(accounts(0..<8000))
    try collection.createIndex(on: "text")
    try collection.buildIndexes()
    _ = try fill(store)
    try repository.delete(keys: Array(0..<100))
    try collection.createIndex(on: "balance")
    try idle(store)
    let waiting = try #require(try collection.indexes().first { $0.name == "balance" })
    #expect(waiting.shortage?.limit == .quota)

    #expect(try collection.dropIndex("text"))
    try idle(store)

    #expect(try collection.indexes().map(\.state) == [.complete])
    try repository.save(accounts(500_000..<500_400))
    try verifyAndClose(store)
  }

  @Test("dropping an index that waits frees what it has taken")
  func giveUp() throws {
    let store = try store(quota: 4 << 20)
    let repository = store.repository(of: Account.self)
    let count = try fill(store)
    try repository.delete(keys: Array(0..<6000))
    try store.collection("Account").createIndex(on: "text")
    var next = count
    while (try? repository.save(accounts(next..<next + 100))) != nil { next += 100 }
    try idle(store)

    try store.collection("Account").dropIndex("text")
    try idle(store)

    #expect(!store.engine.catalogue.hasIndexWork)
    try verifyAndClose(store)
  }

  @Test("an index without room holds up no other, and its shortage is its own")
  func others() throws {
    let store = try store(quota: 4 << 20)
    try store.repository(of: Note.self).save(
      (0..<600).map { Note(id: "\($0)", nonce: "n\($0)", batchCount: 1) })
    _ = try fill(store)
    try store.repository(of: Account.self).delete(keys: Array(0..<600))
    try store.collection("Account").createIndex(on: "text")
    try idle(store)
    #expect(try store.collection("Account").indexes()[0].shortage != nil)

    try store.collection("Note").createIndex(on: "batchCount")
    try store.collection("Note").buildIndexes()

    #expect(try store.collection("Note").indexes().map(\.state) == [.complete])
    #expect(try store.collection("Note").indexes().map(\.shortage) == [nil])
    #expect(try store.collection("Account").indexes()[0].shortage != nil)
    try verifyAndClose(store)
  }

  @Test("asking for an index does not put off its building", arguments: [0, 12])
  func asking(_ times: Int) throws {
    let store = try store()
    let repository = store.repository(of: Account.self)
    let collection = store.collection("Account")
    try repository.save(accounts(0..<6000))
    let isFull = Locked(false)
    _ = CallFaults.watch(store.engine.environment.folder) { call in
      call == .commit && isFull.withLock { $0 } ? ENOSPC : nil
    }
    // In one turn, so that the disk is full before any of the index is built.
    try store.engine.writer.run {
      let account = try #require(store.engine.catalogue["Account"])
      let index = try DynamicLowering(collection: account)
        .index(on: ["text"], name: nil, unique: false, where: nil)
      try store.engine.declare(Declaration(of: index, in: account.description))
      isFull.withLock { $0 = true }
    }
    try idle(store)
    for _ in 0..<times { #expect(throws: StoreError.self) { try collection.buildIndexes() } }
    isFull.withLock { $0 = false }

    var commits = 0
    while commits < 1500, try collection.indexes()[0].state != .complete {
      try repository.save(Account(number: 1, balance: -commits - 1, text: ""))
      try store.settle()
      commits += 1
    }

    #expect(commits < 200)
    CallFaults.stopWatching(store.engine.environment.folder)
    try verifyAndClose(store)
  }

  @Test("an index that another process has made and dropped is emptied here")
  func unknownHandle() throws {
    let store = try store()
    try store.repository(of: Account.self).save(accounts(0..<100))
    try store.collection("Account").createIndex(on: "text")
    let engine = store.engine
    try engine.writer.run {
      _ = try engine.perform {
        try $0.changeIndexes(of: "Account") { _, _, record in
          IndexRecord(record.definition, .dropped)
        }
      }
      // As where nobody here has ever asked for its handle.
      _ = engine.environment.handles.withLock { $0.removeValue(forKey: Layout.indexName(1)) }
    }

    try idle(store)

    #expect(!engine.catalogue.hasIndexWork)
    try verifyAndClose(store)
  }

  @Test("a step in the background waits for no read to end before it takes a larger map")
  func reads() throws {
    let store = try store(quota: 64 << 20, map: 4 << 20)
    try store.repository(of: Note.self).save(Note(id: "a", nonce: "n", batchCount: 1))
    let before = try store.statistics().mapByteCount

    try store.read { _ in #expect(!store.engine.growMap(0)) }

    #expect(try store.statistics().mapByteCount == before)
    #expect(store.engine.growMap(0))
    try verifyAndClose(store)
  }

  @Test("collections that are refused for want of room leave a store that opens")
  func leftovers() throws {
    var options = StoreOptions(durability: .volatile)
    options.quotaByteCount = 1 << 20
    options.maximumDatabaseCount = 40
    do {
      let store = try Store(at: folder.store, options: options)
      _ = try fill(store)
      for number in 0..<60 {
        var document: DynamicDocument = ["id": .string("a")]
        for field in 0..<150 { document["field-of-tenant-\(number)-\(field)"] = .string("b") }
        // Refused, but for those that the log of changes makes room for.
        _ = try? store.collection("tenant\(number)").save([document], keyField: "id")
      }
      try store.close()
    }

    let store = try Store(at: folder.store, options: options)

    #expect(try store.repository(of: Account.self).eraseAllData() > 0)
    try verifyAndClose(store)
  }
}
