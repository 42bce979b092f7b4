import Foundation
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
