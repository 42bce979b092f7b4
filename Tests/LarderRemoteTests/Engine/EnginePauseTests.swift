import Larder
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTestKit
import LarderTesting
import Testing

/// Engines that are paused while they run. Their interval never passes: the clock stands still.
@Suite("engines that are paused", .timeLimit(.minutes(20))) struct EnginePauseTests {
  private let server = InMemoryRemote()

  /// Streams of hints that a test sees opened and ended.
  private final class Hints: Sendable {
    private struct State {
      var streams: [AsyncThrowingStream<String, any Error>.Continuation] = []
      var endedCount = 0
    }

    private let state = Locked(State())

    var openedCount: Int { state.withLock { $0.streams.count } }
    var endedCount: Int { state.withLock { $0.endedCount } }

    func open() -> AsyncThrowingStream<String, any Error> {
      let (stream, continuation) = AsyncThrowingStream.makeStream(of: String.self)
      continuation.onTermination = { [state] _ in state.withLock { $0.endedCount += 1 } }
      state.withLock { $0.streams.append(continuation) }
      return stream
    }
  }

  private func engine(_ store: Store, _ remote: any Remote) throws -> SyncEngine {
    try SyncEngine(
      store, remote: remote, collections: [SyncedCollection(Card.self)], scopes: ["all"],
      account: "me", interval: .seconds(3600), clock: ManualClock())
  }

  /// The server without hints.
  private var silent: ClosureRemote {
    ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] in
      try await server.push($0)
    }
  }

  @Test("when a pause ends, its edits are sent and the changes of others come, without an interval")
  func resuming() async throws {
    let store = try Store.temporary()
    let cards = store.repository(of: Card.self)
    let engine = try engine(store, silent)
    let running = Task { await engine.run() }
    try #require(
      await eventually {
        engine.currentState.lastSynced != nil && engine.schedule?.isFetching == false
      })

    engine.pause()
    try await cards.save(Card(id: "mine"))
    server.put(.card("theirs"), .card("theirs", "t"), in: "all")
    // The engine has seen the edit.
    try #require(await eventually { engine.currentState.pendingCount == 1 })
    #expect(server.version(of: .card("mine")) == nil)
    engine.resume()

    #expect(try await eventually { server.version(of: .card("mine")) != nil })
    #expect(try await eventually { try cards.count() == 2 })
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("an engine that is paused before it runs asks nothing, and syncs when it is resumed")
  func pausedFromTheStart() async throws {
    let store = try Store.temporary()
    let cards = store.repository(of: Card.self)
    let engine = try engine(store, server)
    engine.pause()
    let running = Task { await engine.run() }
    // It sees edits from the moment on when it begins to run.
    var count = 0
    try #require(
      await eventually {
        count += 1
        try cards.save(Card(id: "mine", count: count))
        return engine.currentState.pendingCount == 1
      })

    #expect(server.recordedCalls.isEmpty)
    engine.resume()

    #expect(try await eventually { server.version(of: .card("mine")) != nil })
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("a pause ends the stream of hints, and its end opens another one")
  func hints() async throws {
    let store = try Store.temporary()
    let hints = Hints()
    let remote = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] in
      try await server.push($0)
    } hints: { _ in
      hints.open()
    }
    let engine = try engine(store, remote)
    let running = Task { await engine.run() }
    try #require(await eventually { hints.openedCount == 1 })

    engine.pause()
    try #require(await eventually { hints.endedCount == 1 })
    #expect(hints.openedCount == 1)
    engine.resume()

    #expect(try await eventually { hints.openedCount == 2 })
    #expect(hints.endedCount == 1)
    running.cancel()
    await running.value
    try verifyAndClose(store)
  }

  @Test("a sync with a budget says that not everything was done where the engine is paused")
  func budget() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a"))

    desk.engine.pause()
    #expect(try await desk.engine.run(budget: .seconds(2)) == false)

    desk.engine.resume()
    #expect(try await desk.engine.run(budget: .seconds(2)))
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }
}
