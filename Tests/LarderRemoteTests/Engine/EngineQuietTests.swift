import Foundation
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTesting
import Testing

@testable import Larder

/// What an engine costs that has nothing to do, and how it ends.
@Suite("engines that wait, and engines that end", .timeLimit(.minutes(20)))
struct EngineQuietTests {
  private let server = InMemoryRemote()

  @Test("a sync that finds nothing new writes nothing")
  func nothingNew() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a"))
    for _ in 0..<3 { try await desk.sync() }
    let before = try desk.store.engine.environment.beginRead().id

    for _ in 0..<3 { #expect(try await desk.engine.sync(.afterNow) == .alreadyCurrent) }

    #expect(try desk.store.engine.environment.beginRead().id == before)
    try desk.close()
  }

  @Test("an engine is gone when nobody holds it, and its states end")
  func ends() async throws {
    var desk: SyncDesk? = try SyncDesk(server)
    try await desk?.cards.save(Card(id: "a"))
    try await desk?.sync()
    weak let engine = desk?.engine
    let states = try #require(desk?.engine.states)
    let store = try #require(desk?.store)

    desk = nil

    // The task of the last sync may hold it for a moment.
    for await _ in states {}
    #expect(engine == nil)
    try verifyAndClose(store)
  }

  @Test("a state is told once, however often it is set, and the last one is told")
  func states() async throws {
    let desk = try SyncDesk(server)
    var states = desk.engine.states.makeAsyncIterator()
    #expect(await states.next()?.phase == .idle)

    desk.engine.pause()
    desk.engine.pause()
    #expect(await states.next()?.phase == .paused)
    desk.engine.resume()
    #expect(await states.next()?.phase == .idle)
    try desk.close()
  }

  @Test("a task that is cancelled while it is told of states holds nobody up")
  func cancelledListener() async throws {
    let desk = try SyncDesk(server)
    let engine = desk.engine
    for _ in 0..<500 {
      let listener = Task { for await _ in engine.states {} }
      let changes = Task.detached {
        for _ in 0..<20 {
          engine.pause()
          engine.resume()
        }
      }
      await Task.yield()
      listener.cancel()
      await listener.value
      await changes.value
    }
    #expect(engine.currentState.phase == .idle)
    try desk.close()
  }

  @Test("a pause holds, whatever the sync under way was about to show")
  func paused() async throws {
    let clock = ManualClock()
    let server = InMemoryRemote(clock: clock)
    server.script { call, _ in if case .pull = call { .delaysAnswer(.seconds(5)) } else { nil } }
    let desk = try SyncDesk(server)
    let engine = desk.engine
    let sync = Task { try await engine.sync(.afterNow) }
    await clock.waitForSleeps(1)

    engine.pause()
    clock.advance(by: .seconds(5))
    _ = await sync.result
    server.script(nil)

    #expect(engine.currentState.phase == .paused)
    #expect(try await engine.sync(.afterNow) == .skipped)
    engine.resume()
    #expect(try await engine.sync(.afterNow) == .alreadyCurrent)
    try desk.close()
  }

  @Test("waiting for a document ends when it comes, and with an error when its task is cancelled")
  func arrived() async throws {
    let desk = try SyncDesk(server)
    let engine = desk.engine
    let waiting = Task { try await engine.arrived(.card("a")) }
    let cancelled = Task { try await engine.arrived(.card("never")) }
    server.put(.card("a"), .card("a", "t"), in: "all")

    try await desk.sync()
    try await waiting.value
    cancelled.cancel()

    await #expect(throws: CancellationError.self) { try await cancelled.value }
    try await engine.arrived(.card("a"))
    try desk.close()
  }

  @Test("closing the store under an engine makes it fail, and nothing else")
  func closed() async throws {
    let desk = try SyncDesk(server)
    let engine = desk.engine
    let running = Task { await engine.run() }
    try await desk.sync()

    try desk.store.close(timeout: .seconds(300))

    await #expect(throws: (any Error).self) { try await engine.sync(.afterNow) }
    running.cancel()
    await running.value
  }

  @Test("two engines on one store send each edit once")
  func twoEngines() async throws {
    let desk = try SyncDesk(server)
    let other = try SyncDesk(server, store: desk.store)
    for round in 0..<10 {
      _ = try await desk.store.write { tx in
        var card = try tx.get(Card.self, "a") ?? Card(id: "a")
        card.count += 1
        try tx.save(card)
      }
      async let first: UpdateStatus? = try? desk.engine.sync(.afterNow)
      async let second: UpdateStatus? = try? other.engine.sync(.afterNow)
      _ = await (first, second)
      #expect(try desk.cards.get("a")?.count == round + 1)
    }
    try await desk.sync()

    #expect(try desk.cards.get("a")?.count == 10)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("documents of collections that are not followed make no audit fail")
  func others() async throws {
    server.put(RemoteKey("Other", "1"), RemoteDocument(#"{"id":"1"}"#), in: "all")
    server.put(.card("a"), .card("a", "t"), in: "all")
    var options = SyncEngine.Options()
    options.auditInterval = 1
    let desk = try SyncDesk(server, options: options)

    for _ in 0..<6 { try await desk.sync() }

    let first = server.recordedCalls.filter {
      if case .pull(let request) = $0 { request.cursor == nil } else { false }
    }
    #expect(first.count == 1)
    try desk.close()
  }
}
