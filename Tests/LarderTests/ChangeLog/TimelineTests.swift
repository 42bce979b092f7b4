import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Numbers that are given twice, as after a restoration, are told apart.
@Suite struct TimelineTests {
  private let folder = TestFolder()
  private var backup: String { folder.path + "/backup" }

  private func acknowledgeOne(_ store: Store, _ name: String = "index") async throws -> ChangeBatch
  {
    var changes = store.changes(for: name).makeAsyncIterator()
    let batch = try #require(try await changes.next())
    try await store.write { try $0.acknowledge(batch) }
    return batch
  }

  @Test("after a restoration consumers and tokens begin with a reset")
  func restored() async throws {
    var store = try Store(at: folder.store)
    try await store.repository(of: Parcel.self).save((0..<10).map { Parcel(id: $0) })
    #expect(try await acknowledgeOne(store).isReset)
    try store.backup(to: backup)
    try await store.repository(of: Parcel.self).save((10..<20).map { Parcel(id: $0) })
    let token = try store.changeToken()
    try store.close()

    try Store.restore(from: backup, to: folder.store)

    store = try Store(at: folder.store)
    try await store.repository(of: Parcel.self).save((100..<160).map { Parcel(id: $0) })
    #expect(try store.history(since: token).isReset)
    #expect(try await acknowledgeOne(store).isReset)
    try await store.repository(of: Parcel.self).save(Parcel(id: 7, shelf: 7))
    #expect(try await acknowledgeOne(store).changes.count == 1)
    try verifyAndClose(store)
  }

  @Test("a backup that is opened beside its original does not take the original's tokens")
  func besideOriginal() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Parcel.self).save((0..<10).map { Parcel(id: $0) })
    try store.backup(to: backup)
    try store.repository(of: Parcel.self).save((10..<20).map { Parcel(id: $0) })
    let token = try store.changeToken()

    let copy = try Store(at: backup)
    try copy.repository(of: Parcel.self).save((100..<120).map { Parcel(id: $0) })

    #expect(try copy.history(since: token).isReset)
    #expect(try !store.history(since: token).isReset)
    try verifyAndClose(copy)
    try verifyAndClose(store)
  }

  @Test("compacting a store does not end its tokens and consumers")
  func compacted() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: Parcel.self).save((0..<10).map { Parcel(id: $0) })
    #expect(try await acknowledgeOne(store).isReset)
    let token = try store.changeToken()

    try await store.compact(timeout: .seconds(600))

    try await store.repository(of: Parcel.self).save(Parcel(id: 11))
    #expect(try store.history(since: token).changes.count == 1)
    #expect(try await acknowledgeOne(store).changes.count == 1)
    try verifyAndClose(store)
  }

  /// Opens a store as after another start of the system.
  private func reboot(_ options: StoreOptions) throws -> Store {
    let store = try Store(at: folder.store, options: options)
    store.engine.boot.withLock { $0 += 1 }
    return store
  }

  @Test("a loss of power that undoes commits ends the tokens and consumers that have seen them")
  func undone() async throws {
    let options = StoreOptions(durability: .recentCommitsMayBeLost)
    // The first opening that writes so, of a store that was durable before.
    var store = try Store(at: folder.store)
    try await store.repository(of: Parcel.self).save((0..<10).map { Parcel(id: $0) })
    #expect(try await acknowledgeOne(store).isReset)
    try store.close()
    store = try Store(at: folder.store, options: options)
    // What a commit leaves on the disk before it gives the first number.
    try await store.write { $0.hasWrittenMore = true }
    let survivor = try contents(of: folder.data)
    try await store.repository(of: Parcel.self).save((10..<20).map { Parcel(id: $0) })
    let token = try store.changeToken()
    try store.close()
    try replaceContents(of: folder.data, by: survivor)

    store = try reboot(options)

    #expect(try store.history(since: token).isReset)
    try await store.repository(of: Parcel.self).save((100..<160).map { Parcel(id: $0) })
    #expect(try store.changeToken().sequence > token.sequence)
    #expect(try store.history(since: token).isReset)
    #expect(try await acknowledgeOne(store).isReset)
    try verifyAndClose(store)
  }

  @Test("tokens go on after another start of the system where every commit was durable")
  func durable() async throws {
    var store = try Store(at: folder.store)
    try await store.repository(of: Parcel.self).save((0..<10).map { Parcel(id: $0) })
    let token = try store.changeToken()
    try store.close()

    store = try reboot(StoreOptions())

    try await store.repository(of: Parcel.self).save(Parcel(id: 11))
    #expect(try store.history(since: token).changes.count == 1)
    try verifyAndClose(store)
  }

  @Test("without another start of the system a store that is not durable keeps its timeline")
  func sameBoot() async throws {
    let options = StoreOptions(durability: .recentCommitsMayBeLost)
    var store = try Store(at: folder.store, options: options)
    try await store.repository(of: Parcel.self).save((0..<10).map { Parcel(id: $0) })
    let token = try store.changeToken()
    for durability in [StoreOptions.Durability.durable, .recentCommitsMayBeLost] {
      try store.close()
      store = try Store(at: folder.store, options: StoreOptions(durability: durability))
      try await store.repository(of: Parcel.self).save(Parcel(id: 11, shelf: 1))
      try await store.repository(of: Parcel.self).save(Parcel(id: 11, shelf: 2))
      #expect(try store.changeToken().timeline == token.timeline)
    }
    #expect(try store.history(since: token).changes.count == 4)
    try verifyAndClose(store)
  }
}
