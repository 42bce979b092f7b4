import Foundation
import Larder
import LarderTesting
import Testing

@testable import LarderSync

/// Who shows the failure of a refresh that somebody asked for.
@Suite(.timeLimit(.minutes(20))) struct AskedRefreshTests {
  private typealias Screen = EventRecorder<Rows<Seller>>

  private let page = Seller.many(3)

  /// Lends a scene with so many screens, which were refreshed and wait for the end of the interval.
  private func withScreens(
    _ count: Int, trigger: RefreshTrigger? = nil,
    _ body: (RefreshScene, [Screen]) async throws -> Void
  ) async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store, trigger: trigger)
      let screens = (0..<count).map { _ in scene.screen() }
      await settle { scene.limiter.waiterCount == count }
      await scene.answer(.success(.fromRemote(page)))
      await settle { scene.clock.sleeperCount == count }
      try await body(scene, screens)
    }
  }

  /// Asks for a refresh, and returns when so many wait for it.
  private func press(
    _ scene: RefreshScene, _ timing: SyncTiming = .afterNow, waiterCount: Int
  ) async -> Task<UpdateStatus, any Error> {
    let press = Task { try await scene.updater.sync(timing) }
    await settle { scene.limiter.waiterCount == waiterCount }
    return press
  }

  /// Returns when the screens know of a failure and sleep until it is tried again, and have nothing
  /// else to hear.
  private func settleAfter(
    _ error: Offline, _ scene: RefreshScene, _ screens: [Screen]
  ) async {
    await settle { scene.clock.sleeperCount == screens.count && !scene.limiter.isFetching }
    for screen in screens {
      // The last one: an equal failure before it has said the same, and who is slow is not told twice.
      await settle {
        screen.refreshStates.last.map { $0.lastFailure as? Offline == error && !$0.isRefreshing }
          == true
      }
    }
  }

  /// Has the limiter try again, and returns when all screens wait for that and have heard what came
  /// before.
  private func tryAgain(_ scene: RefreshScene, _ screens: [Screen]) async {
    let counts = screens.map(\.refreshStates.count)
    scene.clock.advance(by: scene.clock.sleepDurations.last ?? .zero)
    await settle { scene.limiter.waiterCount == screens.count }
    for (screen, count) in zip(screens, counts) {
      await settle { screen.refreshStates.dropFirst(count).contains { $0.isRefreshing } }
    }
  }

  @Test("a refresh that is asked for and fails is thrown to its caller")
  func alone() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)

      await #expect(throws: Offline()) {
        try await scene.sync(.failure(Offline()), .afterNow)
      }

      #expect(scene.limiter.refreshState.lastFailure as? Offline == Offline())
    }
  }

  @Test("open streams leave the failure to the caller, know of it, and try again in silence")
  func openStreams() async throws {
    try await withScreens(2) { scene, screens in
      let press = await press(scene, waiterCount: 3)
      await scene.answer(.failure(Offline()))
      await #expect(throws: Offline()) { try await press.value }
      await settleAfter(Offline(), scene, screens)
      #expect(scene.clock.sleepDurations.suffix(2) == [.seconds(1), .seconds(1)])

      // What the user has read already is no news.
      await tryAgain(scene, screens)
      await scene.answer(.failure(Offline()))
      await settleAfter(Offline(), scene, screens)
      #expect(scene.clock.sleepDurations.suffix(2) == [.seconds(2), .seconds(2)])
      await tryAgain(scene, screens)
      await scene.answer(.failure(Offline(number: 2)))
      for screen in screens { await screen.waitForErrors(1) }

      #expect(screens.allSatisfy { $0.errors as? [Offline] == [Offline(number: 2)] })
      #expect(scene.remote.requestCount == 4)
    }
  }

  @Test("after a success streams show the same failure again")
  func success() async throws {
    try await withScreens(2) { scene, screens in
      let press = await press(scene, waiterCount: 3)
      await scene.answer(.failure(Offline()))
      await #expect(throws: Offline()) { try await press.value }
      await settleAfter(Offline(), scene, screens)

      await tryAgain(scene, screens)
      await scene.answer(.success(.prefetched))
      await settle { scene.clock.sleeperCount == 2 && !scene.limiter.isFetching }
      for screen in screens {
        await settle { screen.refreshStates.last?.lastFailure == nil }
        #expect(screen.errors.isEmpty)
      }
      await tryAgain(scene, screens)
      await scene.answer(.failure(Offline()))
      for screen in screens { await screen.waitForErrors(1) }

      #expect(screens.allSatisfy { $0.errors as? [Offline] == [Offline()] })
    }
  }

  @Test("a stream that opens while the refresh runs shows its failure, and the others do not")
  func opening() async throws {
    try await withScreens(1) { scene, screens in
      let press = await press(scene, waiterCount: 2)
      let late = scene.screen()
      await settle { scene.limiter.waiterCount == 3 }

      await scene.answer(.failure(Offline()))
      await #expect(throws: Offline()) { try await press.value }
      await late.waitForErrors(1)
      await settleAfter(Offline(), scene, screens + [late])
      await tryAgain(scene, screens + [late])
      await scene.answer(.failure(Offline()))
      await settleAfter(Offline(), scene, screens + [late])

      #expect(late.errors as? [Offline] == [Offline()])
      #expect(screens[0].errors.isEmpty)
    }
  }

  @Test("a stream that opens after the failure shows it, and makes no request")
  func openingLater() async throws {
    try await withScreens(1) { scene, screens in
      let press = await press(scene, waiterCount: 2)
      await scene.answer(.failure(Offline()))
      await #expect(throws: Offline()) { try await press.value }
      await settleAfter(Offline(), scene, screens)

      let late = scene.screen()
      await late.waitForErrors(1)

      #expect(late.errors as? [Offline] == [Offline()])
      #expect(scene.remote.requestCount == 2)
    }
  }

  @Test(
    "who asks while a refresh runs shows how that ends, and what the streams began is not shown")
  func duringFlight() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      await settle { scene.limiter.waiterCount == 1 }
      let press = await press(scene, waiterCount: 2)

      await scene.answer(1, .failure(Offline(number: 1)))
      await scene.answer(2, .failure(Offline(number: 2)))
      await #expect(throws: Offline(number: 2)) { try await press.value }
      await settleAfter(Offline(number: 2), scene, [screen])
      await tryAgain(scene, [screen])
      await scene.answer(.failure(Offline(number: 3)))
      await screen.waitForErrors(1)

      #expect(screen.errors as? [Offline] == [Offline(number: 3)])
      #expect(scene.remote.requestCount == 3)
    }
  }

  @Test("if a refresh that was asked for succeeds, nobody sees the failure before it")
  func duringFlightThatFails() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      await settle { scene.limiter.waiterCount == 1 }
      let press = await press(scene, waiterCount: 2)

      await scene.answer(1, .failure(Offline()))
      await scene.answer(2, .success(.fromRemote(page)))
      let status = try await press.value
      #expect(status == .updated)
      await screen.waitForValues(2)
      await screen.waitForEvent { $0.refresh?.lastRefreshed != nil }

      #expect(screen.errors.isEmpty)
    }
  }

  @Test(
    "if the caller goes away before the end, streams show the failure", arguments: [false, true])
  func cancelled(isTrailing: Bool) async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      await settle { scene.limiter.waiterCount == 1 }
      if !isTrailing {
        await scene.answer(.success(.fromRemote(page)))
        await settle { scene.clock.sleeperCount == 1 }
      }
      let press = await press(scene, waiterCount: 2)
      if isTrailing {
        // Left to the caller, who will not hear of it.
        await scene.answer(1, .failure(Offline()))
      }
      await scene.remote.waitForRequests(2)
      await settle { scene.limiter.waiterCount == 2 }

      press.cancel()
      await #expect(throws: CancellationError.self) { try await press.value }
      await scene.answer(.failure(Offline()))
      await screen.waitForErrors(1)

      #expect(screen.errors as? [Offline] == [Offline()])
    }
  }

  @Test("if the refresh is called off, what fails after that is shown by streams")
  func calledOff() async throws {
    let trigger = RefreshTrigger()
    try await withScreens(1, trigger: trigger) { scene, screens in
      let press = await press(scene, waiterCount: 2)
      scene.limiter.cancel()
      await #expect(throws: CancellationError.self) { try await press.value }
      await settle { !scene.limiter.isFetching }
      try await scene.limiter.forgetLastSuccess()

      await scene.answer(3, .failure(Offline()))
      await screens[0].waitForErrors(1)

      #expect(screens[0].errors as? [Offline] == [Offline()])
    }
  }

  @Test("a caller that shows nothing has the streams show the failure", arguments: [1, 2])
  func afterChange(streamCount: Int) async throws {
    try await withScreens(streamCount) { scene, screens in
      let change = await press(scene, .afterChange, waiterCount: streamCount + 1)
      await scene.answer(.failure(Offline()))
      await #expect(throws: Offline()) { try await change.value }

      for screen in screens { await screen.waitForErrors(1) }

      #expect(screens.allSatisfy { $0.errors as? [Offline] == [Offline()] })
    }
  }

  @Test("a caller that joins a refresh of the streams takes nothing from them")
  func joining() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()
      await settle { scene.limiter.waiterCount == 1 }
      let joining = await press(scene, .joining, waiterCount: 2)

      await scene.answer(.failure(Offline()))
      await #expect(throws: Offline()) { try await joining.value }
      await screen.waitForErrors(1)

      #expect(scene.remote.requestCount == 1)
    }
  }

  @Test(
    "of two models on one limiter the one that was asked shows the failure; a success clears it")
  @MainActor func models() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let models = (0..<2).map { _ in
        QueryModel(scene.sellers, Seller.byOrder, refreshedBy: scene.updater)
      }
      for model in models { model.start() }
      await settle { scene.limiter.waiterCount == 2 }
      await scene.answer(.success(.fromRemote(page)))
      await settle { scene.clock.sleeperCount == 2 }

      let press = Task { await models[0].refresh() }
      await settle { scene.limiter.waiterCount == 3 }
      await scene.answer(.failure(Offline()))
      await press.value
      await waitUntil { models.allSatisfy { $0.lastFailure != nil && !$0.isRefreshing } }
      #expect(models[0].lastError as? Offline == Offline())
      #expect(models[1].lastError == nil)

      await settle { scene.clock.sleeperCount == 2 }
      scene.clock.advance(by: .seconds(1))
      await settle { scene.limiter.waiterCount == 2 }
      await scene.answer(.success(.prefetched))
      await waitUntil { models.allSatisfy { $0.lastError == nil && $0.lastFailure == nil } }
      for model in models { model.stop() }
    }
  }

  // MARK: Past the limiter

  /// Says that it has a limiter, and does not use it.
  private struct StrayUpdater: Updater {
    let schedule: FetchLimiter?
    let calls = Log()

    func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
      calls.add("\(timing)")
      return .alreadyCurrent
    }
  }

  @Test("an updater that goes past its limiter is asked once a minute, not for ever")
  func stray() async throws {
    let clock = ManualClock()
    let updater = StrayUpdater(
      schedule: FetchLimiter(minimumInterval: .seconds(900), clock: clock))
    let sellers = InMemoryRepository(of: Seller.self)
    let screen = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))

    for sleep in 1...9 {
      await clock.waitForSleeps(sleep)
      #expect(updater.calls.lines.count == sleep + 1)
      clock.advance(by: clock.sleepDurations[sleep - 1])
    }

    #expect(
      Array(clock.sleepDurations.prefix(9))
        == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { Duration.seconds($0) })
    withExtendedLifetime(screen) {}
  }
}
