import Foundation
import Larder
import LarderTesting
import Testing

@testable import LarderSync

/// How limiters of one name know of each other's failures: those of other processes, and those of this
/// one before a restart.
@Suite(.timeLimit(.minutes(20))) struct KnownFailureTests {
  private let page = Seller.many(3)
  private let start = Date(timeIntervalSinceReferenceDate: 8e8)

  private var known: EarlierFailure { EarlierFailure(kind: "Offline", date: start) }

  @Test("until it is time to try again a caller is told of the failure, and no request is made")
  func held() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      await #expect(throws: Offline()) {
        try await scene.sync(.failure(Offline()))
      }

      for timing in [SyncTiming.ifDue, .joining, .scheduled] {
        await #expect(throws: Offline()) { try await scene.updater.sync(timing) }
      }
      scene.clock.advance(by: .milliseconds(999))
      await #expect(throws: Offline()) { try await scene.updater.sync() }
      #expect(scene.remote.requestCount == 1)
      scene.clock.advance(by: .milliseconds(1))

      let second = try await scene.sync(.success(.fromRemote(page)))
      #expect(second == .updated)
      #expect(try await scene.updater.sync() == .skipped)
    }
  }

  @Test(
    "a store that is suspended while something is fetched is no failure, and it is due again once it is resumed"
  )
  func suspended() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      try await scene.sync(.success(.fromRemote(page)))
      let known = scene.limiter.refreshState.lastRefreshed
      scene.clock.advance(by: .seconds(1000))
      let sync = Task { try await scene.updater.sync() }
      await scene.remote.waitForRequests(2)
      try store.suspend()
      scene.remote.answer(.success(.fromRemote(Seller.many(5))))
      await #expect(throws: StoreError.self) { try await sync.value }
      #expect(known != nil)
      #expect(scene.limiter.refreshState.lastRefreshed == known)
      #expect(scene.limiter.refreshState.lastFailure == nil)

      try store.resume()

      #expect(scene.limiter.refreshState.lastFailure == nil)
      #expect(scene.limiter.refreshState.lastRefreshed == known)
      let status = try await scene.sync(.success(.fromRemote(Seller.many(5))))
      #expect(status == .updated)
      #expect(try scene.sellers.count() == 5)
    }
  }

  @Test(
    "while a store is suspended a stream asks the remote again after pauses alone",
    arguments: [true, false])
  func suspendedPauses(hasInterval: Bool) async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store, interval: hasInterval ? .seconds(900) : .zero, name: nil)
      let screen = scene.screen()
      await scene.remote.waitForRequests(1)
      try store.suspend()
      scene.remote.answer(.success(.fromRemote(page)))
      for pause in [1, 2, 4] {
        await settle { !scene.limiter.refreshState.isRefreshing }
        let count = scene.remote.requestCount
        scene.clock.advance(by: .seconds(pause) - .milliseconds(1))
        try await Task.sleep(for: .milliseconds(2))
        #expect(scene.remote.requestCount == count)
        while scene.remote.requestCount == count {
          scene.clock.advance(by: .seconds(1))
          try await Task.sleep(for: .milliseconds(1))
        }
        scene.remote.answer(.success(.fromRemote(page)))
      }
      await settle { !scene.limiter.refreshState.isRefreshing }
      #expect(scene.remote.requestCount == 4)
      try store.resume()
      scene.limiter.wake()
      await scene.answer(5, .success(.fromRemote(page)))
      await settle { screen.values.last?.count == 3 }
      #expect(screen.errors.isEmpty)
    }
  }

  @Test("a stream says nothing of a suspension, and refreshes once the store is resumed")
  func suspendedStream() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      await scene.remote.waitForRequests(1)
      try store.suspend()
      scene.remote.answer(.success(.fromRemote(page)))
      await settle { !scene.limiter.refreshState.isRefreshing }
      try store.resume()
      // It may be about to sleep.
      while scene.remote.requestCount < 2 {
        scene.clock.advance(by: .seconds(1))
        try await Task.sleep(for: .milliseconds(1))
      }
      scene.remote.answer(.success(.fromRemote(page)))
      await settle { screen.values.last?.count == 3 }
      #expect(screen.errors.isEmpty)
    }
  }

  @Test("a failure of another limiter of the same name counts here, and so does its recovery")
  func shared() async throws {
    try await withTemporaryStore { store in
      let app = RefreshScene(store)
      let widget = RefreshScene(store, clock: app.clock)
      await #expect(throws: Offline()) {
        try await app.sync(.failure(Offline()))
      }

      await #expect(throws: known) { try await widget.updater.sync() }
      #expect(widget.limiter.refreshState.lastFailure as? EarlierFailure == known)
      #expect(widget.remote.requestCount == 0)
      app.clock.advance(by: .seconds(1))
      await #expect(throws: Offline(number: 2)) {
        try await widget.sync(.failure(Offline(number: 2)))
      }
      // The second failure in a row, whoever had the first one.
      app.clock.advance(by: .milliseconds(1_999))
      await #expect(throws: EarlierFailure(kind: "Offline", date: start + 1)) {
        try await app.updater.sync()
      }
      app.clock.advance(by: .milliseconds(1))
      let recovery = try await app.sync(.success(.fromRemote(page)))
      #expect(recovery == .updated)

      #expect(try await widget.updater.sync() == .skipped)
      #expect(widget.limiter.refreshState.lastFailure == nil)
    }
  }

  @Test("an offline start shows what is stored, tells of the failure, and tries again in time")
  func offlineStart() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let store = try Store(at: folder)
      let scene = RefreshScene(store)
      try await scene.sellers.save(page)
      await #expect(throws: Offline()) {
        try await scene.sync(.failure(Offline()))
      }
      try store.close()
    }
    let store = try Store(at: folder)
    let clock = ManualClock(date: start + 0.25, elapsed: .seconds(12_345))
    let scene = RefreshScene(store, clock: clock)

    let screen = scene.screen()
    await screen.waitForErrors(1)
    await clock.waitForSleeps(1)

    #expect(screen.values == [Rows(page)])
    #expect(screen.errors as? [EarlierFailure] == [known])
    #expect(scene.remote.requestCount == 0)
    #expect(clock.sleepDurations == [.milliseconds(750)])
    clock.advance(by: .milliseconds(750))
    await scene.answer(1, .success(.fromRemote(Seller.many(4))))
    await screen.waitForValues(2)
    screen.cancel()
    await screen.waitForEnd()
    await settle { !scene.limiter.isFetching }
    try verifyAndClose(store)
  }

  @Test("a trigger lets a failure of others be tried again, too")
  func lifted() async throws {
    try await withTemporaryStore { store in
      let app = RefreshScene(store)
      await #expect(throws: Offline()) {
        try await app.sync(.failure(Offline()))
      }
      let trigger = RefreshTrigger()
      let widget = RefreshScene(store, trigger: trigger, clock: app.clock)
      let screen = widget.screen()
      await screen.waitForErrors(1)

      trigger.fire()
      await widget.answer(1, .success(.fromRemote(page)))
      await screen.waitForValues(2)

      #expect(app.clock.elapsed == .zero)
    }
  }

  @Test("a failure that was noted in the future, or by nobody's clock, keeps nobody waiting")
  func future() async throws {
    for (failure, pause) in [
      (1.0, 300.0), (1e300, 300), (.nan, 300), (.infinity, 300), (-1, .nan), (-1e300, 1e299),
    ] {
      try await withTemporaryStore { store in
        let scene = RefreshScene(store)
        let record = FetchRecord(
          failure: FetchRecord.Failure(
            seconds: 8e8 + failure, pause: pause, count: 5, kind: "Offline"))
        try await FetchMemory(store: store, name: "sellers").write(record)

        let sync = try await scene.sync(.success(.fromRemote(page)))

        #expect(sync == .updated)
      }
    }
  }

  @Test("a pause of no limiter of ours ends within a day")
  func endless() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let record = FetchRecord(
        failure: FetchRecord.Failure(seconds: 8e8, pause: .infinity, count: 5, kind: "Offline"))
      try await FetchMemory(store: store, name: "sellers").write(record)

      let screen = scene.screen()
      await screen.waitForErrors(1)
      await scene.clock.waitForSleeps(1)

      #expect(scene.clock.sleepDurations == [.seconds(86_400)])
    }
  }

  @Test("a sync that finds nothing takes a noted failure back, and then writes nothing again")
  func takenBack() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let other = RefreshScene(store, clock: scene.clock)
      await #expect(throws: Offline()) {
        try await scene.sync(.failure(Offline()))
      }
      let before = try store.lastTransaction()
      scene.clock.advance(by: .seconds(1))

      for _ in 2...4 {
        let sync = try await scene.sync(.success(.prefetched), .afterNow)
        #expect(sync == .alreadyCurrent)
      }

      #expect(try store.lastTransaction() == before + 1)
      #expect(other.limiter.refreshState == RefreshState(lastRefreshed: start + 1))
      #expect(try await other.updater.sync() == .skipped)
    }
  }

  @Test("after a pull to refresh that failed the interval of the success before lets nobody off")
  func failureWithinInterval() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let first = try await scene.sync(.success(.fromRemote(page)))
      #expect(first == .updated)
      await #expect(throws: Offline()) {
        try await scene.sync(.failure(Offline()), .afterNow)
      }

      await #expect(throws: Offline()) { try await scene.updater.sync() }
      scene.clock.advance(by: .seconds(1))
      let again = try await scene.sync(.success(.prefetched))

      #expect(again == .alreadyCurrent)
      #expect(try await scene.updater.sync() == .skipped)
    }
  }

  @Test("a failure that cannot be noted counts all the same in this process")
  func unstorable() async throws {
    let store = try Store.temporary()
    let clock = ManualClock()
    let limiter = FetchLimiter(
      minimumInterval: .seconds(900), named: "sellers", in: store, retrying: .longest, clock: clock)

    await #expect(throws: Offline()) {
      try await limiter.run {
        try store.close()
        throw Offline()
      }
    }

    await #expect(throws: Offline()) { try await limiter.run { .updated } }
    #expect(limiter.refreshState.lastFailure as? Offline == Offline())
  }

  @Test("what is kept of a failure is the type of the error, not what it says")
  func discreet() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      await #expect(throws: Offline(number: 4711)) {
        try await scene.sync(.failure(Offline(number: 4711)))
      }

      let note = try store.read { try $0.note("fetch/sellers") } ?? []

      #expect(String(decoding: note, as: UTF8.self).contains("Offline"))
      #expect(!String(decoding: note, as: UTF8.self).contains("4711"))
    }
  }
}
