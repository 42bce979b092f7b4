import Larder
import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct StreamFailureTests {
  private let page = Seller.many(3)

  @Test("a repository that cannot be read is told of once, tried again, and ends no stream")
  func unreadable() async throws {
    let watch = WatchFeed<Int>()
    let clock = ManualClock()
    let updater = RecordingUpdater()
    let recorder = EventRecorder(EventStream(watch.sequence, updater, clock: clock))

    // The updater is asked all the same: what it saves may mend things.
    await watch.waitForLooks(1)
    watch.give(.failure(Offline(number: 1)))
    await updater.waitForEnds(1)
    for attempt in 1...8 {
      await clock.waitForSleeps(attempt)
      #expect(watch.lookCount == attempt)
      clock.advance(by: clock.sleepDurations[attempt - 1])
      await watch.waitForLooks(attempt + 1)
      watch.give(.failure(Offline(number: attempt < 8 ? 1 : 2)))
    }
    await clock.waitForSleeps(9)
    clock.advance(by: .seconds(60))
    await watch.waitForLooks(10)
    watch.give(.success(5))
    await watch.waitForLooks(11)
    watch.give(.failure(Offline(number: 2)))
    await clock.waitForSleeps(10)
    await recorder.waitForEvents(4)

    #expect(
      recorder.events == [
        .failure(Offline(number: 1)), .failure(Offline(number: 2)), .value(5),
        .failure(Offline(number: 2)),
      ])
    #expect(
      clock.sleepDurations
        == [1, 2, 4, 8, 16, 32, 60, 60, 60, 1].map { Duration.seconds($0) })
    #expect(updater.callCount == 1)
    recorder.cancel()
    await recorder.waitForEnd()
    await settle { watch.iterationCount == 0 && clock.sleeperCount == 0 }
  }

  @Test("a collection that cannot be watched for a while is watched again after it")
  func unlogged() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      let clock = ManualClock()
      let recorder = EventRecorder(
        EventStream(sellers.values(of: Seller.byOrder), nil, clock: clock))
      await recorder.waitForEvents(1)

      try await store.collection("Seller").setChangeLog(false)
      await clock.waitForSleeps(1)
      try await store.collection("Seller").setChangeLog(true)
      try await sellers.save(Seller.many(4))
      clock.advance(by: .seconds(1))
      await recorder.waitForEvents(3)

      #expect(
        recorder.events == [
          .value(Rows(page)), .failure(StoreError.unlogged(collection: "Seller")),
          .value(Rows(Seller.many(4))),
        ])
      recorder.cancel()
      await recorder.waitForEnd()
      await settle { !store.hasWatchers }
    }
  }

  @Test("a store that is closed is a stream's last event")
  func closed() async throws {
    let store = try Store.temporary()
    let sellers = store.repository(of: Seller.self)
    try await sellers.save(page)
    let updater = RecordingUpdater(nil)
    let recorder = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))
    await recorder.waitForEvents(1)
    await updater.waitForCalls(1)

    try store.close(timeout: .seconds(300))
    await recorder.waitForEnd()
    await updater.waitForEnds(1)

    #expect(recorder.events == [.value(Rows(page)), .failure(StoreError.closed)])
    await settle { !store.hasWatchers }
    let late = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))
    await late.waitForEnd()
    #expect(late.events == [.failure(StoreError.closed)])
    #expect(updater.callCount == 1)
  }

  @Test("a store that is closed ends a stream that waits to read again, before its pause is over")
  func closedWhileWaiting() async throws {
    let store = try Store.temporary()
    let sellers = store.repository(of: Seller.self)
    try await sellers.save(page)
    // It stands still.
    let clock = ManualClock()
    let recorder = EventRecorder(
      EventStream(sellers.values(of: Seller.byOrder), nil, clock: clock))
    await recorder.waitForEvents(1)
    try await store.collection("Seller").setChangeLog(false)
    await clock.waitForSleeps(1)

    try store.close(timeout: .seconds(300))
    await recorder.waitForEnd()

    #expect(
      recorder.events == [
        .value(Rows(page)), .failure(StoreError.unlogged(collection: "Seller")),
        .failure(StoreError.closed),
      ])
    #expect(clock.sleepDurations == [.seconds(1)])
    await settle { !store.hasWatchers && clock.sleeperCount == 0 }
  }

  @Test("a store that is closed ends a stream whose updater does not listen")
  func closedBesideDeafUpdater() async throws {
    struct Deaf: Updater {
      let remote: ScriptedRemote<Int>

      func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
        // A task of its own hears of no cancellation.
        _ = try await Task { try await remote.fetch() }.value
        return .updated
      }
    }
    let store = try Store.temporary()
    let sellers = store.repository(of: Seller.self)
    let remote = ScriptedRemote<Int>()
    let recorder = EventRecorder(
      sellers.stream(Seller.byOrder, refreshedBy: Deaf(remote: remote)))
    await remote.waitForRequests(1)

    try store.close(timeout: .seconds(300))
    await recorder.waitForEnd()

    #expect(recorder.events == [.value([]), .failure(StoreError.closed)])
    remote.answer(.failure(Offline()))
  }

  @Test("after its end a stream asks for nothing more, even if its iterator is kept")
  func keptIterator() async throws {
    let watch = WatchFeed<Int>()
    let updater = RecordingUpdater(nil)
    var events = EventStream(watch.sequence, updater, clock: ManualClock()).makeAsyncIterator()
    let feeding = Task {
      await watch.waitForLooks(1)
      watch.give(.success(1))
      await watch.waitForLooks(2)
      await updater.waitForCalls(1)
      watch.give(.failure(StoreError.closed))
    }

    #expect(await events.next() == .value(1))
    #expect(await events.next() == .failure(StoreError.closed))
    #expect(await events.next() == nil)
    await feeding.value
    await updater.waitForEnds(1)
    await settle { watch.iterationCount == 0 }

    #expect(updater.runningCount == 0)
    #expect(await events.next() == nil)
  }

  @Test("what came before the end is still given after it")
  func lateConsumer() async throws {
    let watch = WatchFeed<Int>()
    let updater = RecordingUpdater(nil)
    var events = EventStream(watch.sequence, updater, clock: ManualClock()).makeAsyncIterator()
    let feeding = Task {
      await watch.waitForLooks(1)
      watch.give(.success(1))
      await watch.waitForLooks(2)
      await updater.waitForCalls(1)
      updater.finish(.failure(Offline()))
    }
    #expect(await events.next() == .value(1))
    #expect(await events.next() == .failure(Offline()))
    await feeding.value

    // Nobody asks now, and the look that the failure overtook finds the store closed.
    watch.give(.failure(StoreError.closed))
    await settle { watch.iterationCount == 0 }

    #expect(await events.next() == .failure(StoreError.closed))
    #expect(await events.next() == nil)
  }

  @Test("a watch that ends lets the sync that runs have its say, and then the stream ends")
  func ended() async throws {
    let watch = WatchFeed<Int>()
    let updater = RecordingUpdater(nil)
    let recorder = EventRecorder(EventStream(watch.sequence, updater, clock: ManualClock()))
    await watch.waitForLooks(1)
    watch.give(.success(1))
    await updater.waitForCalls(1)
    await watch.waitForLooks(2)

    watch.give(.success(nil))
    updater.finish(.failure(Offline()))
    await recorder.waitForEnd()

    #expect(recorder.events == [.value(1), .failure(Offline())])
    #expect(watch.iterationCount == 0)
  }

  @Test("an iterator that was never asked begins nothing, and one that is cancelled ends")
  func untouched() async throws {
    let watch = WatchFeed<Int>()
    let updater = RecordingUpdater()
    let stream = EventStream(watch.sequence, updater, clock: ManualClock())
    _ = stream.makeAsyncIterator()
    #expect(watch.iterationCount == 0)

    let task = Task {
      var events = stream.makeAsyncIterator()
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(await events.next() == nil)
      #expect(await events.next() == nil)
    }
    await task.value

    #expect(watch.lookCount == 0)
    #expect(updater.callCount == 0)
  }

  @Test("a value that nobody waits for is not read, and a failure does not wait for it")
  func demand() async throws {
    let watch = WatchFeed<Int>()
    let updater = RecordingUpdater(nil)
    var events = EventStream(watch.sequence, updater, clock: ManualClock()).makeAsyncIterator()
    let feeding = Task {
      await watch.waitForLooks(1)
      watch.give(.success(1))
    }
    #expect(await events.next() == .value(1))
    await feeding.value
    await updater.waitForCalls(1)
    #expect(watch.lookCount == 1)

    updater.finish(.failure(Offline()))
    #expect(await events.next() == .failure(Offline()))
  }
}
