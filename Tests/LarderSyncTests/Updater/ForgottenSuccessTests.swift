import Larder
import LarderSync
import LarderTesting
import Testing

/// Limiters whose last success is forgotten while a fetch is under way.
@Suite(.timeLimit(.minutes(20))) struct ForgottenSuccessTests {
  private let page = Seller.many(3)

  @Test(
    "a fetch during which the last success is forgotten does not use up the interval",
    arguments: [false, true], [false, true])
  func underWay(isNew: Bool, isNamed: Bool) async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store, name: isNamed ? "sellers" : nil)
      let fetching = Task { try await scene.updater.sync() }
      await scene.remote.waitForRequests(1)

      try await scene.limiter.forgetLastSuccess()
      scene.remote.answer(.success(isNew ? .fromRemote(page) : .prefetched))

      if isNew {
        await #expect(throws: CancellationError.self) { try await fetching.value }
      } else {
        #expect(try await fetching.value == .alreadyCurrent)
      }
      #expect(try scene.sellers.count() == 0)
      try #require(try scene.limiter.lastSuccess() == nil)
      // As another process, or this one after a restart.
      #expect(try RefreshScene(store, clock: scene.clock).limiter.lastSuccess() == nil)
      let status = try await scene.sync(.success(.prefetched))
      #expect(status == .alreadyCurrent)
      #expect(try scene.limiter.lastSuccess() == scene.clock.date)
      #expect(try await scene.updater.sync() == .skipped)
    }
  }

  @Test("who joins after the last success was forgotten has the outcome of another fetch")
  func joining() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let early = Task { try await scene.updater.sync(.joining) }
      await scene.remote.waitForRequests(1)
      try await scene.limiter.forgetLastSuccess()
      let late = Task { try await scene.updater.sync(.joining) }
      await settle { scene.limiter.waiterCount == 2 }

      scene.remote.answer(.success(.fromRemote(page)))
      await scene.answer(2, .success(.fromRemote(Seller.many(4))))

      await #expect(throws: CancellationError.self) { try await early.value }
      #expect(try await late.value == .updated)
      #expect(try scene.sellers.count() == 4)
      #expect(try scene.limiter.lastSuccess() == scene.clock.date)
    }
  }

  @Test(
    "a stream fetches again behind a fetch during which the last success was forgotten",
    arguments: [Duration.zero, .seconds(900)])
  func streaming(interval: Duration) async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store, interval: interval)
      let screen = scene.screen()
      await scene.remote.waitForRequests(1)
      try await scene.limiter.forgetLastSuccess()

      scene.remote.answer(.success(.fromRemote(page)))
      await scene.answer(2, .success(.fromRemote(Seller.many(4))))

      await screen.waitForEvent { $0.value?.count == 4 }
      #expect(screen.errors.isEmpty)
    }
  }
}
