import Larder
import LarderSync
import LarderTesting
import Synchronization
import Testing

/// What a fetch that is under way may still do when its data are erased.
@Suite(.timeLimit(.minutes(20))) struct SignOutTests {
  /// A store, and a repository in memory, which saves go into as well.
  private struct Scene: Sendable {
    let limiter: FetchLimiter
    let requests = ScriptedRemote<[Seller]>()
    let stored: any Repository<Seller, Seller>

    init(_ store: Store, isNamed: Bool, inMemory: Bool) {
      limiter =
        isNamed
        ? FetchLimiter(minimumInterval: .seconds(60), named: "a", in: store) : FetchLimiter()
      stored =
        inMemory ? InMemoryRepository(of: Seller.self) : store.repository(of: Seller.self)
    }

    func updater(
      _ save: @escaping @Sendable ([Seller], ChangeOrigin) async throws -> SaveReport
    ) -> RemoteUpdater {
      RemoteUpdater(limiter: limiter, fetch: requests.fetch, save: save)
    }
  }

  private struct Wrapped: Error {}

  @Test(
    "what a fetch brings after the last success was forgotten is not saved, wherever it is saved to",
    arguments: [false, true], [false, true])
  func refused(isNamed: Bool, inMemory: Bool) async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, isNamed: isNamed, inMemory: inMemory)
      let updater = scene.updater { try await scene.stored.save($0, as: $1) }
      try await scene.stored.save(Seller.many(1))
      let fetching = Task { try await updater.sync(.afterNow) }
      await scene.requests.waitForRequests(1)

      try await scene.limiter.forgetLastSuccess()
      try await scene.stored.eraseAllData()
      scene.requests.answer(.success(.fromRemote(Seller.many(3))))

      await #expect(throws: CancellationError.self) { try await fetching.value }
      #expect(try scene.stored.fetch(Seller.all).isEmpty)
      #expect(scene.limiter.refreshState.lastFailure == nil)
    }
  }

  @Test(
    "a save that waits for its turn is refused in its transaction, whatever it makes of the error")
  func inTransaction() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, isNamed: true, inMemory: false)
      let isSaving = ScriptedRemote<[Seller]>()
      let updater = scene.updater { sellers, origin in
        _ = try await isSaving.fetch()
        do {
          return try await scene.stored.save(sellers, as: origin)
        } catch {
          throw Wrapped()
        }
      }
      let fetching = Task { try await updater.sync(.afterNow) }
      await scene.requests.waitForRequests(1)
      scene.requests.answer(.success(.fromRemote(Seller.many(3))))
      await isSaving.waitForRequests(1)

      try await scene.limiter.forgetLastSuccess()
      isSaving.answer(.success(.prefetched))

      await #expect(throws: CancellationError.self) { try await fetching.value }
      #expect(try scene.stored.fetch(Seller.all).isEmpty)
      #expect(try scene.limiter.lastSuccess() == nil)
    }
  }

  @Test("what the user saves meanwhile, and what the next fetch brings, is saved")
  func allowed() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, isNamed: false, inMemory: false)
      let updater = scene.updater { sellers, origin in
        try await scene.stored.save([Seller(id: 9, phone: "9", address: "")])
        return try await scene.stored.save(sellers, as: origin)
      }
      let first = Task { try await updater.sync(.afterNow) }
      await scene.requests.waitForRequests(1)
      try await scene.limiter.forgetLastSuccess()
      scene.requests.answer(.success(.fromRemote(Seller.many(3))))
      await #expect(throws: CancellationError.self) { try await first.value }
      #expect(try scene.stored.fetch(Seller.all).map(\.id) == [9])

      let second = Task { try await updater.sync(.afterNow) }
      await scene.requests.waitForRequests(2)
      scene.requests.answer(.success(.fromRemote(Seller.many(3))))

      #expect(try await second.value == .updated)
      #expect(try scene.stored.fetch(Seller.all).count == 4)
    }
  }

  @Test("a family stops the fetches of all keys, and forgets their successes")
  func family() async throws {
    let requests = ScriptedRemote<[Seller]>()
    let stored = InMemoryRepository(of: Seller.self)
    let family = UpdaterFamily { (_: Int) in
      FetchLimiter(minimumInterval: .seconds(60), clock: ManualClock())
    } updater: { _, limiter in
      RemoteUpdater(limiter: limiter, fetch: requests.fetch) { try await stored.save($0, as: $1) }
    }
    let current = Task { try await family[0].sync() }
    await requests.waitForRequests(1)
    requests.answer(.success(.prefetched))
    #expect(try await current.value == .alreadyCurrent)
    let fetches = (1...2).map { key in Task { try await family[key].sync() } }
    await requests.waitForRequests(3)

    family.cancel()
    for fetch in fetches { await #expect(throws: CancellationError.self) { try await fetch.value } }
    #expect(try await family[0].sync() == .skipped)
    try await family.forgetLastSuccesses()

    let again = Task { try await family[0].sync() }
    await requests.waitForRequests(4)
    requests.answer(.success(.fromRemote(Seller.many(2))))
    #expect(try await again.value == .updated)
  }

  @Test("a fetch that was interrupted by itself has failed, is told, and is tried again")
  func interrupted() async throws {
    try await withTemporaryStore { store in
      let clock = ManualClock()
      let count = Mutex(0)
      let limiter = FetchLimiter(retrying: Backoff(random: { 1 }), clock: clock)
      let updater = RemoteUpdater(limiter: limiter) { () async throws -> Fetched<[Seller]> in
        let number = count.withLock { count in
          count += 1
          return count
        }
        if number == 1 { throw CancellationError() }
        return .fromRemote(Seller.many(2))
      } save: {
        try await store.repository(of: Seller.self).save($0, as: $1)
      }
      let recorder = EventRecorder(
        store.repository(of: Seller.self).stream(Seller.all, refreshedBy: updater))

      await recorder.waitForErrors(1)
      #expect(recorder.errors.first is FetchInterrupted)
      await clock.waitForSleeps(1)
      clock.advance(by: .seconds(86_400))

      await recorder.waitForEvent { $0.value?.count == 2 }
    }
  }
}
