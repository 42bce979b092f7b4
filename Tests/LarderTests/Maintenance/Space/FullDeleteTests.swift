import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite("deleting where there is no room for what is deleted")
struct FullDeleteTests {
  private let folder = TestFolder()

  /// A store whose file cannot grow, filled up; the numbers of its accounts count up from zero.
  private func full() throws -> (store: Store, count: Int) {
    var options = StoreOptions()
    options.mapByteCount = 6 << 20
    options.reserveByteCount = 384 << 10
    let store = try Store(at: folder.store, options: options)
    let accounts = store.repository(of: Account.self)
    var count = 0
    while true {
      let text = String(repeating: "x", count: 1200)
      do {
        try accounts.save((count..<count + 20).map { Account(number: $0, balance: 0, text: text) })
        count += 20
      } catch StoreError.full {
        return (store, count)
      }
    }
  }

  @Test("a quarter of a full store goes in one transaction, and live queries show the rest")
  func query() async throws {
    let (store, count) = try full()
    let accounts = store.repository(of: Account.self)
    let gone = count / 4
    var rows = accounts.values(of: Account.where { $0.balance == 0 }).makeAsyncIterator()
    #expect(try await rows.next()?.count == count)

    #expect(try await accounts.delete(Account.where { $0.number < gone }) == gone)

    #expect(try await rows.next()?.map(\.number) == Array(gone..<count))
    #expect(try accounts.fetch(Account.all).map(\.number) == Array(gone..<count))
    try await accounts.save(Account(number: -1, balance: 0))
    try verifyAndClose(store)
  }

  #if os(Linux)
    @Test("a write without disk for a reserve is kept although the store is closed meanwhile")
    func closing() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let text = String(repeating: "x", count: 1000)
        let first = try Store(at: folder.store)
        try first.repository(of: Account.self).save(
          (0..<8000).map { Account(number: $0, balance: 0, text: text) })
        try first.close()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        // Less than the sixteenth of it that would be kept: enough for what deletes.
        limit.rlim_cur = rlim_t(try contents(of: folder.data).count + 256 << 10)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)

        let store = try Store(at: folder.store)
        let environment = store.engine.environment
        let closing = try store.write { tx in
          let deleted = try tx.delete(Account.self, keys: [0])
          #expect(deleted == 1)
          let closing = OnThread { try store.close(timeout: .seconds(300)) }
          while (try? environment.mapByteCount()) != nil { usleep(1000) }
          return closing
        }

        try closing.value()
        let again = try Store(at: folder.store)
        #expect(try again.repository(of: Account.self).count() == 7999)
        try again.close()
      }
    }
  #endif

  @Test("a consumer hears of each document by its key, and not what it was like")
  func consumer() async throws {
    let (store, count) = try full()
    let accounts = store.repository(of: Account.self)
    var changes = store.changes(for: "counting").makeAsyncIterator()
    let first = try #require(try await changes.next())
    try await store.write { try $0.acknowledge(first) }
    let gone = count / 4

    let deleted = try await store.write { tx in
      try tx.delete(Account.self, keys: Array(0..<gone))
    }
    #expect(deleted == gone)

    var keys: [Value] = []
    while keys.count < gone {
      let batch = try #require(try await changes.next())
      #expect(!batch.isReset)
      for change in batch.changes {
        #expect(change.kind == .deleted && change.old == nil)
        keys.append(change.key)
      }
      try await store.write { try $0.acknowledge(batch) }
    }
    #expect(keys == (0..<gone).map { .integer(Int64($0)) })

    // Where there is room the log has the document, too.
    try await accounts.delete(keys: [gone])
    let last = try #require(try await changes.next())
    #expect(last.changes.map(\.kind) == [.deleted])
    #expect(last.changes.first?.old?["number"] == .integer(Int64(gone)))
    try store.close()
  }

  @Test(
    "a deletion of much goes through also beside other writes that wait", arguments: [true, false])
  func beside(isTask: Bool) async throws {
    var options = StoreOptions()
    options.quotaByteCount = 4 << 20
    options.reserveByteCount = 64 << 10
    let store = try Store(at: folder.store, options: options)
    let accounts = store.repository(of: Account.self)
    var count = 0
    func saveMore() throws -> Int {
      let text = String(repeating: "x", count: 900)
      try accounts.save(
        (count..<count + 100).map { Account(number: $0, balance: $0 % 2, text: text) })
      return 100
    }
    do { while true { count += try saveMore() } } catch StoreError.full {}
    let first = Locked<Task<Int, any Error>?>(nil)
    let even = Locked<Task<Int, any Error>?>(nil)
    var thread: OnThread<Int>?
    try await together(store) { wait in
      first.withLock { $0 = Task { try await accounts.delete(keys: [1]) } }
      await wait(1)
      if isTask {
        even.withLock { $0 = Task { try await accounts.delete(Account.where { $0.balance == 0 }) } }
      } else {
        thread = OnThread { try accounts.delete(Account.where { $0.balance == 0 }) }
      }
      await wait(2)
    }

    #expect(try await first.withLock { $0 }?.value == 1)
    let deleted = try await isTask ? even.withLock { $0 }?.value : thread?.value()
    #expect(deleted == count / 2)
    #expect(try accounts.count() == count / 2 - 1)
    try verifyAndClose(store)
  }

  @Test("a write that also saves is refused as before, and keeps nothing")
  func saving() throws {
    let (store, count) = try full()
    var runs = 0

    #expect(throws: StoreError.self) {
      try store.write { tx in
        runs += 1
        try tx.save(Account(number: -1, balance: 0))
        try tx.delete(Account.where { $0.number < count / 4 })
      }
    }

    #expect(runs == 1)
    #expect(try store.repository(of: Account.self).count() == count)
    try store.close()
  }
}
