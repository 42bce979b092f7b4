import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// How large the log of changes becomes, and who has to make room.
@Suite struct ChangeLogSpaceTests {
  private let folder = TestFolder()

  private func logByteCount(_ store: Store) throws -> Int {
    try store.statistics().logByteCount
  }

  @Test("after commits of any size the log is no larger than its limit and one commit")
  func largeCommits() throws {
    var options = StoreOptions(durability: .volatile)
    options.changeLog.maximumByteCount = 256 << 10
    let store = try Store(at: folder.store, options: options)
    let parcels = store.repository(of: Parcel.self)
    var largest = 0
    var one = 0
    for round in 0..<30 {
      let note = String(repeating: "note ", count: 40)
      try parcels.save((0..<10_000).map { Parcel(id: $0, shelf: round, note: note) })
      let byteCount = try logByteCount(store)
      // The first round inserts; those behind it log the records of before.
      if round == 1 { one = byteCount }
      largest = max(largest, byteCount)
    }

    #expect(one > options.changeLog.maximumByteCount)
    #expect(largest <= options.changeLog.maximumByteCount + one * 3 / 2)
    try store.close()
  }

  /// Has a consumer acknowledge what there is, so that the log is kept for it from here on.
  private func beginConsumer(_ name: String, of store: Store) async throws {
    var changes = store.changes(for: name).makeAsyncIterator()
    let batch = try #require(try await changes.next())
    try await store.write { try $0.acknowledge(batch) }
  }

  /// Saves batches of documents with long texts under keys that come again.
  private func churn(_ store: Store, rounds: Int) throws -> Int {
    var refused = 0
    for round in 0..<rounds {
      do {
        try store.repository(of: Parcel.self).save(
          (0..<200).map { Parcel(id: $0, note: String(repeating: "\(round % 10)", count: 2_000)) })
      } catch StoreError.full {
        refused += 1
      }
    }
    return refused
  }

  @Test("a consumer that is never used again does not fill a store with a quota")
  func abandoned() async throws {
    var options = StoreOptions(durability: .volatile)
    options.quotaByteCount = 4 << 20
    let store = try Store(at: folder.store, options: options)
    _ = try churn(store, rounds: 1)
    try await beginConsumer("version 1", of: store)

    #expect(try churn(store, rounds: 30) == 0)

    var changes = store.changes(for: "version 1").makeAsyncIterator()
    #expect(try await changes.next()?.isReset == true)
    try store.close()
  }

  @Test(
    "a consumer that is too far behind in bytes or in time is not waited for",
    arguments: [true, false])
  func tooFarBehind(inBytes: Bool) async throws {
    var options = StoreOptions(durability: .volatile)
    options.changeLog.maximumByteCount = 64 << 10
    options.changeLog.maximumAge = .zero
    if inBytes {
      options.changeLog.maximumConsumerByteCount = 2 << 20
    } else {
      options.changeLog.maximumConsumerAge = .zero
    }
    let store = try Store(at: folder.store, options: options)
    _ = try churn(store, rounds: 1)
    try await beginConsumer("away", of: store)

    _ = try churn(store, rounds: 20)

    #expect(try logByteCount(store) < 4 << 20)
    var changes = store.changes(for: "away").makeAsyncIterator()
    #expect(try await changes.next()?.isReset == true)
    try store.close()
  }

  @Test("a log without a limit in bytes lets go of what is too old")
  func noLimit() throws {
    var options = StoreOptions(durability: .volatile)
    let store = try Store(at: folder.store, options: options)
    _ = try churn(store, rounds: 4)
    try store.close()
    options.changeLog = ChangeLogRetention(maximumByteCount: .max, maximumAge: .zero)
    options.changeLog.maximumConsumerByteCount = .max
    let again = try Store(at: folder.store, options: options)
    let before = try logByteCount(again)

    try again.repository(of: Parcel.self).save(Parcel(id: 0, note: "new"))

    #expect(try logByteCount(again) < before)
    try verifyAndClose(again)
  }

  @Test("a limit of the log that is below zero is refused with its name")
  func wrongLimits() {
    func refused(_ change: (inout ChangeLogRetention) -> Void) -> String? {
      var options = StoreOptions()
      change(&options.changeLog)
      let error = storeError { _ = try Store(at: folder.store, options: options) }
      if case .invalidOption(let name, _)? = error { return name }
      return nil
    }
    #expect(refused { $0.maximumByteCount = -1 } == "changeLog.maximumByteCount")
    #expect(refused { $0.maximumAge = .seconds(-1) } == "changeLog.maximumAge")
    #expect(refused { $0.maximumConsumerByteCount = .min } == "changeLog.maximumConsumerByteCount")
    #expect(
      refused { $0.maximumConsumerAge = .milliseconds(-1) } == "changeLog.maximumConsumerAge")
  }

  @Test("what a consumer kept in the log goes in the background once it is forgotten")
  func background() async throws {
    var options = StoreOptions(durability: .volatile)
    options.changeLog.maximumByteCount = 64 << 10
    let store = try Store(at: folder.store, options: options)
    _ = try churn(store, rounds: 1)
    try await beginConsumer("away", of: store)
    _ = try churn(store, rounds: 30)
    #expect(try logByteCount(store) > 8 << 20)

    #expect(try await store.removeConsumer("away"))

    let isSmall = try await eventually { try logByteCount(store) < 1 << 20 }
    #expect(isSmall)
    try store.close()
  }

  @Test("deleting everything makes room, whoever has not acknowledged it")
  func deleting() async throws {
    var options = StoreOptions(durability: .volatile)
    options.quotaByteCount = 4 << 20
    let store = try Store(at: folder.store, options: options)
    let parcels = store.repository(of: Parcel.self)
    try await beginConsumer("away", of: store)
    let note = String(repeating: "x", count: 2_000)
    var count = 0
    while (try? await parcels.save(Parcel(id: count, note: note))) != nil { count += 1 }
    for id in 0..<count { try await parcels.delete(keys: [id]) }

    for id in 0..<count / 2 { try await parcels.save(Parcel(id: id, note: note)) }

    #expect(try parcels.count() == count / 2)
    try verifyAndClose(store)
  }

  @Test("an error of a disk without room names the log and the consumer that keeps it")
  func shortage() {
    let shortage = Shortage(
      path: "/s", limit: .disk, usedByteCount: 1000, freeByteCount: 0, neededByteCount: nil,
      logByteCount: 800, waitingConsumer: "version 1")
    #expect("\(shortage)".contains("800 bytes"))
    #expect("\(shortage)".contains("the consumer `version 1`"))
  }
}
