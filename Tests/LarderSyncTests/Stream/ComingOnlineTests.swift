import Foundation
import Larder
import LarderLMDB
import LarderTesting
import Testing

@testable import LarderSync

@Suite(.timeLimit(.minutes(20))) struct ComingOnlineTests {
  private let page = Seller.many(3)

  // MARK: Many screens

  @Test("fifty screens that open on a dead server at once make one request, which all hear of")
  func fiftyAtOnce() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screens = (0..<50).map { _ in scene.screen() }
      await settle { scene.limiter.waiterCount == 50 }

      await scene.answer(.failure(Offline()))
      for screen in screens { await screen.waitForErrors(1) }

      #expect(scene.remote.requestCount == 1)
      #expect(screens.allSatisfy { $0.errors as? [Offline] == [Offline()] })
      #expect(screens.allSatisfy { $0.values == [[]] })
    }
  }

  @Test("fifty screens that open one after the other make one request, and share the next one, too")
  func fiftyInTurn() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      var screens = [scene.screen()]
      await scene.answer(1, .failure(Offline()))
      for _ in 1..<50 {
        await screens.last?.waitForErrors(1)
        screens.append(scene.screen())
      }
      await screens.last?.waitForErrors(1)
      #expect(scene.remote.requestCount == 1)
      await settle { scene.clock.sleeperCount == 50 }

      scene.clock.advance(by: .milliseconds(999))
      #expect(scene.clock.sleeperCount == 50)
      scene.clock.advance(by: .milliseconds(1))
      await scene.remote.waitForRequests(2)
      await settle { scene.limiter.waiterCount == 50 }
      await scene.answer(.success(.fromRemote(page)))
      for screen in screens { await screen.waitForValues(2) }

      #expect(scene.remote.requestCount == 2)
      #expect(screens.allSatisfy { $0.errors.count == 1 && $0.values == [[], Rows(page)] })
    }
  }

  @Test("a screen joins a flight and hears of its failure; one that asks for nothing more does not")
  func joining() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let first = scene.screen()
      await scene.remote.waitForRequests(1)
      let second = scene.screen()
      let third = scene.screen(.ifDue)
      await third.waitForValues(1)
      await settle { scene.limiter.waiterCount == 2 }
      await settle { scene.limiter.arrivalCount == 3 }

      await scene.answer(.failure(Offline()))
      for screen in [first, second] { await screen.waitForErrors(1) }

      #expect(scene.remote.requestCount == 1)
      #expect(third.errors.isEmpty)
    }
  }

  // MARK: Again and again

  @Test("a refresh that fails is tried again after pauses that grow, until it succeeds")
  func retrying() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()

      for attempt in 1...10 {
        await scene.answer(attempt, .failure(Offline(number: attempt < 9 ? 1 : 2)))
        await scene.passPause(attempt)
      }
      await scene.answer(11, .success(.fromRemote(page)))
      await screen.waitForValues(2)
      await scene.clock.waitForSleeps(11)

      #expect(
        scene.clock.sleepDurations
          == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 900].map { Duration.seconds($0) })
      // The same again would be news to nobody.
      #expect(screen.errors as? [Offline] == [Offline(number: 1), Offline(number: 2)])
      #expect(screen.values == [[], Rows(page)])
      #expect(!screen.isFinished)
    }
  }

  @Test("after a success the pauses begin anew, and the same failure is told again")
  func anew() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      await scene.answer(1, .failure(Offline()))
      await scene.passPause(1)
      await scene.answer(2, .success(.prefetched))

      await scene.passPause(2)
      await scene.answer(3, .failure(Offline()))
      await screen.waitForErrors(2)
      await scene.clock.waitForSleeps(3)

      #expect(scene.clock.sleepDurations == [.seconds(1), .seconds(900), .seconds(1)])
    }
  }

  @Test("a stream refreshes at the end of every interval, with one request for all streams")
  func interval() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screens = (0..<5).map { _ in scene.screen() }
      for round in 1...4 {
        await scene.remote.waitForRequests(round)
        await settle { scene.limiter.waiterCount == 5 }
        await scene.answer(.success(.fromRemote(Seller.many(round))))
        await settle { scene.clock.sleeperCount == 5 }
        scene.clock.advance(by: .seconds(899))
        #expect(scene.remote.requestCount == round)
        scene.clock.advance(by: .seconds(1))
      }
      for screen in screens {
        await screen.waitForEvent { $0.value?.count == 4 }
      }
    }
  }

  @Test("without a backoff a stream does not try again by itself, and every screen makes a request")
  func noBackoff() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store, retrying: nil)
      let screens = [scene.screen()]
      await scene.answer(1, .failure(Offline()))
      await screens[0].waitForErrors(1)

      let other = scene.screen()
      await scene.answer(2, .failure(Offline()))
      await other.waitForErrors(1)

      #expect(scene.clock.sleepDurations.isEmpty)
      #expect(scene.remote.requestCount == 2)
    }
  }

  @Test("who pulls to refresh does not wait, and the streams share what comes of it")
  func pulling() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      await scene.answer(1, .failure(Offline()))
      await scene.clock.waitForSleeps(1)

      let pull = Task { try await scene.updater.sync(.afterNow) }
      await scene.remote.waitForRequests(2)
      await settle { scene.limiter.waiterCount == 2 }
      await scene.answer(.failure(Offline(number: 2)))
      await #expect(throws: Offline(number: 2)) { try await pull.value }
      await scene.clock.waitForSleeps(2)
      // The stream sleeps before its reader has been told.
      await screen.waitForErrors(1)

      #expect(screen.errors as? [Offline] == [Offline()])
      #expect(scene.clock.sleepDurations == [.seconds(1), .seconds(2)])
      await #expect(throws: Offline(number: 2)) { try await scene.updater.sync() }
      #expect(scene.remote.requestCount == 2)
    }
  }

  // MARK: Triggers

  @Test("when there is a network again what has failed is tried at once, and the pauses begin anew")
  func network() async throws {
    try await withTemporaryStore { store in
      let network = ManualReachability()
      let scene = RefreshScene(store, trigger: RefreshTrigger(network))
      let screens = (0..<5).map { _ in scene.screen() }
      await network.waitForObservers(1)
      await settle { scene.limiter.waiterCount == 5 }
      await scene.answer(.failure(Offline()))
      await settle { scene.clock.sleeperCount == 5 }
      scene.clock.advance(by: .seconds(1))
      await scene.remote.waitForRequests(2)
      await settle { scene.limiter.waiterCount == 5 }
      await scene.answer(.failure(Offline()))
      await settle { scene.clock.sleeperCount == 5 }
      #expect(scene.clock.sleepDurations.last == .seconds(2))

      network.connect()
      await scene.remote.waitForRequests(3)
      await settle { scene.limiter.waiterCount == 5 }
      await scene.answer(.failure(Offline()))
      await settle { scene.clock.sleeperCount == 5 && !scene.limiter.isFetching }
      #expect(scene.clock.sleepDurations.last == .seconds(1))

      network.connect()
      await scene.remote.waitForRequests(4)
      await settle { scene.limiter.waiterCount == 5 }
      await scene.answer(.success(.fromRemote(page)))
      for screen in screens { await screen.waitForValues(2) }
      #expect(scene.remote.requestCount == 4)
    }
  }

  @Test("within the interval a trigger makes no request")
  func triggerWithinInterval() async throws {
    try await withTemporaryStore { store in
      let trigger = RefreshTrigger()
      let scene = RefreshScene(store, trigger: trigger)
      let screen = scene.screen()
      await scene.answer(1, .success(.fromRemote(page)))
      await scene.clock.waitForSleeps(1)
      scene.clock.advance(by: .seconds(100))

      trigger.fire()
      await scene.clock.waitForSleeps(2)

      #expect(scene.remote.requestCount == 1)
      #expect(scene.clock.sleepDurations == [.seconds(900), .seconds(800)])
      withExtendedLifetime(screen) {}
    }
  }

  @Test("a flight that is under way when a trigger fires, and fails, is tried again at once")
  func triggerDuringFlight() async throws {
    try await withTemporaryStore { store in
      let trigger = RefreshTrigger()
      let scene = RefreshScene(store, trigger: trigger)
      let screen = scene.screen()
      await scene.remote.waitForRequests(1)

      trigger.fire()
      await scene.answer(.failure(Offline()))
      await scene.answer(2, .failure(Offline()))
      await scene.clock.waitForSleeps(1)

      #expect(scene.remote.requestCount == 2)
      #expect(scene.clock.sleepDurations == [.seconds(1)])
      withExtendedLifetime(screen) {}
    }
  }

  @Test("without an interval a trigger refreshes the open streams, with one request for all")
  func triggerWithoutInterval() async throws {
    try await withTemporaryStore { store in
      let trigger = RefreshTrigger()
      let scene = RefreshScene(store, interval: .zero, name: nil, trigger: trigger)
      let screens = (0..<5).map { _ in scene.screen() }
      await settle { scene.limiter.waiterCount == 5 }
      await scene.answer(.success(.fromRemote(page)))
      for screen in screens { await screen.waitForValues(2) }
      await settle { scene.limiter.waiterCount == 0 && !scene.limiter.isFetching }

      trigger.fire()
      await scene.remote.waitForRequests(2)
      await settle { scene.limiter.waiterCount == 5 }
      await scene.answer(.success(.fromRemote(Seller.many(4))))
      for screen in screens { await screen.waitForValues(3) }

      #expect(scene.remote.requestCount == 2)
      #expect(scene.clock.sleepDurations.isEmpty)
    }
  }

  @Test("a fetch that was called off is not begun again before a trigger fires")
  func calledOff() async throws {
    try await withTemporaryStore { store in
      let trigger = RefreshTrigger()
      let scene = RefreshScene(store, trigger: trigger)
      let screen = scene.screen()
      await scene.remote.waitForRequests(1)

      scene.limiter.cancel()
      await scene.remote.waitForEnds(1)
      await settle { !scene.limiter.isFetching }
      #expect(scene.remote.requestCount == 1)
      trigger.fire()
      await scene.answer(2, .success(.fromRemote(page)))
      await screen.waitForValues(2)

      #expect(scene.remote.requestCount == 2)
      #expect(screen.errors.isEmpty)
    }
  }

  @Test("data that were erased are fetched again, though the interval has not passed")
  func forgotten() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      await scene.answer(1, .success(.fromRemote(page)))
      await screen.waitForValues(2)
      await scene.clock.waitForSleeps(1)

      try await scene.limiter.forgetLastSuccess()
      await scene.answer(2, .success(.fromRemote(Seller.many(4))))
      await screen.waitForValues(3)

      #expect(scene.remote.requestCount == 2)
    }
  }

  @Test("a trigger keeps no limiter alive, and one that is let go of does not listen any more")
  func letGo() async throws {
    let network = ManualReachability()
    var trigger: RefreshTrigger? = RefreshTrigger(network)
    var limiter: FetchLimiter? = FetchLimiter(trigger: trigger)
    weak let weakLimiter = limiter
    await network.waitForObservers(1)

    limiter = nil
    #expect(weakLimiter == nil)
    trigger?.fire()
    trigger = nil

    await settle { network.observerCount == 0 }
    withExtendedLifetime(limiter) {}
  }

  // MARK: The end

  @Test("a stream that is left takes its retries along, and nobody else's")
  func leaving() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screens = [scene.screen(), scene.screen()]
      await settle { scene.limiter.waiterCount == 2 }
      await scene.answer(.failure(Offline()))
      await settle { scene.clock.sleeperCount == 2 }

      screens[0].cancel()
      await screens[0].waitForEnd()
      await settle { scene.clock.sleeperCount == 1 }
      screens[1].cancel()
      await screens[1].waitForEnd()

      await settle { scene.clock.sleeperCount == 0 }
      await settle { scene.limiter.state.withLock { $0.observers.isEmpty } }
      scene.clock.advance(by: .seconds(10))
      #expect(scene.remote.requestCount == 1)
    }
  }

  @Test("a store that is closed ends streams that wait to try again")
  func closed() async throws {
    let store = try Store.temporary()
    let scene = RefreshScene(store)
    let screen = scene.screen()
    await scene.answer(1, .failure(Offline()))
    await scene.clock.waitForSleeps(1)

    try store.close(timeout: .seconds(300))
    await screen.waitForEnd()

    #expect(screen.errors.last as? StoreError == .closed)
    await settle { scene.clock.sleeperCount == 0 }
  }

  @Test("a watch that ends lets no stream wait for the next refresh")
  func ended() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let watch = WatchFeed<Int>()
      let recorder = EventRecorder(
        EventStream(watch.sequence, scene.updater, clock: scene.clock))
      await watch.waitForLooks(1)
      watch.give(.success(1))
      await scene.answer(1, .failure(Offline()))
      await scene.clock.waitForSleeps(1)
      await watch.waitForLooks(2)

      watch.give(.success(nil))
      await recorder.waitForEnd()

      #expect(recorder.values == [1])
      #expect(recorder.errors as? [Offline] == [Offline()])
    }
  }

  // MARK: Freshness

  @Test("events say whether data are being refreshed, when they were, and what has failed since")
  func freshness() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      let start = scene.clock.date

      await screen.waitForEvent { $0.refresh == RefreshState(isRefreshing: true) }
      await scene.answer(1, .failure(Offline()))
      await screen.waitForEvent { $0.refresh == RefreshState(lastFailure: Offline()) }
      await scene.passPause(1)
      await screen.waitForEvent {
        $0.refresh == RefreshState(isRefreshing: true, lastFailure: Offline())
      }
      await scene.answer(2, .success(.prefetched))
      await screen.waitForEvent { $0.refresh == RefreshState(lastRefreshed: start + 1) }

      #expect(scene.limiter.refreshState == RefreshState(lastRefreshed: start + 1))
      // What says the same as before is not said.
      let states = screen.refreshStates
      #expect(zip(states, states.dropFirst()).allSatisfy { $0 != $1 })
    }
  }

  @Test("an updater without a limiter is asked once, and says nothing of freshness")
  func withoutLimiter() async throws {
    let sellers = InMemoryRepository(of: Seller.self)
    let updater = RecordingUpdater(.failure(Offline()))
    let screen = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))
    await screen.waitForErrors(1)

    try await sellers.save(page)
    await screen.waitForValues(2)

    #expect(screen.refreshStates.isEmpty)
    #expect(updater.callCount == 1)
  }
}
