import Larder
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTesting
import Testing

@Document private struct Rack: Equatable {
  var id: String
  @Indexed(unique: true) var slot: String?
  var text = ""
  @Merge(.counter) var count = 0
}

/// Rejects every edit while it is told to.
private final class Refusing: Remote {
  let server: InMemoryRemote
  let isRefusing = Locked(false)
  /// What happens on the server before the next pull.
  let beforePull = Locked<(@Sendable (InMemoryRemote) -> Void)?>(nil)

  init(_ server: InMemoryRemote) { self.server = server }

  func facts() async throws -> RemoteFacts { try await server.facts() }
  func pull(_ request: PullRequest) async throws -> PullAnswer {
    beforePull.withLock { body in
      body?(server)
      body = nil
    }
    return try await server.pull(request)
  }
  func count(_ scope: String) async throws -> Int? { try await server.count(scope) }
  func push(_ request: PushRequest) async throws -> [PushResult] {
    guard isRefusing.withLock({ $0 }) else { return try await server.push(request) }
    return request.mutations.map { _ in .rejected(code: "name-taken", reason: "said so") }
  }
}

/// What was set aside keeps nothing else from being synced, and somebody can settle it.
@Suite("what was set aside can be put right", .timeLimit(.minutes(20))) struct EngineRemedyTests {
  private func desk(
    _ remote: any Remote, scopes: [String] = ["all"], upgradesCount: Bool = false,
    store: Store? = nil,
    options: SyncEngine.Options = SyncEngine.Options()
  ) throws -> SyncDesk {
    var collection = SyncedCollection(Rack.self)
    if upgradesCount {
      collection = SyncedCollection(
        Rack.self,
        upgrade: { document in
          if case .string? = document["count"] { document["count"] = 7 }
        })
    }
    return try SyncDesk(
      remote, store: store, collections: [collection], scopes: scopes, options: options)
  }

  private func rack(_ id: String, slot: String? = nil, count: Int = 0) -> RemoteDocument {
    let slot = slot.map { "\"\($0)\"" } ?? "null"
    return RemoteDocument(#"{"id":"\#(id)","slot":\#(slot),"text":"","count":\#(count)}"#)
  }

  private func key(_ id: String) -> RemoteKey { RemoteKey("Rack", id) }

  @Test(
    "an edit that the app mends into what cannot be saved is set aside with the remote's reason",
    arguments: ["kind", "unique"], [true, false])
  func uselessMending(fault: String, isTooLarge: Bool) async throws {
    var facts = RemoteFacts.ofInMemoryRemote
    if isTooLarge { facts.maximumPushByteCount = 500 }
    let remote = Refusing(InMemoryRemote(facts: facts))
    var options = SyncEngine.Options()
    options.mend = { rejected in
      guard var document = rejected.document, document["id"] == "a" else { return nil }
      if fault == "kind" { document["count"] = "x" } else { document["slot"] = "taken" }
      return document
    }
    let desk = try desk(remote, options: options)
    let racks = desk.store.repository(of: Rack.self)
    remote.server.put(key("other"), rack("other", slot: "taken"), in: "all")
    try await desk.sync()
    let text = isTooLarge ? String(repeating: "x", count: 1000) : "short"
    try await racks.save(Rack(id: "a", text: text))
    if isTooLarge { try await racks.save(Rack(id: "b")) }
    remote.server.put(key("news"), rack("news"), in: "all")
    remote.isRefusing.withLock { $0 = !isTooLarge }

    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.engine.rejected().map(\.code) == [isTooLarge ? "too-large" : "name-taken"])
    #expect(try racks.get("news") != nil)
    #expect(remote.server.version(of: key("b")) != nil || !isTooLarge)
    #expect(try racks.get("a")?.text == text)
    try await desk.engine.discard(key("a"))
    #expect(try racks.get("a") == nil)
    try desk.close()
  }

  @Test(
    "an edit whose version before is not kept can be discarded, and what the remote has comes back",
    arguments: ["expired", "settled", "deleted"])
  func discardedWithoutVersion(history: String) async throws {
    let remote = Refusing(InMemoryRemote())
    let desk = try desk(remote)
    let racks = desk.store.repository(of: Rack.self)
    remote.server.put(key("a"), rack("a", count: 1), in: "all")
    remote.server.put(key("b"), rack("b", count: 2), in: "all")
    try await desk.sync()
    remote.isRefusing.withLock { $0 = true }
    switch history {
    case "expired":
      try await desk.store.write(as: .expiry) { tx in _ = try tx.delete(Rack.self, "a") }
      try await racks.save(Rack(id: "a", count: 5))
    case "settled":
      try await racks.save(Rack(id: "a", count: 5))
      remote.isRefusing.withLock { $0 = false }
      remote.server.put(
        key("a"), RemoteDocument(#"{"id":"a","slot":null,"text":"","count":"many"}"#), in: "all")
      try await desk.sync()
      #expect(try desk.engine.rejected().map(\.code) == ["refused"])
      try await desk.engine.settle(key("a"), as: .here)
      remote.server.put(key("a"), rack("a", count: 1), in: "all")
      remote.isRefusing.withLock { $0 = true }
    default:
      try await desk.store.write(as: .sync) { tx in _ = try tx.delete(Rack.self, "a") }
      try await racks.save(Rack(id: "a", count: 5))
    }
    try await desk.sync()
    #expect(try desk.engine.rejected().map(\.key) == [key("a")])

    try await desk.engine.discard(key("a"))
    #expect(try desk.engine.rejected().isEmpty)
    for _ in 0..<2 { try await desk.sync() }

    #expect(try racks.get("a")?.count == 1)
    #expect(try racks.get("b")?.count == 2)
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test("a refused document that has moved to a scope that is read earlier stays noted")
  func refusedAndMoved() async throws {
    let server = InMemoryRemote()
    let desk = try desk(server, scopes: ["inbox", "archive"])
    server.put(
      key("d"), RemoteDocument(#"{"id":"d","slot":null,"text":"","count":"seven"}"#), in: "archive")
    try await desk.sync()
    #expect(try desk.engine.refused().map(\.key) == [key("d")])
    server.move(key("d"), to: "inbox")
    try await desk.sync()
    #expect(try desk.engine.refused().map(\.key) == [key("d")])
    server.move(key("d"), to: "archive")
    try await desk.sync()
    #expect(try desk.engine.refused().map(\.key) == [key("d")])

    let updated = try self.desk(
      server, scopes: ["inbox", "archive"], upgradesCount: true, store: desk.store)
    try await updated.sync()
    #expect(try updated.engine.refused().isEmpty)
    #expect(try desk.store.repository(of: Rack.self).get("d")?.count == 7)

    server.put(
      key("e"), RemoteDocument(#"{"id":"e","slot":null,"text":"","count":[]}"#), in: "archive")
    try await updated.sync()
    #expect(try updated.engine.refused().map(\.key) == [key("e")])
    server.remove(key("e"))
    try await updated.sync()
    #expect(try updated.engine.refused().isEmpty)
    try desk.close()
  }

  @Test(
    "an edit that meets a unique value which the next page sets free is merged",
    arguments: [true, false])
  func uniqueValueBecomesFree(isPulledFirst: Bool) async throws {
    let server = InMemoryRemote()
    let desk = try desk(server)
    let racks = desk.store.repository(of: Rack.self)
    server.put(key("a"), rack("a", slot: "1"), in: "all")
    server.put(key("b"), rack("b", slot: "2"), in: "all")
    try await desk.sync()
    try await racks.save(Rack(id: "b", slot: "2", count: 1))
    // What has the value comes last.
    server.put(key("a"), rack("a", slot: nil), in: "all")
    server.put(key("b"), rack("b", slot: "1"), in: "all")
    server.put(key("a"), rack("a", slot: "3"), in: "all")
    if isPulledFirst {
      server.script { call, _ in
        if case .push = call { return .fails(.malformed("no")) }
        return nil
      }
      _ = try? await desk.sync()
      server.script(nil)
    }
    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.engine.conflicts().isEmpty)
    #expect(try desk.engine.pending().isEmpty)
    #expect(
      try racks.fetch(Rack.all.sorted(by: \.id)) == [
        Rack(id: "a", slot: "3"), Rack(id: "b", slot: "1", count: 1),
      ])

    // One that stays taken is for somebody to settle.
    try await racks.save(Rack(id: "c", slot: "9"))
    server.put(key("b"), rack("b", slot: "9", count: 1), in: "all")
    try await racks.save(Rack(id: "b", slot: "1", count: 2))
    for _ in 0..<3 { try? await desk.sync() }
    #expect(try desk.engine.conflicts().map(\.key) == [key("b")])
    try desk.close()
  }

  @Test(
    "an edit whose document may have been deleted or moved behind an answer is set aside, and sent when that is wanted"
  )
  func deletedBehindTheAnswer() async throws {
    let server = InMemoryRemote()
    let remote = Refusing(server)
    let desk = try desk(remote)
    let racks = desk.store.repository(of: Rack.self)
    server.put(key("a"), rack("a", count: 1), in: "all")
    server.put(key("b"), rack("b"), in: "all")
    try await desk.sync()
    server.put(key("a"), rack("a", count: 2), in: "all")
    try await racks.save(Rack(id: "a", count: 5))
    remote.beforePull.withLock { body in
      body = { server in
        server.remove(RemoteKey("Rack", "a"))
        server.purge()
        server.forgetCursors()
      }
    }
    for _ in 0..<3 { try await desk.sync() }

    #expect(remote.beforePull.withLock { $0 == nil })
    // Whoever has moved it to where this client may not look must not see it back.
    #expect(try desk.engine.rejected().map(\.code) == ["left"])
    #expect(try racks.get("a")?.count == 6)
    try await desk.engine.retry(key("a"))
    for _ in 0..<2 { try await desk.sync() }
    #expect(try desk.engine.pending().isEmpty)
    #expect(server.version(of: key("a"))?.document != nil)
    #expect(try racks.get("a")?.count == 6)
    try desk.close()
  }

  @Test("an edit beside which a version waits that cannot be saved here can be settled, and heals")
  func waitingVersion() async throws {
    for isSettled in [true, false] {
      let server = InMemoryRemote()
      let remote = Refusing(server)
      let desk = try desk(remote)
      let racks = desk.store.repository(of: Rack.self)
      server.put(key("b"), rack("b"), in: "all")
      try await desk.sync()
      try await racks.save(Rack(id: "mine", slot: "1"))
      try await racks.save(Rack(id: "b", count: 1))
      server.put(key("b"), rack("b", slot: "1"), in: "all")
      // It waits beside the edit until the pull is over, and stays when that fails.
      server.script { call, _ in
        if case .pull = call { return .fails(.unavailable("502")) }
        return nil
      }
      _ = try? await desk.sync()
      try await racks.delete(key: "b")
      server.script(nil)
      for _ in 0..<2 { try? await desk.sync() }
      #expect(try desk.engine.rejected().map(\.code) == ["refused"])
      #expect(try desk.engine.refused().map(\.key) == [key("b")])
      if isSettled {
        try await desk.engine.settle(key("b"), as: .here)
      } else {
        try await racks.save(Rack(id: "mine", slot: "2"))
      }
      for _ in 0..<3 { try await desk.sync() }
      #expect(try desk.engine.pending().isEmpty)
      #expect(try desk.engine.refused().isEmpty)
      #expect(try (racks.get("b") == nil) == (server.version(of: key("b"))?.document == nil))
      try desk.close()
    }
  }

  @Test(
    "an account without a name, or with one that is too long, is refused", arguments: [0, 1001])
  func accountLength(byteCount: Int) throws {
    let store = try Store.temporary()
    #expect(throws: SyncError.accountLength(byteCount: byteCount)) {
      try SyncEngine(
        store, remote: InMemoryRemote(), collections: [], scopes: ["all"],
        account: String(repeating: "a", count: byteCount))
    }
    _ = try SyncEngine(
      store, remote: InMemoryRemote(), collections: [], scopes: ["all"],
      account: String(repeating: "a", count: 1000))
    try store.close()
  }

  @Test(
    "an edit that is taken back does not bring an earlier version in the place of one that could not be saved"
  )
  func discardedBesideRefused() async throws {
    let server = InMemoryRemote()
    let (here, there) = (try SyncDesk(server), try SyncDesk(server))
    try await here.cards.save([Card(id: "2", title: "first", slot: "c"), Card(id: "3")])
    try await here.sync()
    try await there.sync()
    try await there.cards.update("2") { $0.title = "newer" }
    try await there.sync()
    try await here.cards.delete(key: "2")
    try await here.cards.update("3") { $0.slot = "c" }
    try await here.sync()
    #expect(try here.engine.refused().map(\.key) == [.card("2")])

    for rejected in try here.engine.rejected() { try await here.engine.discard(rejected.key) }
    try await here.cards.update("3") { $0.slot = nil }
    for _ in 0..<3 { try await here.sync() }

    #expect(try here.cards.get("2")?.title == "newer")
    try await here.cards.update("2") { $0.title += ", edited" }
    for _ in 0..<2 { try await here.sync() }
    #expect(try here.engine.rejected().isEmpty && here.engine.refused().isEmpty)
    try await there.sync()
    #expect(try there.cards.get("2")?.title == "newer, edited")
    try here.close()
    try there.close()
  }
}
