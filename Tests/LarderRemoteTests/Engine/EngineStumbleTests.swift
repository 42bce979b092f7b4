import LarderLMDB
import LarderRemote
import LarderSync
import LarderTesting
import Testing

@testable import Larder

/// Answers that are late, endless or of no use, and what they must not keep an engine from.
@Suite("an engine that stumbles goes on", .timeLimit(.minutes(20))) struct EngineStumbleTests {
  private let server = InMemoryRemote()

  private var pushes: Int {
    server.recordedCalls.count { if case .push = $0 { true } else { false } }
  }

  @Test(
    "a document that is shortened after its edit was called too large is sent, and counts once",
    arguments: [true, false], [true, false])
  func shortened(isTaken: Bool, isChangedThere: Bool) async throws {
    let desk = try SyncDesk(server)
    server.put(.card("1"), .card("1", "t", count: 3), in: "all")
    try await desk.sync()
    try await desk.cards.update("1") { card in
      card.title = String(repeating: "long", count: 100)
      card.count += 1
    }
    server.script { call, _ in
      guard case .push = call else { return nil }
      return isTaken ? .losesAnswer : .fails(.unavailable("502"))
    }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script { call, _ in
      guard case .push(let request) = call else { return nil }
      let byteCount = request.mutations.map { $0.document?.json.count ?? 0 }.reduce(0, +)
      return byteCount > 300 ? .fails(.tooLarge("413")) : nil
    }
    try? await desk.sync()
    #expect(try desk.engine.rejected().map(\.code) == ["too-large"])
    if isChangedThere {
      server.put(.card("1"), .card("1", "t", count: isTaken ? 14 : 13), in: "all")
    }

    try await desk.cards.update("1") { card in
      card.title = "short"
      card.count += 1
    }
    #expect(try await desk.engine.run(budget: .seconds(60)))
    if isChangedThere {
      // Nobody knows whether what stands there has the edit already.
      #expect(try desk.engine.conflicts().count == 1)
      try await desk.engine.settle(.card("1"), as: .document(Self.settled))
    }
    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.cards.get("1")?.count == (isChangedThere ? 15 : 5))
    #expect(try desk.titles() == ["1 short"])
    #expect(try desk.engine.pending().isEmpty)
    #expect(try desk.engine.rejected().isEmpty)
    let other = try SyncDesk(server)
    try await other.sync()
    #expect(try other.titles() == ["1 short"])
    try other.close()
    try desk.close()
  }

  private static let settled: DynamicDocument = [
    "id": "1", "title": "short", "count": 15, "tags": .array([]),
    "spot": .document(["x": 0, "y": 0]),
  ]

  @Test("a document that is too large can be mended", arguments: [true, false])
  func mendsTooLarge(isSentBefore: Bool) async throws {
    var options = SyncEngine.Options()
    options.mend = { rejected in
      guard rejected.code == "too-large", var document = rejected.document else { return nil }
      document["title"] = "short"
      return document
    }
    let script: @Sendable (RemoteCall, Int) -> RemoteFault? = { call, _ in
      guard case .push(let request) = call else { return nil }
      let isLong = request.mutations.contains { ($0.document?.json.count ?? 0) > 300 }
      return isLong ? .fails(.tooLarge("413")) : nil
    }
    server.script(script)
    let desk = try SyncDesk(server, options: options)
    try await desk.cards.save(Card(id: "1", title: String(repeating: "long", count: 100)))
    if isSentBefore {
      server.script { call, _ in if case .push = call { .fails(.unavailable("502")) } else { nil } }
      try? await desk.sync()
      server.script(script)
    }

    for _ in 0..<2 { try? await desk.sync() }

    #expect(try desk.titles() == ["1 short"])
    #expect(server.documents(in: "all").count == 1)
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test(
    "a remote that cannot count keeps neither edits of moved documents nor syncs waiting",
    arguments: [true, false])
  func counts(isNeverSettled: Bool) async throws {
    let server = server
    let remote = ClosureRemote {
      try await server.facts()
    } pull: {
      try await server.pull($0)
    } push: {
      try await server.push($0)
    } count: { _ in
      if isNeverSettled { return nil }
      throw RemoteError.unavailable("504")
    }
    var options = SyncEngine.Options()
    options.auditInterval = 1
    let desk = try SyncDesk(remote, scopes: ["a", "b"], options: options)
    server.put(.card("1"), .card("1", "t"), in: "a")
    try await desk.sync()
    server.move(.card("1"), to: "elsewhere")
    try await desk.cards.update("1") { $0.title = "edited" }

    var isDone = false
    for _ in 0..<25 where !isDone {
      isDone = try await desk.engine.run(budget: .seconds(60))
      #expect(try isDone == (desk.engine.rejected().map(\.code) == ["left"]))
    }

    #expect(isDone)
    #expect(server.documents(in: "a").isEmpty)
    // What waits for an engine with other scopes keeps none from being done.
    let store = desk.store
    try await desk.engine.discard(.card("1"))
    server.put(.card("2"), .card("2", "t"), in: "a")
    try await desk.sync()
    server.move(.card("2"), to: "elsewhere")
    try await desk.cards.update("2") { $0.title = "edited" }
    _ = try await desk.engine.run(budget: .seconds(60))
    let other = try SyncDesk(server, store: store, scopes: ["b"])
    #expect(try await other.engine.run(budget: .seconds(60)))
    try desk.close()
  }

  @Test(
    "pages that take longer than anybody waits become smaller, and then larger again",
    arguments: [["all"], ["all", "more"]])
  func slowPages(scopes: [String]) async throws {
    let clock = ManualClock()
    let scope = scopes[0]
    for number in 0..<300 { server.put(.card("\(number)"), .card("\(number)", "t"), in: scope) }
    server.script { call, _ in
      guard case .pull(let request) = call, request.scope == scope, request.limit > 100 else {
        return nil
      }
      clock.advance(by: .seconds(60))
      return .fails(.unavailable("no whole answer within 60 seconds"))
    }
    let desk = try SyncDesk(server, scopes: scopes, clock: clock)

    var failureCount = 0
    while try desk.cards.count() < 300, failureCount < 10 {
      do {
        try await desk.sync()
      } catch {
        failureCount += 1
      }
    }

    #expect(failureCount == 4, "1000, 500, 250, 125")
    server.script(nil)
    for number in 300..<1500 {
      server.put(.card("\(number)"), .card("\(number)", "t"), in: scope)
    }
    for _ in 0..<6 {
      server.forgetCursors()
      try await desk.sync()
    }
    #expect(limits(of: scope).last == 1000)
    // What cannot be reached at all says nothing of its size.
    server.script { call, _ in if case .pull = call { .fails(.unavailable("offline")) } else { nil }
    }
    for _ in 0..<6 { try? await desk.sync() }
    server.script(nil)
    try await desk.sync()
    #expect(limits(of: scope).last == 1000)
    try desk.close()
  }

  private func limits(of scope: String) -> [Int] {
    server.recordedCalls.compactMap { call in
      if case .pull(let request) = call, request.scope == scope { request.limit } else { nil }
    }
  }

  @Test(
    "a remote that puts off everything is asked twice in a sync, and one that does a part until all is done"
  )
  func putsOff() async throws {
    server.script { call, _ in if case .push = call { .putsOff(behind: 0) } else { nil } }
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<6).map { Card(id: "\($0)") })
    try await desk.sync()
    #expect(pushes == 2)
    #expect(try await desk.engine.run(budget: .seconds(60)) == false)

    server.script { call, _ in if case .push = call { .putsOff(behind: 1) } else { nil } }
    try await desk.sync()

    #expect(server.documents(in: "all").count == 6)
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test("cursors that go round in circles end a pull with what is wrong")
  func circles() async throws {
    let pullCount = Locked(0)
    let remote = ClosureRemote { _ in
      let number = pullCount.withLock { count in
        count += 1
        return count
      }
      guard number < 50 else { throw RemoteError.gone("enough") }
      return PullAnswer(changes: [], cursor: number % 2 == 0 ? "a" : "b", hasMore: true)
    } push: { _ in
      []
    }
    let desk = try SyncDesk(remote)

    await #expect(
      throws: RemoteError.malformed(
        "a pull of all has more, and a cursor that was sent before: it would never end")
    ) { try await desk.sync() }

    #expect(pullCount.withLock { $0 } == 3)
    try desk.close()
  }

  @Test(
    "two keys that are one text in two forms are two documents there", arguments: [true, false])
  func forms(isComposedFirst: Bool) async throws {
    let names = ["caf\u{E9}", "cafe\u{301}"].map { RemoteKey("Card", $0) }
    #expect(names[0] != names[1])
    #expect(Set(names).count == 2)
    #expect((names[0] < names[1]) != (names[1] < names[0]))
    for name in isComposedFirst ? names : names.reversed() {
      server.put(name, .card(name.key, "t"), in: "all")
    }
    var options = SyncEngine.Options()
    options.auditInterval = 1
    let desk = try SyncDesk(server, options: options)

    for _ in 0..<4 { try await desk.sync() }

    #expect(try desk.cards.fetch(Card.all).map { Array($0.id.utf8) } == [Array(names[0].key.utf8)])
    #expect(try desk.engine.refused().map(\.key) == [names[1]])
    let beginnings = server.recordedCalls.count { call in
      if case .pull(let request) = call { request.cursor == nil } else { false }
    }
    #expect(beginnings == 1)
    try desk.close()
  }

  @Test("a document without a key is refused, and keeps no other waiting")
  func emptyKey() async throws {
    server.put(.card("a"), .card("a", "t"), in: "all")
    server.put(.card(""), .card("", "t"), in: "all")
    server.put(RemoteKey("Others", ""), RemoteDocument(#"{"id":""}"#), in: "all")
    server.put(.card("b"), .card("b", "t"), in: "all")
    let desk = try SyncDesk(server)

    try await desk.sync()

    #expect(try desk.titles() == ["a t", "b t"])
    #expect(try desk.engine.refused().map(\.key) == [.card("")])
    try desk.close()
  }

  @Test("every revision is one that the remote may give", arguments: ["-", " ", "0", "\u{0}"])
  func revisions(_ revision: String) async throws {
    let pushed = Locked<[Mutation]>([])
    let remote = ClosureRemote { request in
      let change = RemoteChange(
        .card("a"), revision: revision, .document(.card("a", "there")))
      return PullAnswer(changes: request.cursor == nil ? [change] : [], cursor: "c", hasMore: false)
    } push: { request in
      pushed.withLock { $0 += request.mutations }
      return request.mutations.map { mutation in
        mutation.base == revision
          ? .accepted(revision: "next")
          : .conflict(RemoteVersion(revision: revision, document: .card("a", "there")))
      }
    }
    let desk = try SyncDesk(remote)
    try await desk.sync()

    try await desk.cards.update("a") { $0.title = "here" }
    try await desk.sync()

    #expect(pushed.withLock { $0.map(\.base) } == [revision])
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }
}
