import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Who may consume under a name, and for how long nobody else may.
@Suite(.timeLimit(.minutes(20))) struct ConsumerLeaseTests {
  private typealias Changes = WatchSequence<ChangeBatch>.AsyncIterator
  private let folder = TestFolder()

  /// An iteration that does not wait for another one.
  private func begin(_ store: Store) -> Changes {
    store.changes(for: "index", busyTimeout: .seconds(0)).makeAsyncIterator()
  }

  /// Stops the clock of leases: on a slow machine they would end meanwhile.
  private static func stopClock(of store: Store, at seconds: Double = 1_000_000) {
    store.engine.leaseClock.use { seconds }
  }

  private func isBusy(_ store: Store) async throws -> Bool {
    var changes = begin(store)
    do {
      _ = try await changes.next()
      return false
    } catch StoreError.consumerBusy(name: "index", _) {
      return true
    }
  }

  @Test("the name of a consumer is free as soon as its process is killed, and not before")
  func killed() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: Parcel.self).save(Parcel(id: 1))
    let other = try OtherProcess("consume", folder.store, "index")
    _ = try other.expect("consuming")
    let until = try await store.write { tx in
      let consumers = tx.consumers
      return try tx.transaction.consumer("index", in: try #require(consumers))?.until
    }
    Self.stopClock(of: store, at: try #require(until) - 1)
    #expect(try await isBusy(store))

    other.kill()

    #expect(try await !isBusy(store))
    try verifyAndClose(store)
  }

  @Test(
    "an iteration waits for a busy name as long as it was told to, without end too",
    arguments: [nil, Duration.seconds(Int64.max), .zero, .seconds(-1)])
  func busyTimeout(_ timeout: Duration?) async throws {
    let store = try Store(at: folder.store)
    let askedCount = Locked(0)
    store.engine.leaseClock.use {
      askedCount.withLock { $0 += 1 }
      return 1_000_000
    }
    var changes = begin(store)
    #expect(try await changes.next()?.isReset == true)

    askedCount.withLock { $0 = 0 }
    let waiting = Task {
      for try await _ in store.changes(for: "index", busyTimeout: timeout) { return true }
      return false
    }
    if timeout.map({ $0 > .zero }) ?? true {
      // Each time that it asks it looks at the clock.
      #expect(try await eventually { askedCount.withLock { $0 } >= 3 })
      waiting.cancel()
      #expect(try await waiting.value == false)
    } else {
      // A negative one is no time.
      await #expect(throws: StoreError.self) { try await waiting.value }
    }
    #expect(try await isBusy(store))
    try store.close()
  }

  @Test("closing a store gives its consumers back, whoever still holds an iteration")
  func closed() async throws {
    var store = try Store(at: folder.store)
    Self.stopClock(of: store)
    try await store.repository(of: Parcel.self).save(Parcel(id: 1))
    var changes = begin(store)
    #expect(try await changes.next()?.isReset == true)
    try store.close()

    store = try Store(at: folder.store)
    Self.stopClock(of: store)
    #expect(try await !isBusy(store))

    // Where another store keeps the file open, too.
    let second = try Store(at: folder.store)
    var held = begin(second)
    #expect(try await held.next()?.isReset == true)
    #expect(try await isBusy(store))
    try second.close()
    #expect(try await !isBusy(store))
    withExtendedLifetime((changes, held)) {}
    try verifyAndClose(store)
  }

  @Test("an iteration that comes too early waits for the other one to end")
  func waiting() async throws {
    try await withTemporaryStore { store in
      Self.stopClock(of: store)
      try await store.repository(of: Parcel.self).save(Parcel(id: 1))
      var first: Changes? = begin(store)
      #expect(try await first?.next()?.isReset == true)
      let isOver = Flag()
      let second = Task {
        var changes = store.changes(for: "index", busyTimeout: .seconds(600)).makeAsyncIterator()
        let batch = try await changes.next()
        isOver.set()
        return batch
      }
      // Commits wake it, and do not make it give up.
      for id in 2..<20 {
        try await store.repository(of: Parcel.self).save(Parcel(id: id))
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(!isOver.isSet)

      first = nil

      #expect(try await second.value?.isReset == true)
    }
  }

  @Test(
    "an iteration that waits for changes keeps its name in its process, however long that takes")
  func idle() async throws {
    try await withTemporaryStore { store in
      Self.stopClock(of: store)
      try await store.repository(of: Parcel.self).save(Parcel(id: 1))
      let isReset = Flag()
      let waiting = Task {
        var changes = store.changes(for: "index", busyTimeout: .zero).makeAsyncIterator()
        let first = try await changes.next()
        #expect(first?.isReset == true)
        if let first { try await store.write { try $0.acknowledge(first) } }
        isReset.set()
        return try await changes.next()
      }
      while !isReset.isSet { try await Task.sleep(for: .milliseconds(1)) }
      let holders = store.engine.consumerHolders
      while !holders.isAnyWaiting { try await Task.sleep(for: .milliseconds(1)) }
      Self.stopClock(of: store, at: 2_000_000)

      #expect(try await isBusy(store))

      try await store.repository(of: Parcel.self).save(Parcel(id: 2))
      #expect(try await waiting.value?.changes.count == 1)
      #expect(try await !isBusy(store))
    }
  }

  @Test("an iteration whose task was cancelled while it waited does not keep the name for ever")
  func cancelledWhileIdle() async throws {
    try await withTemporaryStore { store in
      Self.stopClock(of: store)
      let (isOver, mayEnd) = (Flag(), Flag())
      let waiting = Task {
        var changes = begin(store)
        while try await changes.next() != nil {}
        isOver.set()
        while !mayEnd.isSet { await Task.yield() }
        withExtendedLifetime(changes) {}
      }
      let holders = store.engine.consumerHolders
      while !holders.isAnyWaiting { try await Task.sleep(for: .milliseconds(1)) }
      waiting.cancel()
      while !isOver.isSet { try await Task.sleep(for: .milliseconds(1)) }
      Self.stopClock(of: store, at: 2_000_000)
      #expect(try await !isBusy(store))
      mayEnd.set()
      try await waiting.value
    }
  }

  @Test("cancelling the task ends the wait for a name")
  func cancelled() async throws {
    try await withTemporaryStore { store in
      Self.stopClock(of: store)
      var first = begin(store)
      #expect(try await first.next()?.isReset == true)
      let second = Task {
        var changes = store.changes(for: "index", busyTimeout: .seconds(600)).makeAsyncIterator()
        return try await changes.next() == nil
      }
      try await Task.sleep(for: .milliseconds(5))

      second.cancel()

      #expect(try await second.value)
      withExtendedLifetime(first) {}
    }
  }

  @Test("an iteration that has waited for long enough says that the name is taken")
  func busy() async throws {
    try await withTemporaryStore { store in
      Self.stopClock(of: store)
      var first = begin(store)
      let batch = try await first.next()
      #expect(batch?.isReset == true)
      var second = store.changes(for: "index", busyTimeout: .seconds(0.01)).makeAsyncIterator()
      await #expect(throws: StoreError.self) { _ = try await second.next() }
      withExtendedLifetime(first) {}
    }
  }
}
