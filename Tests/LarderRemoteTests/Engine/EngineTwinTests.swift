import Larder
import LarderLMDB
import LarderRemote
import LarderTesting
import Testing

/// Two engines on one store, of which one is slow.
@Suite("engines whose scope another one reads", .timeLimit(.minutes(20))) struct EngineTwinTests {
  private let server = InMemoryRemote()

  /// A remote that does something before it hands on what the server has answered to a pull, the first being 1.
  private func remote(
    behind pull: Int, _ act: @escaping @Sendable () async throws -> Void
  ) -> ClosureRemote {
    let count = Locked(0)
    return ClosureRemote { [server] request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      let answer: Result<PullAnswer, any Error>
      do {
        answer = .success(try await server.pull(request))
      } catch {
        answer = .failure(error)
      }
      if number == pull { try await act() }
      return try answer.get()
    } push: { [server] in
      try await server.push($0)
    }
  }

  private var beginnings: Int {
    server.recordedCalls.count { call in
      if case .pull(let request) = call { request.cursor == nil } else { false }
    }
  }

  @Test("a load that another engine has begun anew drops nothing that came with the later one")
  func overtakenLoad() async throws {
    let store = try Store.temporary()
    for id in ["1", "2"] { server.put(.card(id), .card(id, "t"), in: "all") }
    let slow = try SyncDesk(
      remote(behind: 1) { [server] in
        let fast = try SyncDesk(server, store: store)
        try await fast.sync()
        server.put(.card("1"), .card("1", "new"), in: "all")
        server.put(.card("3"), .card("3", "new"), in: "all")
        server.forgetCursors()
        try await fast.sync()
      }, store: store)

    try await slow.sync()

    #expect(try slow.titles() == ["1 new", "2 t", "3 new"])
    #expect(slow.engine.currentState.phase == .idle)
    let count = beginnings
    try await slow.sync()
    #expect(try slow.titles() == ["1 new", "2 t", "3 new"])
    #expect(beginnings == count)
    try slow.close()
  }

  @Test("a page that another engine has read past puts no older versions back")
  func overtakenPage() async throws {
    let store = try Store.temporary()
    server.put(.card("1"), .card("1", "t"), in: "all")
    let slow = try SyncDesk(
      remote(behind: 2) { [server] in
        server.put(.card("1"), .card("1", "newest"), in: "all")
        server.put(.card("2"), .card("2", "newest"), in: "all")
        try await SyncDesk(server, store: store).sync()
        server.remove(.card("2"))
        try await SyncDesk(server, store: store).sync()
      }, store: store)
    try await slow.sync()
    server.put(.card("1"), .card("1", "newer"), in: "all")
    server.put(.card("2"), .card("2", "newer"), in: "all")

    try await slow.sync()

    #expect(try slow.titles() == ["1 newest"])
    try slow.close()
  }

  @Test("a cursor that has expired for two engines is begun anew by one")
  func overtakenRestart() async throws {
    let store = try Store.temporary()
    server.put(.card("1"), .card("1", "t"), in: "all")
    let slow = try SyncDesk(
      remote(behind: 2) { [server] in try await SyncDesk(server, store: store).sync() },
      store: store)
    try await slow.sync()
    server.forgetCursors()

    try await slow.sync()

    #expect(beginnings == 2)
    #expect(try slow.titles() == ["1 t"])
    try slow.close()
  }

  @Test("a pull that is overtaken by one that fails half-way reads on to the end")
  func overtakenByFailure() async throws {
    let store = try Store.temporary()
    server.currentFacts.maximumChangeCount = 1
    for id in ["1", "2", "3"] { server.put(.card(id), .card(id, "t"), in: "all") }
    let failing = remote(behind: 2) { throw RemoteError.unavailable("offline") }
    let slow = try SyncDesk(
      remote(behind: 1) { try? await SyncDesk(failing, store: store).sync() }, store: store)

    try await slow.sync()

    #expect(try slow.titles() == ["1 t", "2 t", "3 t"])
    #expect(beginnings == 2)
    try slow.close()
  }

  @Test("a pull that is overtaken again and again is a failure, and no sync")
  func overtakenAgain() async throws {
    let store = try Store.temporary()
    let isContended = Locked(true)
    let count = Locked(0)
    let slow = try SyncDesk(
      ClosureRemote { [server] request in
        guard isContended.withLock({ $0 }) else { return try await server.pull(request) }
        let number = count.withLock { count in
          count += 1
          return count
        }
        server.put(.card("\(number)"), .card("\(number)", "t"), in: "all")
        let answer = try await server.pull(request)
        try await SyncDesk(server, store: store).sync()
        return answer
      } push: { [server] in
        try await server.push($0)
      }, store: store)

    let reason = "another engine reads all as well"
    await #expect(throws: RemoteError.unavailable(reason)) { try await slow.sync() }

    #expect(slow.engine.currentState.phase == .offline(reason))
    #expect(slow.engine.currentState.lastSynced == nil)
    #expect(count.withLock { $0 } == 6)
    isContended.withLock { $0 = false }
    try await slow.sync()
    #expect(slow.engine.currentState.phase == .idle)
    #expect(try slow.titles().count == 6)
    try slow.close()
  }

  @Test("engines with other collections set each other back by what they load, not by trying to")
  func otherCollections() async throws {
    let store = try Store.temporary()
    server.put(.card("1"), .card("1", "t"), in: "all")
    server.put(RemoteKey("Seat", "s"), RemoteDocument(#"{"number":1,"id":"s"}"#), in: "all")
    let cards = try SyncDesk(server, store: store)
    try await cards.sync()
    let seats = [SyncedCollection(Seat.self)]
    let nobody = ClosureRemote { _ in
      throw RemoteError.unavailable("offline")
    } push: { _ in
      throw RemoteError.unavailable("offline")
    }
    let offline = try SyncDesk(nobody, store: store, collections: seats)
    await #expect(throws: RemoteError.unavailable("offline")) { try await offline.sync() }

    try await cards.sync()
    #expect(beginnings == 1)

    try await SyncDesk(server, store: store, collections: seats).sync()
    #expect(beginnings == 2)
    #expect(try store.repository(of: Seat.self).fetch(Seat.all).map(\.id) == ["s"])
    try await cards.sync()
    #expect(beginnings == 3)
    #expect(try cards.titles() == ["1 t"])
    try cards.close()
  }
}
