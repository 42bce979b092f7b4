import Larder
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

/// Several requests under way at once.
@Suite("an engine with two pushes under way", .timeLimit(.minutes(20))) struct EnginePushTests {
  private let server = InMemoryRemote()

  /// A desk with so many cards to send, two in a request.
  private func desk(_ remote: HeldRemote, cards count: Int) async throws -> SyncDesk {
    let desk = try SyncDesk(remote)
    for number in 0..<count {
      try await desk.cards.save(Card(id: "\(number)", title: "t", count: 1))
    }
    return desk
  }

  private func pendingKeys(_ desk: SyncDesk) throws -> [String] {
    try desk.engine.pending().map(\.key.key)
  }

  @Test("the next request is sent before the last is answered, and no document is in both")
  func overlap() async throws {
    let remote = HeldRemote(server)
    let desk = try await desk(remote, cards: 6)

    let synced = Task { try await desk.sync() }
    let requests = try await remote.waitForRequests(2)

    let keys = requests.flatMap { $0.mutations.map(\.key) }
    #expect(keys.count == 4 && Set(keys).count == 4)
    #expect(try desk.engine.pending().map(\.status) == [.sent, .sent, .sent, .sent, .due, .due])
    #expect(desk.engine.currentState.phase == .pushing(6))
    remote.open()
    try await synced.value
    #expect(remote.mostUnderWay == 2)
    #expect(remote.requests.count == 3)
    #expect(try desk.engine.pending() == [])
    #expect(server.documents(in: "all").count == 6)
    try desk.close()
  }

  @Test("a remote that does not speak of it gets one push at a time")
  func oneAtATime() async throws {
    #expect(RemoteFacts().maximumConcurrentPushCount == 1)
    let remote = HeldRemote(server, most: 1)
    let desk = try await desk(remote, cards: 6)
    remote.open()

    try await desk.sync()

    #expect(remote.mostUnderWay == 1 && remote.requests.count == 3)
    try desk.close()
  }

  @Test("an answer is saved when it comes, also before that of an earlier request")
  func outOfTurn() async throws {
    let remote = HeldRemote(server)
    let desk = try await desk(remote, cards: 6)
    let synced = Task { try await desk.sync() }
    let requests = try await remote.waitForRequests(2)

    remote.release(1)
    _ = try await remote.waitForRequests(3)

    let left = Set(requests[1].mutations.map(\.key.key))
    #expect(left.isDisjoint(with: try pendingKeys(desk)))
    #expect(try desk.engine.pending().map(\.status) == [.sent, .sent, .sent, .sent])
    remote.open()
    try await synced.value
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a conflict in the first while the second is under way is merged, and the second sent once")
  func conflict() async throws {
    let remote = HeldRemote(server)
    let desk = try await desk(remote, cards: 4)
    server.put(.card("0"), .card("0", "there", count: 5), in: "all")
    let synced = Task { try await desk.sync() }
    let first = try await remote.waitForRequests(2)
    let conflicting = first[0].mutations.contains { $0.key == .card("0") } ? 0 : 1

    remote.release(conflicting)
    _ = try await eventually { try desk.cards.get("0")?.count == 6 }
    #expect(try desk.engine.pending().first { $0.key == .card("0") }?.status == .due)
    remote.open()
    try await synced.value

    #expect(try desk.cards.get("0")?.count == 6)
    #expect(try desk.engine.pending() == [])
    let sent = remote.requests.flatMap { $0.mutations.map(\.key.key) }
    #expect(sent.sorted() == ["0", "0", "1", "2", "3"])
    try desk.close()
  }

  @Test("what is edited while two requests are under way is sent after them")
  func edited() async throws {
    let remote = HeldRemote(server)
    let desk = try await desk(remote, cards: 4)
    let synced = Task { try await desk.sync() }
    _ = try await remote.waitForRequests(2)

    for number in 0..<4 {
      try await desk.cards.save(Card(id: "\(number)", title: "later", count: 3))
    }
    remote.open()
    try await synced.value

    #expect(try desk.engine.pending() == [])
    let other = try SyncDesk(server)
    try await other.sync()
    #expect(try other.titles() == ["0 later", "1 later", "2 later", "3 later"])
    #expect(try other.cards.get("3")?.count == 3)
    try other.close()
    try desk.close()
  }

  @Test("edits of two requests whose answers were lost go again under their ids, and are done once")
  func lostAnswers() async throws {
    let remote = HeldRemote(server)
    let desk = try await desk(remote, cards: 6)
    let synced = Task { try await desk.sync() }
    let lost = try await remote.waitForRequests(2)
    remote.release(0, .failure(RemoteError.unavailable("broken", retryAfter: .seconds(9))))
    remote.release(1, .failure(RemoteError.unavailable("broken", retryAfter: .seconds(9))))
    await #expect(throws: RemoteError.self) { try await synced.value }
    #expect(remote.requests.count == 2)

    // Another process goes on with the store.
    remote.open()
    let next = try SyncDesk(remote, store: desk.store)
    try await next.sync()

    let again = remote.requests[2...].flatMap(\.mutations)
    for mutation in lost.flatMap(\.mutations) {
      #expect(again.first { $0.key == mutation.key }?.id == mutation.id)
    }
    #expect(server.documents(in: "all").count == 6)
    #expect(try next.engine.pending() == [])
    #expect(try next.cards.fetch(Card.all).map(\.count) == [1, 1, 1, 1, 1, 1])
    try desk.close()
  }

  @Test("pausing breaks off all that is under way, and the edits keep their ids")
  func pause() async throws {
    let remote = HeldRemote(server)
    let desk = try await desk(remote, cards: 6)
    let synced = Task { try await desk.sync() }
    let broken = try await remote.waitForRequests(2).flatMap(\.mutations)

    desk.engine.pause()
    await #expect(throws: CancellationError.self) { try await synced.value }

    #expect(remote.requests.count == 2)
    #expect(try desk.engine.pending().map(\.status) == [.sent, .sent, .sent, .sent, .due, .due])
    remote.open()
    desk.engine.resume()
    try await desk.sync()
    #expect(try desk.engine.pending() == [])
    let again = remote.requests[2...].flatMap(\.mutations)
    for mutation in broken {
      #expect(again.filter { $0.key == mutation.key }.map(\.id) == [mutation.id])
    }
    try desk.close()
  }

  @Test("where the remote is gone nothing more is sent, and an answer on its way is saved")
  func gone() async throws {
    let remote = HeldRemote(server)
    let desk = try await desk(remote, cards: 6)
    let synced = Task { try await desk.sync() }
    let requests = try await remote.waitForRequests(2)
    let error = RemoteError.unavailable("it broke")
    server.script { call, _ in call == .facts ? .fails(error) : nil }

    // The engine asks whether the remote answers others. From then on it knows that it does not.
    remote.release(0, .failure(error))
    #expect(try await eventually { server.recordedCalls.count { $0 == .facts } == 2 })
    remote.release(1)
    await #expect(throws: error) { try await synced.value }

    #expect(remote.requests.count == 2)
    let left = Set(try pendingKeys(desk))
    #expect(left.count == 4)
    #expect(left.isDisjoint(with: requests[1].mutations.map(\.key.key)))
    server.script(nil)
    remote.open()
    try await desk.sync()
    #expect(try desk.engine.pending() == [])
    #expect(server.documents(in: "all").count == 6)
    try desk.close()
  }

  @Test("a copy that is kept over a document under way is sent after it")
  func keptOver() async throws {
    let remote = HeldRemote(server)
    let cards = SyncedCollection(Card.self, resolver: { _ in .both(key: "2") })
    let desk = try SyncDesk(remote, collections: [cards])
    for number in 0..<4 {
      try await desk.cards.save(Card(id: "\(number)", title: "here \(number)"))
    }
    server.put(.card("0"), .card("0", "there"), in: "all")
    let synced = Task { try await desk.sync() }
    let requests = try await remote.waitForRequests(2)
    let conflicting = requests[0].mutations.contains { $0.key == .card("0") } ? 0 : 1

    // The copy of 0 takes the place of 2 before it is known that 2 was accepted.
    remote.release(conflicting)
    _ = try await eventually { try desk.cards.get("0")?.title == "there" }
    remote.open()
    try await synced.value

    let titles = ["0 there", "1 here 1", "2 here 0", "3 here 3"]
    #expect(try desk.titles() == titles)
    #expect(try desk.engine.pending() == [])
    let other = try SyncDesk(server)
    try await other.sync()
    #expect(try other.titles() == titles)
    try other.close()
    try desk.close()
  }
}
