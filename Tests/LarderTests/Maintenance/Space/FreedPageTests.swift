import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

/// What deleting gives back: LMDB has pages of documents, and only whole ones are free again.
@Suite struct FreedPageTests {
  private let folder = TestFolder()

  /// A store with 10,000 small documents whose numbers count up from zero, without a log.
  private func filled() throws -> Store {
    let store = try Store(at: folder.store, options: StoreOptions(durability: .volatile))
    let accounts = store.repository(of: Account.self)
    try accounts.save(Account(number: 0, balance: 0))
    try store.collection("Account").setChangeLog(false)
    let text = String(repeating: "x", count: 60)
    for start in stride(from: 0, to: 10_000, by: 1_000) {
      try accounts.save(
        (start..<start + 1_000).map { Account(number: $0, balance: 0, text: text) })
    }
    return store
  }

  /// Bytes of the pages that hold documents.
  private func byteCount(_ store: Store) throws -> Double {
    let statistics = try store.statistics()
    return Double(statistics.collections.first { $0.name == "Account" }?.byteCount ?? 0)
  }

  @Test("documents that are deleted side by side give their pages back")
  func sideBySide() throws {
    let store = try filled()
    let before = try byteCount(store)

    try store.repository(of: Account.self).delete(keys: Array(2_000..<8_000))

    #expect(try byteCount(store) < 0.45 * before)
    try verifyAndClose(store)
  }

  @Test("documents deleted here and there give hardly any back until the store is compacted")
  func hereAndThere() async throws {
    let store = try filled()
    let accounts = store.repository(of: Account.self)
    let before = try byteCount(store)

    try await accounts.delete(keys: (0..<10_000).filter { $0 % 3 != 0 })
    let deleted = try byteCount(store)
    let copy = URL(filePath: folder.path + "/copy")
    try await store.backup(to: copy)
    let backup = try Store(at: copy, options: StoreOptions(isReadOnly: true))
    let copied = try byteCount(backup)
    try await store.compact(timeout: .seconds(600))
    let compacted = try byteCount(store)
    let accountsOfBackup = try backup.repository(of: Account.self).fetch(Account.all)
    #expect(try accounts.fetch(Account.all) == accountsOfBackup)
    try backup.close()
    // Saved anew in the order of their keys they take the room that they need.
    let anew = try Store(at: folder.path + "/anew", options: StoreOptions(durability: .volatile))
    try await anew.repository(of: Account.self).save(accountsOfBackup)
    let saved = try byteCount(anew)
    try anew.close()
    try await accounts.delete(keys: (0..<10_000).filter { $0 % 30 != 0 })
    let nearlyAll = try byteCount(store)

    #expect(deleted > 0.9 * before)
    #expect(copied > 0.9 * before)
    #expect(compacted < 0.45 * before)
    #expect(saved < 0.45 * before)
    #expect(nearlyAll < 0.3 * before)
    // What comes where there is room needs no page.
    try await accounts.save(
      (0..<200).map { Account(number: $0 * 50 + 1, balance: 0, text: "between") })
    #expect(try byteCount(store) <= 1.1 * nearlyAll)
    try verifyAndClose(store)
  }
}
