import Larder
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTestKit
import LarderTesting
import Testing

/// What engines say of themselves, and how often they ask.
@Suite("what an engine shows", .timeLimit(.minutes(20))) struct EngineShowTests {
  @Test("a cursor that expires again and again shows as a remote that cannot be used")
  func expired() async throws {
    let server = InMemoryRemote()
    server.script { call, _ in if case .pull = call { .fails(.cursorExpired) } else { nil } }
    let desk = try SyncDesk(server)

    await #expect(throws: RemoteError.cursorExpired) { try await desk.sync() }

    #expect(desk.engine.currentState.phase == .offline("\(RemoteError.cursorExpired)"))
    server.script(nil)
    try await desk.sync()
    #expect(desk.engine.currentState.phase == .idle)
    try desk.close()
  }

  @Test("edits are counted as they are made, also where nobody syncs, and while a sync sends them")
  func counted() async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server)
    let counts = Locked<[Int]>([])
    let states = desk.engine.states
    let following = Task {
      for await state in states { counts.withLock { $0.append(state.pendingCount) } }
    }
    try await desk.cards.save([Card(id: "a"), Card(id: "b")])
    #expect(desk.engine.currentState.pendingCount == 2)
    #expect(try await eventually { counts.withLock { $0.last } == 2 })
    try await desk.cards.save(Card(id: "c"))
    // Told without anybody who asks.
    #expect(try await eventually { counts.withLock { $0.last } == 3 })

    let sending = Locked<[Int]>([])
    server.script { [engine = desk.engine] call, _ in
      if case .push = call { sending.withLock { $0.append(engine.currentState.pendingCount) } }
      return nil
    }
    try await desk.sync()

    #expect(sending.withLock { $0 } == [3])
    #expect(desk.engine.currentState.pendingCount == 0)
    server.script(nil)
    following.cancel()
    try desk.close()
  }

  @Test("edits of collections that another engine sends are not counted as they are made either")
  func countedBesideOthers() async throws {
    let store = try Store.temporary()
    _ = try SyncDesk(InMemoryRemote(), store: store, collections: [SyncedCollection(Seat.self)])
    let desk = try SyncDesk(InMemoryRemote(), store: store)
    let seats = store.repository(of: Seat.self)
    try await desk.cards.save([Card(id: "a"), Card(id: "b")])
    #expect(desk.engine.currentState.pendingCount == 2)

    try await seats.save(Seat(number: 1, id: "a"))
    #expect(desk.engine.currentState.pendingCount == 2)
    try await desk.cards.save(Card(id: "c"))
    #expect(desk.engine.currentState.pendingCount == 3)
    var states = desk.engine.states.makeAsyncIterator()
    #expect(await states.next()?.pendingCount == 3)
    try await seats.delete(key: "a")
    #expect(desk.engine.currentState.pendingCount == 3)
    try desk.close()
  }

  @Test("an engine that runs counts the edits of its collections, and not those of others")
  func others() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    let store = try Store.temporary()
    _ = try SyncDesk(server, store: store, collections: [SyncedCollection(Seat.self)])
    try await store.repository(of: Seat.self).save(Seat(number: 1, id: "a"))
    server.script { call, _ in
      if case .push = call { .delaysAnswer(.seconds(9)) } else { nil }
    }
    let engine = try SyncEngine(
      store, remote: server, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(3600), clock: clock)
    let running = Task { await engine.run() }
    #expect(try await eventually { engine.currentState.lastSynced != nil })

    // Until the answer comes, the count is that of the edit.
    try await store.repository(of: Card.self).save(Card(id: "mine"))
    #expect(try await eventually { engine.currentState.pendingCount > 0 })
    #expect(engine.currentState.pendingCount == 1)

    try await answer(engine, clock)
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  /// Lets the time pass that an answer takes, until no edit is left.
  private func answer(_ engine: SyncEngine, _ clock: ManualClock) async throws {
    let isAnswered = try await eventually {
      clock.advance(by: .seconds(9))
      return engine.currentState.pendingCount == 0
    }
    #expect(isAnswered)
  }

  @Test("edits of another engine that were sent meanwhile are not taken off the count")
  func othersSent() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    let store = try Store.temporary()
    let seats = try SyncDesk(server, store: store, collections: [SyncedCollection(Seat.self)])
    try await store.repository(of: Seat.self).save(Seat(number: 1, id: "a"))
    // Without hints, which would have the edits counted anew.
    let remote = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] in
      try await server.push($0)
    }
    let engine = try SyncEngine(
      store, remote: remote, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(3600), clock: clock)
    let running = Task { await engine.run() }
    #expect(try await eventually { engine.currentState.lastSynced != nil })
    try await seats.sync()
    server.script { call, _ in
      if case .push = call { .delaysAnswer(.seconds(9)) } else { nil }
    }

    // Until the answer comes, the count is that of the edit.
    try await store.repository(of: Card.self).save(Card(id: "mine"))
    #expect(try await eventually { engine.currentState.pendingCount == 1 })

    try await answer(engine, clock)
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("a stream of hints that is cut after some seconds is opened again after short pauses")
  func cutHints() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    let life = Duration.seconds(25)
    let remote = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] in
      try await server.push($0)
    } hints: { _ in
      let isBegun = Locked(false)
      return AsyncThrowingStream(unfolding: {
        let isFirst = isBegun.withLock { isBegun in
          defer { isBegun = true }
          return !isBegun
        }
        if isFirst { return "all" }
        try await clock.sleep(for: life)
        return nil
      })
    }
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: remote, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(80_000), clock: clock)
    let running = Task { await engine.run() }
    // Whatever else sleeps does so for the interval.
    func pauses() -> [Duration] {
      clock.sleepDurations.filter { $0 <= .seconds(60) && $0 != life }
    }

    for number in 1...12 {
      try #require(await eventually { clock.sleepDurations.count { $0 == life } >= number })
      clock.advance(by: life)
      try #require(await eventually { pauses().count >= number })
      clock.advance(by: .seconds(60))
    }

    #expect(pauses().allSatisfy { $0 <= .seconds(1) })
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("a stream of hints that ends behind its first one is opened again after growing pauses")
  func shortHints() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    let remote = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] in
      try await server.push($0)
    } hints: { _ in
      AsyncThrowingStream { continuation in
        continuation.yield("all")
        continuation.finish()
      }
    }
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: remote, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(80_000), clock: clock)
    let running = Task { await engine.run() }
    // Whatever else sleeps does so for the interval.
    func pauses() -> [Duration] { clock.sleepDurations.filter { $0 <= .seconds(60) } }
    func hasGrown() -> Bool { pauses().contains { $0 > .seconds(1) } }

    // A pause is drawn from zero on, so that one that is allowed to be long may be short.
    for number in 1...100 {
      try #require(await eventually { pauses().count >= number })
      if hasGrown() { break }
      clock.advance(by: .seconds(60))
    }

    #expect(hasGrown())
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }
}
