import Foundation
import Larder
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTestKit
import LarderTesting
import Testing

/// Engines that run by themselves, and those that have little time.
@Suite("engines that run", .timeLimit(.minutes(20))) struct EngineRunTests {
  private let server = InMemoryRemote()

  @Test("a sync with a budget ends with it, keeps the edits, and goes on the next time")
  func budget() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    server.script { call, _ in if case .push = call { .delaysAnswer(.seconds(9)) } else { nil } }
    let desk = try SyncDesk(server, clock: clock)
    try await desk.cards.save(Card(id: "a"))

    let short = Task { try await desk.engine.run(budget: .seconds(2)) }
    // The budget, and the answer that is late.
    await clock.waitForSleeps(2)
    clock.advance(by: .seconds(2))

    #expect(try await short.value == false)
    #expect(try desk.engine.pending().map(\.key) == [.card("a")])
    server.script(nil)
    #expect(try await desk.engine.run(budget: .seconds(2)))
    #expect(try desk.engine.pending().isEmpty)
    #expect(server.documents(in: "all").count == 1)
    try desk.close()
  }

  @Test("an engine that runs goes on behind a sync whose budget was too small")
  func budgetBesideRun() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    server.script { call, _ in if case .pull = call { .delaysAnswer(.seconds(9)) } else { nil } }
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: server, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(60), clock: clock)
    let running = Task { await engine.run() }
    await clock.waitForSleeps(1)
    let short = Task { try await engine.run(budget: .seconds(2)) }
    await clock.waitForSleeps(2)
    clock.advance(by: .seconds(2))
    #expect(try await short.value == false)

    server.script(nil)
    server.put(.card("a"), .card("a", "t"), in: "all")
    while try store.repository(of: Card.self).count() == 0 {
      clock.advance(by: .seconds(10))
      try await Task.sleep(for: .milliseconds(1))
    }

    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("the first load says how many documents there are, and asks once for it")
  func total() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    server.currentFacts.maximumChangeCount = 2
    server.currentFacts.hasCount = true
    for id in ["a", "b", "c", "d", "e"] { server.put(.card(id), .card(id, "t"), in: "all") }
    // Behind the first page the next one is late.
    server.script { call, _ in
      if case .pull(let request) = call, request.cursor != nil { .delays(.seconds(1)) } else { nil }
    }
    let desk = try SyncDesk(server, clock: clock)
    let syncing = Task { try await desk.sync() }
    await clock.waitForSleeps(1)
    // The next page is asked for before this one is saved.
    while desk.engine.currentState.phase != .pulling(2, of: 5) {
      try await Task.sleep(for: .milliseconds(1))
    }

    server.script(nil)
    clock.advance(by: .seconds(1))
    try await syncing.value

    try await desk.sync()
    #expect(try desk.titles().count == 5)
    #expect(server.recordedCalls.filter { $0 == .count("all") }.count <= 2)
    try desk.close()
  }

  @Test("pending edits are followed: those that are made, sent and rejected")
  func pendingUpdates() async throws {
    let desk = try SyncDesk(server)
    var updates = desk.engine.pendingUpdates.makeAsyncIterator()
    #expect(try await updates.next() == [])

    try await desk.cards.save(Card(id: "a"))
    #expect(try await updates.next()?.map(\.key) == [.card("a")])
    server.currentFacts.maximumPushByteCount = 1
    try await desk.sync()
    while try await updates.next()?.first?.status != .rejected {}
    server.currentFacts.maximumPushByteCount = 1 << 20
    try await desk.engine.retry(.card("a"))
    try await desk.sync()
    while try await updates.next()?.isEmpty == false {}

    #expect(try desk.engine.pending() == [])
    try desk.close()
    await #expect(throws: StoreError.self) { while try await updates.next() != nil {} }
  }

  @Test("an engine that runs goes on whichever sync a budget has broken off")
  func manyBudgets() async throws {
    // Chance says which sync it is: one that ends behind the budget is seldom, and most runs do not meet it.
    let pulls = Locked(0)
    let remote = ClosureRemote { [server] request in
      pulls.withLock { $0 += 1 }
      try await Task.sleep(for: .milliseconds(3))
      return try await server.pull(request)
    } push: { [server] in
      try await server.push($0)
    }
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: remote, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .milliseconds(20))
    let running = Task { await engine.run() }

    for round in 0..<repetitions(60) {
      let others = Task { for _ in 0..<4 { _ = try? await engine.sync(.afterNow) } }
      for part in 1...3 {
        _ = try? await engine.run(budget: .milliseconds(3 + 6 * part - round % 6))
      }
      await others.value
      let count = pulls.withLock { $0 }
      try #require(try await eventually { pulls.withLock { $0 } > count })
    }

    running.cancel()
    await running.value
    try store.close()
  }

  @Test("not everything is done while the remote puts an edit off")
  func putOffInBudget() async throws {
    let desk = try SyncDesk(server)
    server.script { call, _ in if case .push = call { .putsOff(behind: 0) } else { nil } }
    try await desk.cards.save(Card(id: "a"))

    #expect(try await desk.engine.run(budget: .seconds(60)) == false)

    server.script(nil)
    #expect(try await desk.engine.run(budget: .seconds(60)))
    #expect(server.documents(in: "all").count == 1)
    try desk.close()
  }

  @Test("a failure within the budget is thrown")
  func failingBudget() async throws {
    let desk = try SyncDesk(server)
    server.script { _, _ in .fails(.needsSignIn("who?")) }

    await #expect(throws: RemoteError.needsSignIn("who?")) {
      try await desk.engine.run(budget: .seconds(2))
    }
    try desk.close()
  }

  @Test("an engine that runs sends edits at once, and hears by hints of those of others")
  func hints() async throws {
    let store = try Store.temporary()
    // Its interval never passes.
    let engine = try SyncEngine(
      store, remote: server, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(3600), clock: ManualClock())
    let running = Task { await engine.run() }
    let desk = try SyncDesk(server)

    try await store.repository(of: Card.self).save(Card(id: "mine"))
    while server.version(of: .card("mine")) == nil { try await Task.sleep(for: .milliseconds(1)) }
    try await desk.cards.save(Card(id: "theirs"))
    try await desk.sync()
    try await engine.arrived(.card("theirs"))

    running.cancel()
    await running.value
    #expect(try desk.titles() == ["mine ", "theirs "])
    try desk.close()
    try verifyAndClose(store)
  }

  @Test("what was edited while nothing ran is sent at once, however lately the last sync was")
  func editedBetweenRuns() async throws {
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: server, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(3600), clock: ManualClock())
    try await engine.sync()
    try await store.repository(of: Card.self).save(Card(id: "mine"))

    let running = Task { await engine.run() }
    while server.version(of: .card("mine")) == nil { try await Task.sleep(for: .milliseconds(1)) }

    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("a run that begins asks for nothing within the interval where no edit can be sent")
  func unsendableBetweenRuns() async throws {
    let store = try Store.temporary()
    let cards = store.repository(of: Card.self)
    let collections = [SyncedCollection(Card.self)]
    let old = try SyncEngine(
      store, remote: server, collections: collections, scopes: ["old"], account: "me")
    try await cards.save(Card(id: "a"))
    try await old.sync(.afterNow)
    try await cards.save(Card(id: "a", title: "edited"))
    let asked = Locked(0)
    let remote = ClosureRemote(
      pull: { [server] request in
        asked.withLock { $0 += 1 }
        return try await server.pull(request)
      }, push: { [server] in try await server.push($0) })
    let engine = try SyncEngine(
      store, remote: remote, collections: collections, scopes: ["new"], account: "me",
      interval: .seconds(3600), clock: ManualClock())
    try await engine.sync()
    let count = asked.withLock { $0 }

    for _ in 0..<5 {
      let running = Task { await engine.run() }
      try await Task.sleep(for: .milliseconds(50))
      running.cancel()
      await running.value
    }

    #expect(asked.withLock { $0 } == count)
    try verifyAndClose(store)
  }

  @Test("decisions make nobody ask a remote that wants a sign-in first, and are counted")
  func decisionsBehindFailure() async throws {
    // Hints begin with one, for which an engine asks once more.
    let desk = try SyncDesk(
      ClosureRemote(
        facts: { [server] in try await server.facts() },
        pull: { [server] in try await server.pull($0) },
        push: { [server] in try await server.push($0) }))
    let other = try SyncDesk(server, store: desk.store)
    try await desk.cards.save(Card(id: "a", title: String(repeating: "x", count: 100)))
    server.currentFacts.maximumPushByteCount = 1
    try await desk.sync()
    try await other.sync()
    let asked = Locked(0)
    server.script { _, _ in
      asked.withLock { $0 += 1 }
      return .fails(.needsSignIn("who?"))
    }
    let running = Task { await desk.engine.run() }
    #expect(try await eventually { desk.engine.schedule?.refreshState.lastFailure != nil })
    let count = asked.withLock { $0 }

    try await desk.engine.retry(.card("a"))
    try await Task.sleep(for: .milliseconds(100))

    #expect(asked.withLock { $0 } == count)
    #expect(desk.engine.currentState.rejectedCount == 0)
    running.cancel()
    await running.value
    // Somebody else has settled it, which is counted where it is found.
    #expect(try await other.engine.retry(all: [.card("a")]) == 0)
    #expect(other.engine.currentState.rejectedCount == 0)
    try desk.close()
  }

  @Test(
    "what somebody has decided is sent at once by an engine that runs",
    arguments: ["settle", "settle all", "retry", "retry all"], [0, 3600])
  func decisions(decision: String, interval: Int) async throws {
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: server,
      collections: [SyncedCollection(Card.self, resolver: { _ in .ask })], scopes: ["all"],
      account: "me", interval: .seconds(interval), clock: ManualClock())
    let cards = store.repository(of: Card.self)
    let isConflict = decision.hasPrefix("settle")
    if isConflict {
      server.put(.card("a"), .card("a", "before"), in: "all")
      try await engine.sync(.afterNow)
      server.put(.card("a"), .card("a", "theirs"), in: "all")
    } else {
      server.currentFacts.maximumPushByteCount = 1
    }
    try await cards.save(Card(id: "a", title: "mine"))
    let running = Task { await engine.run() }
    for await state in engine.states
    where state.phase == .idle && state.conflictCount + state.rejectedCount == 1 { break }

    server.currentFacts.maximumPushByteCount = 1 << 20
    switch decision {
    case "settle": try await engine.settle(.card("a"), as: .here)
    case "settle all": try await engine.settle(all: [.card("a")], as: .here)
    case "retry": try await engine.retry(.card("a"))
    default: try await engine.retry(all: [.card("a")])
    }
    for await state in engine.states where state.pendingCount == 0 { break }

    #expect(server.version(of: .card("a"))?.document?.json.contains(Data("mine".utf8)) == true)
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("a remote that asks for rest is asked for hints no sooner than for anything else")
  func restingRemote() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    server.script { _, _ in .fails(.unavailable("at rest", retryAfter: .seconds(3600))) }
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: server, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(60), clock: clock)
    let running = Task { await engine.run() }
    try #require(await eventually { engine.currentState.phase == .offline("at rest") })

    for _ in 0..<100 {
      clock.advance(by: .seconds(30))
      try await Task.sleep(for: .milliseconds(2))
    }
    #expect(server.recordedCalls.count == 1)

    server.script(nil)
    server.put(.card("a"), .card("a", "t"), in: "all")
    while try store.repository(of: Card.self).count() == 0 {
      clock.advance(by: .seconds(600))
      try await Task.sleep(for: .milliseconds(1))
    }
    // From then on hints are followed: the interval does not pass.
    server.put(.card("b"), .card("b", "t"), in: "all")
    try await engine.arrived(.card("b"))
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("what is edited during a long pull is sent before that has ended")
  func editsDuringPull() async throws {
    server.currentFacts.maximumChangeCount = 1
    for number in 0..<40 { server.put(.card("\(number)"), .card("\(number)", "t"), in: "all") }
    let store = try Store.temporary()
    let pullCount = Locked(0)
    let pushes = Locked<[Int]>([])
    let remote = ClosureRemote { [server] in
      try await server.facts()
    } pull: { [server] request in
      let number = pullCount.withLock { count in
        count += 1
        return count
      }
      // The user edits while the tenth page is on its way.
      if number == 10 { try await store.repository(of: Card.self).save(Card(id: "mine")) }
      return try await server.pull(request)
    } push: { [server] request in
      pushes.withLock { $0.append(pullCount.withLock { $0 }) }
      return try await server.push(request)
    }
    let desk = try SyncDesk(remote, store: store)

    try await desk.sync()

    #expect(pushes.withLock { $0.count } == 1)
    #expect(pushes.withLock { $0.first ?? 0 } < 20)
    #expect(try desk.cards.count() == 41)
    #expect(try desk.engine.pending().isEmpty)
    #expect(server.documents(in: "all").count == 41)
    try desk.close()
  }

  @Test(
    "an edit of what comes again in a long pull is never undone, at no moment",
    arguments: [5, 6, 8, 9, 12], ["edited", "deleted"])
  func editsOfEchoes(count: Int, what: String) async throws {
    server.currentFacts.maximumChangeCount = 1
    let store = try Store.temporary()
    let cards = store.repository(of: Card.self)
    let pullCount = Locked(0)
    let remote = ClosureRemote { [server] in
      try await server.facts()
    } pull: { [server] request in
      let answer = try await server.pull(request)
      let number = pullCount.withLock { count in
        count += 1
        return count
      }
      // The user changes a document whose older version is on its way.
      if number == 5, what == "edited" { try await cards.update("5") { $0.title = "second" } }
      if number == 5, what == "deleted" { try await cards.delete(key: "5") }
      return answer
    } push: { [server] request in
      try await server.push(request)
    }
    let desk = try SyncDesk(remote, store: store)
    try await cards.save((1...count).map { Card(id: "\($0)", title: "first") })
    let before = try store.statistics().sequence

    try await desk.sync()

    let expected = what == "edited" ? "second" : nil
    #expect(try cards.get("5")?.title == expected)
    #expect((server.version(of: .card("5"))?.document != nil) == (expected != nil))
    #expect(try desk.engine.pending().isEmpty)
    // The edit is the only change: nothing has come back in between.
    #expect(try store.statistics().sequence == before + 1)
    try desk.close()
  }

  @Test("hints that pile up while an engine syncs are answered by one sync more")
  func piledHints() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: server, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(3600), clock: clock)
    let running = Task { await engine.run() }
    server.put(.card("first"), .card("first", "t"), in: "all")
    try await engine.arrived(.card("first"))
    var pullCount: Int {
      server.recordedCalls.count { call in if case .pull = call { true } else { false } }
    }
    // The answer to the first hint is late, and a hundred more come meanwhile.
    server.script { call, _ in if case .pull = call { .delaysAnswer(.seconds(1)) } else { nil } }
    let before = pullCount
    server.put(.card("slow"), .card("slow", "t"), in: "all")
    try #require(await eventually { pullCount > before })
    for number in 0..<100 { server.put(.card("\(number)"), .card("\(number)", "t"), in: "all") }
    server.script(nil)
    while try store.repository(of: Card.self).count() < 102 {
      clock.advance(by: .seconds(1))
      try await Task.sleep(for: .milliseconds(1))
    }
    // As long as a sync per hint would take to begin.
    try await Task.sleep(for: .milliseconds(100))

    #expect(pullCount - before < 20)
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test(
    "an engine that runs outlives a suspension of its store, and so do those who follow its edits")
  func suspended() async throws {
    let store = try Store.temporary()
    let clock = ManualClock()
    let engine = try SyncEngine(
      store, remote: server, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(3600), clock: clock)
    var updates = engine.pendingUpdates.makeAsyncIterator()
    #expect(try await updates.next() == [])
    let running = Task { await engine.run() }
    let cards = store.repository(of: Card.self)
    try await cards.save(Card(id: "a"))
    while server.version(of: .card("a")) == nil { try await Task.sleep(for: .milliseconds(1)) }
    // A sync may run still.
    while (try? store.suspend()) == nil { try await Task.sleep(for: .milliseconds(1)) }

    await #expect(throws: StoreError.self) { try await engine.sync(.afterNow) }
    #if os(Linux)
      #expect(try HeldLocks.list(store.folder.path) == [])
    #endif
    try store.resume()

    try await cards.save(Card(id: "b"))
    // Behind its failure the engine waits until it is time to try again.
    while server.version(of: .card("b")) == nil {
      clock.advance(by: .seconds(60))
      try await Task.sleep(for: .milliseconds(1))
    }
    server.script { _, _ in .fails(.needsSignIn("who?")) }
    try await cards.save(Card(id: "c"))
    while try await updates.next()?.map(\.key) != [.card("c")] {}
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("a hint that comes while a retry is under way is followed behind it")
  func hintDuringRetry() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    let (hints, hinting) = AsyncThrowingStream.makeStream(of: String.self)
    let isListening = Flag()
    let remote = ClosureRemote { request in
      try await server.pull(request)
    } push: { request in
      try await server.push(request)
    } hints: { _ in
      isListening.set()
      return hints
    }
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: remote, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(3600), clock: clock)
    let limiter = try #require(engine.schedule)
    let running = Task { await engine.run() }
    try #require(await eventually { isListening.isSet && !limiter.isFetching })
    server.script { _, _ in .fails(.unavailable("down")) }
    hinting.yield("all")
    try #require(
      await eventually { limiter.refreshState.lastFailure != nil && !limiter.isFetching })
    // The retry reads what the server has, and its answer is late.
    server.script { _, _ in .delaysAnswer(.seconds(100)) }
    try #require(
      await eventually {
        if !limiter.isFetching { clock.advance(by: .seconds(1)) }
        return clock.sleepDurations.contains(.seconds(100))
      })
    server.script(nil)
    server.put(.card("late"), .card("late", "t"), in: "all")

    hinting.yield("all")
    // Beside the engine's own schedule.
    try #require(await eventually { limiter.waiterCount == 2 })
    clock.advance(by: .seconds(100))

    let cards = store.repository(of: Card.self)
    #expect(try await eventually { try cards.count() == 1 })
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("a remote that is gone shows with its reason, and loses no edit")
  func gone() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a"))
    server.script { _, _ in .fails(.gone("moved to sync.example.org")) }

    await #expect(throws: RemoteError.gone("moved to sync.example.org")) { try await desk.sync() }

    #expect(desk.engine.currentState.phase == .stopped("moved to sync.example.org"))
    #expect(desk.engine.currentState.pendingCount == 1)
    server.script(nil)
    try await desk.sync()
    #expect(server.documents(in: "all").count == 1)
    try desk.close()
  }
}
