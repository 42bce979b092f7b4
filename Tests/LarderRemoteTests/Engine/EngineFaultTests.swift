import Foundation
import Larder
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTesting
import Testing

/// A ticket, of which no two may have one seat.
@Document struct Seat: Equatable {
  @Indexed(unique: true) var number: Int
  var id: String
}

/// What one client makes of a remote that does not do as it wishes.
@Suite("an engine and a remote with faults", .timeLimit(.minutes(20))) struct EngineFaultTests {
  private let server = InMemoryRemote()

  @Test("an edit that is too large is set aside, the others go, and a smaller one is sent after it")
  func tooLarge() async throws {
    server.currentFacts.maximumPushByteCount = 4000
    let desk = try SyncDesk(server)
    for number in 0..<20 {
      let size = number == 7 ? 5000 : 20
      try await desk.cards.save(Card(id: "\(number)", title: String(repeating: "x", count: size)))
    }

    try await desk.sync()

    #expect(try desk.engine.rejected().map(\.key) == [.card("7")])
    #expect(try desk.engine.rejected().first?.code == "too-large")
    #expect(server.documents(in: "all").count == 19)

    try await desk.cards.save(Card(id: "7", title: "short"))
    try await desk.sync()
    #expect(try desk.engine.pending() == [])
    #expect(server.documents(in: "all").count == 20)
    try desk.close()
  }

  @Test("a rejected edit that was too large can be taken back")
  func tooLargeDiscarded() async throws {
    server.currentFacts.maximumPushByteCount = 1000
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a", title: "short"))
    try await desk.sync()
    try await desk.cards.save(Card(id: "a", title: String(repeating: "x", count: 2000)))
    try await desk.sync()

    try await desk.engine.discard(.card("a"))

    #expect(try desk.titles() == ["a short"])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("one edit among a hundred that the remote never answers does not hold up the others")
  func poison() async throws {
    server.script { call, _ in
      guard case .push(let request) = call else { return nil }
      let isPoisoned = request.mutations.contains { $0.key.key == "50" }
      return isPoisoned ? .fails(.unavailable("it broke")) : nil
    }
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<100).map { Card(id: "\($0)", title: "t") })

    try await desk.sync()

    #expect(server.documents(in: "all").count == 99)
    #expect(try desk.engine.pending().map(\.key) == [.card("50")])
    server.script(nil)
    try await desk.sync()
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test(
    "an edit that is not answered five times while others are is set aside, and sent when it is mended"
  )
  func unanswered() async throws {
    server.script { call, _ in
      guard case .push(let request) = call else { return nil }
      let isPoisoned = request.mutations.contains {
        "\($0.document ?? RemoteDocument(""))".contains("bad")
      }
      return isPoisoned ? .fails(.unavailable("it broke")) : nil
    }
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "bad", title: "bad"))
    for number in 1...5 {
      #expect(try desk.engine.rejected().isEmpty)
      try await desk.cards.save(Card(id: "\(number)"))
      try await desk.sync()
    }
    #expect(try desk.engine.rejected().map(\.code) == ["unanswered"])
    #expect(try desk.engine.rejected().map(\.reason) == ["it broke"])
    #expect(server.documents(in: "all").count == 5)

    // Another engine tries it again, under the name that it was sent under.
    let next = try SyncDesk(server, store: desk.store)
    #expect(try next.engine.pending().map(\.status) == [.sent])
    for number in 1...5 {
      try await next.cards.save(Card(id: "\(number)", count: 1))
      try await next.sync()
    }
    #expect(try next.engine.rejected().map(\.code) == ["unanswered"])

    server.script(nil)
    try await next.cards.save(Card(id: "bad", title: "mended"))
    try await next.sync()
    #expect(try next.engine.pending() == [])
    #expect(server.documents(in: "all").count == 6)
    try next.close()
  }

  @Test("where no edit is answered none is to blame, and few requests are made")
  func outage() async throws {
    server.script { call, _ in if case .push = call { .fails(.unavailable("down")) } else { nil } }
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<400).map { Card(id: "\($0)") })
    var pushCount: Int {
      server.recordedCalls.count { call in if case .push = call { true } else { false } }
    }
    for round in 1...6 {
      await #expect(throws: RemoteError.self) { try await desk.sync() }
      #expect(pushCount <= round * 30)
    }
    #expect(try desk.engine.rejected() == [])

    server.script(nil)
    let before = pushCount
    try await desk.sync()
    #expect(try desk.engine.pending() == [])
    #expect(pushCount - before < 10)
    try desk.close()
  }

  @Test(
    "an edit for which the remote always asks to wait holds up neither the others nor what comes down"
  )
  func alwaysPutOff() async throws {
    server.script { call, _ in
      guard case .push(let request) = call else { return nil }
      let isPoisoned = request.mutations.contains { $0.key.key == "0" }
      return isPoisoned ? .fails(.unavailable("later", retryAfter: .seconds(1))) : nil
    }
    server.put(.card("theirs"), .card("theirs", "t"), in: "all")
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<40).map { Card(id: "\($0)") })

    var syncCount = 0
    while try desk.engine.rejected().isEmpty, syncCount < 60 {
      await #expect(throws: RemoteError.self) { try await desk.sync() }
      syncCount += 1
      // Somebody goes on working.
      try await desk.cards.save(Card(id: "\(1 + syncCount % 39)", count: syncCount))
    }

    #expect(try desk.engine.rejected().map(\.key) == [.card("0")])
    #expect(try desk.engine.rejected().map(\.code) == ["unanswered"])
    try await desk.sync()
    #expect(try desk.engine.pending().map(\.key) == [.card("0")])
    #expect(server.documents(in: "all").count == 40)
    #expect(try desk.cards.get("theirs") != nil)
    try desk.close()
  }

  @Test("a remote that asks to wait for long puts no edit under suspicion but one, and loses none")
  func longPutOff() async throws {
    server.script { call, _ in
      if case .push = call { .fails(.unavailable("later", retryAfter: .seconds(1))) } else { nil }
    }
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<400).map { Card(id: "\($0)") })
    for _ in 0..<40 { await #expect(throws: RemoteError.self) { try await desk.sync() } }
    #expect(try desk.engine.rejected() == [])

    server.script(nil)
    let before = server.recordedCalls.count
    for _ in 0..<2 { try await desk.sync() }
    #expect(try desk.engine.pending() == [])
    #expect(server.recordedCalls.count - before < 420)
    try desk.close()
  }

  @Test("an edit that nobody may send can be taken back, and what others write shows again")
  func forbiddenDiscarded() async throws {
    server.put(.card("a"), .card("a", "theirs"), in: "all")
    server.allow("me", reading: ["all"], writing: [])
    let desk = try SyncDesk(server)
    await #expect(throws: Never.self) { try await desk.sync() }
    try await desk.cards.save([Card(id: "a", title: "mine"), Card(id: "b", title: "mine")])
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.put(.card("a"), .card("a", "newer"), in: "all")
    await #expect(throws: RemoteError.self) { try await desk.sync() }

    for id in ["a", "b"] { try await desk.engine.discard(.card(id)) }

    #expect(try desk.titles() == ["a newer"])
    #expect(try desk.engine.pending() == [])
    server.put(.card("a"), .card("a", "newest"), in: "all")
    try await desk.sync()
    #expect(try desk.titles() == ["a newest"])
    try desk.close()
  }

  @Test("an edit that was taken back after it was taken comes back as that of somebody else would")
  func discardedTooLate() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a", title: "1", count: 1))
    try await desk.sync()
    server.script { call, _ in
      switch call {
      case .push: .losesAnswer
      case .pull: .fails(.unavailable("later"))
      default: nil
      }
    }
    try await desk.cards.save([Card(id: "a", title: "2", count: 3), Card(id: "b", title: "2")])
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for id in ["a", "b"] { try await desk.engine.discard(.card(id)) }
    #expect(try desk.titles() == ["a 1"])
    try await desk.sync()

    #expect(try desk.titles() == ["a 2", "b 2"])
    #expect(try desk.cards.get("a")?.count == 3)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a document that is made over a deletion counts its edits once")
  func overDeletion() async throws {
    let desk = try SyncDesk(server)
    try await desk.sync()
    server.put(.card("x"), .card("x", "theirs"), in: "all")
    server.remove(.card("x"))
    server.script { call, _ in if case .push = call { .putsOff(behind: 0) } else { nil } }
    try await desk.cards.save(Card(id: "x", title: "mine", count: 1))
    try await desk.sync()
    try await desk.cards.update("x") { $0.count = 3 }
    server.script(nil)

    for _ in 0..<4 { try await desk.sync() }

    #expect(try desk.cards.get("x")?.count == 3)
    #expect(try server.version(of: .card("x"))?.document?.decode(as: Counted.self).count == 3)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a document that was deleted after it was made is gone, whatever became of the answer")
  func deletedBehind() async throws {
    let desk = try SyncDesk(server)
    try await desk.sync()
    server.script { call, _ in if case .push = call { .losesAnswer } else { nil } }
    try await desk.cards.save(Card(id: "x", title: "mine"))
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.remove(.card("x"))
    server.script { call, _ in
      if case .push = call { .fails(.unavailable("later", retryAfter: .seconds(1))) } else { nil }
    }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<4 { try await desk.sync() }

    #expect(try desk.titles() == [])
    #expect(server.documents(in: "all").isEmpty)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test(
    "a document that was deleted before its scope was loaded is gone, whatever is answered later")
  func deletedBeforeLoad() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a", title: "made"))
    server.script { call, _ in if case .pull = call { .fails(.unavailable("offline")) } else { nil }
    }
    try? await desk.sync()
    try await desk.cards.update("a") { $0.title = "edited" }
    server.script { call, _ in
      switch call {
      case .push: .losesAnswer
      case .pull: .fails(.unavailable("offline"))
      default: nil
      }
    }
    try? await desk.sync()
    #expect(server.documents(in: "all").count == 1)
    server.remove(.card("a"))
    server.script { call, _ in if case .push = call { .fails(.unavailable("500")) } else { nil } }
    try? await desk.sync()
    #expect(try desk.titles() == ["a edited"])
    server.script(nil)

    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.titles() == [])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a remote that gives up by itself is one that could not answer")
  func givesUp() async throws {
    let gate = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { _ in
      throw CancellationError()
    }
    let desk = try SyncDesk(gate)
    try await desk.cards.save(Card(id: "a"))

    await #expect(throws: RemoteError.self) { try await desk.sync() }

    guard case .offline = desk.engine.currentState.phase else {
      Issue.record("\(desk.engine.currentState.phase)")
      return try desk.close()
    }
    try desk.close()
  }

  @Test("a lost answer is asked for again, and the edit applied once")
  func lostAnswer() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a", count: 1))
    try await desk.sync()
    server.script { call, _ in if case .push = call { .losesAnswer } else { nil } }
    try await desk.cards.save(Card(id: "a", count: 2))
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    #expect(try desk.engine.pending().map(\.status) == [.sent])
    try await desk.cards.save(Card(id: "a", count: 5))
    server.script(nil)

    try await desk.sync()

    #expect(try desk.cards.get("a")?.count == 5)
    #expect(
      try server.version(of: .card("a"))?.document?.decode(as: Counted.self).count == 5)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  private struct Counted: Decodable { var count: Int }

  @Test("a conflict that cannot be saved here keeps nobody from the others, and is set aside")
  func unsavableConflict() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<10).map { Card(id: "\($0)", title: "here") })
    server.put(.card("5"), RemoteDocument(#"{"id":"5","title":{"no":"text"}}"#), in: "all")

    try await desk.sync()

    #expect(server.documents(in: "all").count == 10)
    #expect(try desk.engine.rejected().map(\.key) == [.card("5")])
    #expect(try desk.engine.pending().count == 1)
    try desk.close()
  }

  @Test("a document that was refused is forgotten when another version comes")
  func refusedThenMended() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a", title: "t"))
    try await desk.sync()
    server.put(.card("b"), RemoteDocument(#"{"id":"b","title":{"no":"text"}}"#), in: "all")
    server.put(.card("c"), .card("c", "fine"), in: "all")
    try await desk.sync()
    #expect(try desk.engine.refused().map(\.key) == [.card("b")])
    #expect(try desk.titles() == ["a t", "c fine"])

    server.put(.card("b"), .card("b", "mended"), in: "all")
    try await desk.sync()

    #expect(try desk.engine.refused() == [])
    #expect(try desk.titles() == ["a t", "b mended", "c fine"])
    let later = try SyncDesk(server, store: desk.store)
    try await later.sync()
    #expect(try later.titles() == ["a t", "b mended", "c fine"])
    try desk.close()
  }

  @Test("a document that was refused and then deleted on the remote never comes back")
  func refusedThenDeleted() async throws {
    let seats = [SyncedCollection(Seat.self)]
    let desk = try SyncDesk(server, collections: seats)
    server.put(RemoteKey("Seat", "a"), RemoteDocument(#"{"number":1,"id":"a"}"#), in: "all")
    server.put(RemoteKey("Seat", "b"), RemoteDocument(#"{"number":1,"id":"b"}"#), in: "all")
    try await desk.sync()
    #expect(try desk.engine.refused().count == 1)
    let refused = try #require(try desk.engine.refused().first?.key)

    server.remove(refused)
    server.remove(RemoteKey("Seat", refused.key == "a" ? "b" : "a"))
    try await desk.sync()

    #expect(try desk.engine.refused() == [])
    #expect(try desk.store.repository(of: Seat.self).fetch(Seat.all) == [])
    try desk.close()
  }

  @Test("a document that was refused is saved once the unique value is free")
  func refusedThenFree() async throws {
    let desk = try SyncDesk(server, collections: [SyncedCollection(Seat.self)])
    server.put(RemoteKey("Seat", "a"), RemoteDocument(#"{"number":1,"id":"a"}"#), in: "all")
    try await desk.sync()
    server.put(RemoteKey("Seat", "b"), RemoteDocument(#"{"number":1,"id":"b"}"#), in: "all")
    try await desk.sync()
    #expect(try desk.engine.refused().map(\.key.key) == ["b"])

    server.remove(RemoteKey("Seat", "a"))
    try await desk.sync()

    #expect(try desk.store.repository(of: Seat.self).fetch(Seat.all).map(\.id) == ["b"])
    #expect(try desk.engine.refused() == [])
    try desk.close()
  }

  @Test("a forbidden scope stops neither the edits nor the pulls of the others")
  func forbidden() async throws {
    server.allow("me", reading: ["a", "c"], writing: ["a", "c"])
    server.put(.card("there"), .card("there", "t"), in: "c")
    let cards = SyncedCollection(
      Card.self, scope: { $0["title"] == "secret" ? "b" : "a" })
    let desk = try SyncDesk(server, collections: [cards], scopes: ["a", "b", "c"])
    try await desk.cards.save([Card(id: "1", title: "secret"), Card(id: "2", title: "open")])

    try await desk.sync()

    #expect(server.documents(in: "a").keys.map(\.key) == ["2"])
    #expect(try desk.titles() == ["1 secret", "2 open", "there t"])
    #expect(desk.engine.currentState.phase == .forbidden("b"))
    #expect(try desk.engine.pending().map(\.key) == [.card("1")])
    try desk.close()
  }

  @Test("where every scope is forbidden a sync throws that")
  func allForbidden() async throws {
    server.allow("me", reading: [], writing: [])
    let desk = try SyncDesk(server)

    await #expect(throws: RemoteError.self) { try await desk.sync() }

    #expect(desk.engine.currentState.phase == .forbidden("all"))
    try desk.close()
  }

  @Test(
    "a refused document that was deleted does not come when its scope is loaded from the beginning",
    arguments: [true, false])
  func refusedAndDeleted(isExpired: Bool) async throws {
    let first = [SyncedCollection(Card.self, rules: Card.rules)]
    let desk = try SyncDesk(server, collections: first)
    try await desk.cards.save(Card(id: "1", slot: "s"))
    try await desk.sync()
    server.put(
      .card("2"), RemoteDocument(#"{"id":"2","title":"","count":0,"tags":[],"slot":"s"}"#),
      in: "all")
    try await desk.sync()
    #expect(try desk.engine.refused().map(\.key) == [.card("2")])
    server.remove(.card("2"))
    server.purge()
    if isExpired {
      // It hears that it has to begin anew, and no page comes.
      server.forgetCursors()
      server.script { call, _ in
        if case .pull(let request) = call, request.cursor == nil {
          return .fails(.unavailable("down"))
        }
        return nil
      }
      await #expect(throws: RemoteError.self) { try await desk.sync() }
      server.script(nil)
    }

    try await desk.cards.update("1") { $0.slot = "t" }
    // With a collection more all is loaded anew, too.
    let next =
      isExpired
      ? desk
      : try SyncDesk(server, store: desk.store, collections: first + [SyncedCollection("more")])
    for _ in 0..<2 { try await next.sync() }

    #expect(try next.cards.fetch(Card.all).map(\.id) == ["1"])
    #expect(try next.engine.refused().isEmpty)
    try desk.close()
  }

  @Test("an answer that is too large is asked for in smaller pages")
  func largeAnswer() async throws {
    for number in 0..<30 { server.put(.card("\(number)"), .card("\(number)", "t"), in: "all") }
    server.script { call, _ in
      guard case .pull(let request) = call, request.limit > 4 else { return nil }
      return .fails(.tooLarge("the answer"))
    }
    let desk = try SyncDesk(server)

    try await desk.sync()

    #expect(try desk.cards.fetch(Card.all).count == 30)
    try desk.close()
  }

  @Test("a document that is too large for any answer stops its scope alone, and is told")
  func tooLargeForAll() async throws {
    server.put(.card("1"), .card("1", "t"), in: "a")
    server.put(.card("2"), .card("2", "t"), in: "b")
    server.script { call, _ in
      guard case .pull(let request) = call, request.scope == "a" else { return nil }
      return .fails(.tooLarge("the answer"))
    }
    let desk = try SyncDesk(server, scopes: ["a", "b"])
    try await desk.cards.save(Card(id: "3", title: "mine"))

    let text =
      "the next change of a alone is larger than an answer may be, which keeps those behind it: the answer"
    await #expect(throws: RemoteError.tooLarge(text)) { try await desk.sync() }

    #expect(desk.engine.currentState.phase == .stopped(text))
    #expect(try desk.titles() == ["2 t", "3 mine"])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("edits outlive a cursor that has expired")
  func expired() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save([Card(id: "a", count: 1), Card(id: "b", count: 1)])
    try await desk.sync()
    try await desk.cards.save(Card(id: "a", count: 3))
    server.remove(.card("b"))
    server.purge()
    server.forgetCursors()
    server.script { call, _ in
      if case .push = call { .fails(.unavailable("later", retryAfter: .seconds(1))) } else { nil }
    }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    try await desk.sync()

    #expect(try desk.cards.fetch(Card.all).map(\.count) == [3])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("needing a sign-in keeps the edits, and is shown")
  func signIn() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a"))
    server.script { _, _ in .fails(.needsSignIn("who?")) }

    await #expect(throws: RemoteError.needsSignIn("who?")) { try await desk.sync() }

    #expect(desk.engine.currentState.phase == .needsSignIn)
    server.script(nil)
    try await desk.sync()
    #expect(desk.engine.currentState.phase == .idle)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("an edit that does not fit into a request is not taken for sent")
  func doesNotFit() async throws {
    var facts = RemoteFacts.ofInMemoryRemote
    facts.maximumPushByteCount = 100
    let server = InMemoryRemote(facts: facts)
    let desk = try SyncDesk(server)
    try await desk.cards.save(["a", "b"].map { Card(id: $0) })
    server.script { call, _ in if case .push = call { .fails(.needsSignIn("who?")) } else { nil } }

    await #expect(throws: RemoteError.needsSignIn("who?")) { try await desk.sync() }

    #expect(try desk.engine.pending().map(\.status) == [.sent, .due])
    server.script(nil)
    try await desk.sync()
    #expect(server.documents(in: "all").count == 2)
    try desk.close()
  }

  @Test("a store that fails shows with its reason")
  func failingStore() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a"))
    try desk.close()

    await #expect(throws: StoreError.closed) { try await desk.sync() }

    #expect(desk.engine.currentState.phase == .stopped("\(StoreError.closed)"))
  }

  @Test("a mended edit is sent under the document's own key")
  func mend() async throws {
    let gate = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] request in
      if request.mutations.contains(where: {
        "\($0.document ?? RemoteDocument(""))".contains("bad")
      }) {
        return request.mutations.map { _ in .rejected(code: "words", reason: "no such word") }
      }
      return try await server.push(request)
    }
    var options = SyncEngine.Options()
    options.mend = { rejected in
      var document = rejected.document
      document?["title"] = "good"
      document?["id"] = "other"
      return document
    }
    let desk = try SyncDesk(gate, options: options)
    try await desk.cards.save(Card(id: "a", title: "bad"))

    try await desk.sync()

    #expect(try desk.titles() == ["a good"])
    #expect(server.documents(in: "all").keys.map(\.key) == ["a"])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a page with more behind the cursor that was sent is not saved, and not asked for again")
  func standingCursor() async throws {
    let (isStuck, pullCount) = (Locked(true), Locked(0))
    let remote = ClosureRemote { [server] request in
      // Whoever asks on for ever is stopped, so that the test ends.
      pullCount.withLock { $0 += 1 }
      guard pullCount.withLock({ $0 }) < 50 else { throw RemoteError.gone("enough") }
      var answer = try await server.pull(request)
      if isStuck.withLock({ $0 }), let cursor = request.cursor {
        (answer.cursor, answer.hasMore) = (cursor, true)
      }
      return answer
    } push: { [server] request in
      try await server.push(request)
    }
    let desk = try SyncDesk(remote)
    server.put(.card("a"), .card("a", "one"), in: "all")
    try await desk.sync()
    server.put(.card("b"), .card("b", "two"), in: "all")

    await #expect(
      throws: RemoteError.malformed(
        "a pull of all has more, and a cursor that was sent before: it would never end")
    ) { try await desk.sync() }

    #expect(pullCount.withLock { $0 } == 2)
    #expect(try desk.titles() == ["a one"])
    isStuck.withLock { $0 = false }
    try await desk.sync()
    #expect(try desk.titles() == ["a one", "b two"])
    try desk.close()
  }

  @Test("a rejected edit is sent again when it is edited, or when somebody asks")
  func rejected() async throws {
    let isStrict = Locked(true)
    let gate = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] request in
      if isStrict.withLock({ $0 }) {
        return request.mutations.map { _ in .rejected(code: "no", reason: "not now") }
      }
      return try await server.push(request)
    }
    let desk = try SyncDesk(gate)
    try await desk.cards.save([Card(id: "a", title: "1"), Card(id: "b", title: "1")])
    try await desk.sync()
    #expect(try desk.engine.rejected().count == 2)
    #expect(desk.engine.currentState.rejectedCount == 2)
    isStrict.withLock { $0 = false }
    try await desk.sync()
    #expect(server.documents(in: "all").isEmpty)

    try await desk.engine.retry(.card("a"))
    try await desk.cards.save(Card(id: "b", title: "2"))
    try await desk.sync()

    #expect(server.documents(in: "all").count == 2)
    #expect(try desk.engine.pending() == [])
    await #expect(throws: SyncError.nothingToSettle(.card("a"))) {
      try await desk.engine.retry(.card("a"))
    }
    try desk.close()
  }
}
