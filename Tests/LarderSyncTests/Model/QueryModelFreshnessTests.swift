import Larder
import LarderSync
import LarderTesting
import Testing

@MainActor @Suite(.timeLimit(.minutes(20))) struct QueryModelFreshnessTests {
  @Test("a model says when its rows were refreshed, whether they are being, and what has failed")
  func freshness() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let model = QueryModel(scene.sellers, Seller.byOrder, refreshedBy: scene.updater)
      #expect(model.lastRefreshed == nil && model.lastFailure == nil && !model.isRefreshing)

      model.start()
      await waitUntil { model.isRefreshing }
      await scene.answer(1, .failure(Offline()))
      await waitUntil { model.lastFailure != nil && !model.isRefreshing }
      await waitUntil { model.lastError != nil }
      model.dismissError()
      #expect(model.lastError == nil && model.lastFailure as? Offline == Offline())
      await scene.passPause(1)
      await scene.answer(2, .success(.prefetched))
      await waitUntil { model.lastRefreshed != nil && !model.isRefreshing }

      #expect(model.lastRefreshed == scene.clock.date)
      #expect(model.lastFailure == nil)
      model.stop()
    }
  }

  @Test(
    "a refresh that is over has told how fresh the rows are, also a model that was never started")
  func refreshed() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let model = QueryModel(scene.sellers, Seller.byOrder, refreshedBy: scene.updater)
      let failing = Task {
        await model.refresh()
        return (model.lastFailure as? Offline, model.isRefreshing)
      }
      await scene.answer(1, .failure(Offline()))
      #expect(await failing.value == (Offline(), false))
      let succeeding = Task {
        await model.refresh()
        return (model.lastRefreshed, model.isRefreshing)
      }
      await scene.answer(2, .success(.prefetched))

      #expect(await succeeding.value == (scene.clock.date, false))
      #expect(model.lastFailure == nil)
    }
  }

  @Test("a model shows a refresh that somebody else began, until it is stopped")
  func others() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let model = QueryModel(scene.sellers, Seller.byOrder, refreshedBy: scene.updater)
      model.start()
      await scene.answer(1, .success(.prefetched))
      await waitUntil { model.lastRefreshed != nil && !model.isRefreshing }

      let pull = Task { try await scene.updater.sync(.afterNow) }
      await waitUntil { model.isRefreshing }
      model.stop()

      await waitUntil { !model.isRefreshing }
      await scene.answer(2, .success(.prefetched))
      let status = try await pull.value
      #expect(status == .alreadyCurrent)
    }
  }
}
