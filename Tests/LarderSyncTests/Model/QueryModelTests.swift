import Larder
import LarderSync
import LarderTesting
import Testing

@MainActor @Suite(.timeLimit(.minutes(20))) struct QueryModelTests {
  private let page = Seller.many(3)

  @Test("a model has no rows until it is started, then what is stored, then every change")
  func rows() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      let model = QueryModel(sellers, Seller.byOrder)
      #expect(model.rows.isEmpty && !model.isLoaded && model.lastChange == nil)

      model.start()
      await waitUntil { model.isLoaded }
      #expect(model.rows == page)
      try await sellers.save(Seller.many(4))
      await waitUntil { model.rows.count == 4 }

      #expect(model.rows == Seller.many(4))
      #expect(model.lastError == nil && !model.isRefreshing)
      model.stop()
      await settle { !store.hasWatchers }
    }
  }

  @Test("rows are applied in steps, each of which says how a list is to be animated")
  func steps() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      var steps: [String] = []
      var list: [Seller] = []
      let model = QueryModel(sellers, Seller.byOrder) { change, apply in
        switch change {
        case .initial(let rows, _): steps.append("initial \(rows.count)")
        case .reset: steps.append("reset")
        case .update(let difference):
          steps.append(
            "- \(difference.removals.map(\.offset)) + \(difference.insertions.map(\.offset)) "
              + "~ \(difference.updates.map(\.offset))")
        }
        list.apply(change)
        apply()
      }
      model.start()
      await waitUntil { model.isLoaded }

      var first = page[0]
      first.phone = "0"
      let new = Seller(id: 9, phone: "9", address: "", order: 1)
      try await sellers.save([first, new], clearBeforeSaving: Seller.where { $0.id != 1 })
      await waitUntil { model.rows.count != 3 || model.rows.last?.id == 9 }

      #expect(steps == ["initial 3", "- [2] + [2] ~ [0]"])
      #expect(model.rows == [first, page[1], new])
      #expect(model.rows == list)
      guard case .update? = model.lastChange else {
        Issue.record("expected an update")
        return
      }
      model.stop()
    }
  }

  @Test("a sync that fails is the last error, keeps the rows, and goes when one succeeds")
  func errors() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      let updater = RecordingUpdater(.failure(Offline(number: 1)))
      let model = QueryModel(sellers, Seller.byOrder, refreshedBy: updater)

      model.start()
      await waitUntil { model.lastError != nil }
      #expect(model.lastError as? Offline == Offline(number: 1))
      #expect(model.rows == page)
      updater.outcome = .failure(Offline(number: 2))
      await model.refresh()
      #expect(model.lastError as? Offline == Offline(number: 2))
      model.dismissError()
      #expect(model.lastError == nil)
      await model.refresh()
      updater.outcome = .success(.skipped)
      await model.refresh(.ifDue)
      #expect(model.lastError != nil)
      updater.outcome = .success(.alreadyCurrent)
      await model.refresh()

      #expect(model.lastError == nil)
      #expect(model.rows == page)
      #expect(updater.timings == [.joining, .afterNow, .afterNow, .ifDue, .afterNow])
      model.stop()
    }
  }

  @Test("isRefreshing is true while a sync runs that the model began, and while one more does")
  func refreshing() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let updater = RecordingUpdater(nil)
      let model = QueryModel(sellers, Seller.byOrder, refreshedBy: updater)
      model.start()
      await waitUntil { model.isRefreshing }
      #expect(model.isLoaded)
      await updater.waitForCalls(1)
      let refresh = Task { await model.refresh() }
      await updater.waitForCalls(2)

      // A success takes an error away, and might be heard of after the failure.
      updater.finish(.success(.skipped))
      await updater.waitForEnds(1)
      #expect(model.isRefreshing)
      updater.finish(.failure(Offline()))
      await refresh.value
      await waitUntil { !model.isRefreshing }

      #expect(model.lastError as? Offline == Offline())
      model.stop()
    }
  }

  @Test("a model that is let go of stops watching, and waiting for a sync that runs")
  func letGo() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let updater = RecordingUpdater(nil)
      var model: QueryModel? = QueryModel(sellers, Seller.byOrder, refreshedBy: updater)
      weak let weakModel = model
      model?.start()
      await updater.waitForCalls(1)
      #expect(store.hasWatchers)

      model = nil
      await updater.waitForEnds(1)
      await settle { weakModel == nil && !store.hasWatchers }

      #expect(updater.runningCount == 0)
    }
  }

  @Test("starting a model that was started does nothing")
  func startingTwice() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let updater = RecordingUpdater()
      var initialCount = 0
      let model = QueryModel(sellers, Seller.byOrder, refreshedBy: updater) { change, apply in
        if case .initial = change { initialCount += 1 }
        apply()
      }
      model.start()
      await waitUntil { model.isLoaded }
      await updater.waitForEnds(1)

      model.start()
      try await sellers.save(page)
      await waitUntil { model.rows == page }

      #expect(initialCount == 1)
      #expect(updater.callCount == 1)
      model.stop()
    }
  }

  @Test("a model that was stopped keeps its rows, and can be started again")
  func restarting() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      let updater = RecordingUpdater()
      let model = QueryModel(sellers, Seller.byOrder, refreshedBy: updater)
      model.start()
      await waitUntil { model.isLoaded }
      await updater.waitForEnds(1)

      model.stop()
      await settle { !store.hasWatchers }
      try await sellers.save(Seller.many(4))
      #expect(model.rows == page)
      model.start()
      await waitUntil { model.rows.count == 4 }
      await updater.waitForEnds(2)

      #expect(updater.callCount == 2)
      model.stop()
    }
  }

  @Test("a store that is closed is the last error; the rows stay")
  func closing() async throws {
    let store = try Store.temporary()
    let sellers = store.repository(of: Seller.self)
    try await sellers.save(page)
    let model = QueryModel(sellers, Seller.byOrder)
    model.start()
    await waitUntil { model.isLoaded }

    try store.close(timeout: .seconds(300))
    await waitUntil { model.lastError != nil }

    #expect(model.lastError as? StoreError == .closed)
    #expect(model.rows == page)
  }

  @Test("a model takes an abstract repository, and shows domain models")
  func abstraction() async throws {
    let sellers: any Repository<Seller, Seller> = InMemoryRepository(
      of: Seller.self, mappedBy: SellerMapper())
    let model = QueryModel(sellers, Seller.byOrder)
    model.start()
    await waitUntil { model.isLoaded }
    try await sellers.save(page)
    await waitUntil { !model.rows.isEmpty }

    #expect(model.rows == page)
  }
}
