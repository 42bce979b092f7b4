import Foundation
import Larder
import LarderRemote
import LarderSync
import LarderTesting
import Testing

@Document struct BlockedNote: Equatable {
  @Key var id: String
  var text = ""
}

/// What one edit or one scope must not keep the others from, and what one account must not give to the next.
@Suite(
  "an engine that one edit, one scope or one account stands in the way of", .timeLimit(.minutes(20))
)
struct EngineBlockadeTests {
  private let server = InMemoryRemote()

  @Test(
    "edits that the remote cannot answer keep neither others nor what comes from waiting for ever",
    arguments: [5, 12, 20, 60])
  func poison(badCount: Int) async throws {
    let desk = try SyncDesk(server, scopes: ["a"])
    try await desk.cards.save((0..<badCount).map { Card(id: "bad\($0)", title: "bad") })
    try await desk.cards.save((0..<5).map { Card(id: "good\($0)", title: "good") })
    server.put(.card("news"), .card("news", "there"), in: "a")
    server.script { call, _ in
      guard case .push(let request) = call,
        request.mutations.contains(where: { $0.key.key.hasPrefix("bad") })
      else { return nil }
      return .fails(.unavailable("500"))
    }

    for round in 0..<40 {
      try await desk.cards.save(Card(id: "good\(round)", title: "good"))
      try? await desk.sync()
      if round == 0 { #expect(try desk.cards.get("news") != nil, "the pull waits for no push") }
    }

    let there = server.documents(in: "a").keys.map(\.key).filter { $0.hasPrefix("good") }
    #expect(there.count == 40)
    #expect(try Set(desk.engine.rejected().map(\.code)) == ["unanswered"])
    #expect(try desk.engine.rejected().count == badCount)
    try await desk.cards.save(Card(id: "later", title: "good"))
    try await desk.sync()
    #expect(server.documents(in: "a")[.card("later")] != nil)
    try desk.close()
  }

  @Test(
    "edits that the remote answers only with silence keep what comes waiting for one deadline, and others not for ever",
    arguments: [1, 5, 12], [1, 4])
  func silence(badCount: Int, scopeCount: Int) async throws {
    let clock = ManualClock()
    let synced = SyncedCollection(
      Card.self, rules: Card.rules,
      scope: { $0["title"] == "other" ? "b" : "a" })
    let desk = try SyncDesk(
      server, collections: [synced], scopes: scopeCount == 1 ? ["a"] : ["a", "b", "c", "d"],
      clock: clock)
    try await desk.cards.save((0..<badCount).map { Card(id: "bad\($0)", title: "bad") })
    try await desk.cards.save((0..<5).map { Card(id: "good\($0)", title: "good") })
    server.script { call, _ in
      guard case .push(let request) = call,
        request.mutations.contains(where: { $0.key.key.hasPrefix("bad") })
      else { return nil }
      clock.advance(by: .seconds(60))
      return .fails(.unavailable("no answer within 60 seconds"))
    }

    // The bad ones count as such only where others of their scope are answered.
    let roundCount = (badCount * 5 + 40) * (scopeCount == 1 ? 1 : 2)
    for round in 0..<roundCount {
      let title = scopeCount > 1 && round % 2 == 1 ? "other" : "good"
      try await desk.cards.save(Card(id: "good\(round)", title: title))
      server.put(.card("news\(round)"), .card("news\(round)", "there"), in: "a")
      let start = clock.elapsed
      try? await desk.sync()
      #expect(try desk.cards.get("news\(round)") != nil, "the pull waits for no push")
      #expect(clock.elapsed - start <= .seconds(60), "round \(round)")
    }

    let there = ["a", "b"].flatMap { server.documents(in: $0).keys.map(\.key) }
    #expect(there.filter { $0.hasPrefix("good") }.count == roundCount)
    #expect(try Set(desk.engine.rejected().map(\.code)) == ["unanswered"])
    #expect(try desk.engine.rejected().count == badCount)
    try desk.close()
  }

  @Test(
    "a scope that answers only with silence has its edits set aside, and others keep their pace")
  func silentScope() async throws {
    let clock = ManualClock()
    let synced = SyncedCollection(
      Card.self, rules: Card.rules, scope: { $0["title"] == "b" ? "b" : "a" })
    let desk = try SyncDesk(server, collections: [synced], scopes: ["a", "b"], clock: clock)
    try await desk.cards.save((0..<2).map { Card(id: "b\($0)", title: "b") })
    server.script { call, _ in
      guard case .push(let request) = call, request.scope == "b" else { return nil }
      clock.advance(by: .seconds(60))
      return .fails(.unavailable("no answer within 60 seconds"))
    }

    var isThrown = false
    for round in 0..<20 {
      try await desk.cards.save((0..<30).map { Card(id: "\(round) \($0)", title: "a") })
      let count = server.recordedCalls.count
      do {
        try await desk.sync()
        isThrown = false
      } catch {
        isThrown = true
      }
      let pushes = server.recordedCalls[count...].count { call in
        if case .push(let request) = call { request.scope == "a" } else { false }
      }
      #expect(pushes == 1, "round \(round)")
    }

    #expect(!isThrown)
    #expect(try desk.engine.rejected().map(\.code) == ["unanswered", "unanswered"])
    #expect(server.documents(in: "a").count == 600)
    try desk.close()
  }

  @Test(
    "a scope whose pushes or pulls are not answered keeps no other scope waiting",
    arguments: [true, false])
  func scopes(isPush: Bool) async throws {
    let synced = SyncedCollection(
      Card.self, rules: Card.rules, scope: { $0["title"] == "b" ? "b" : "a" })
    let desk = try SyncDesk(server, collections: [synced], scopes: ["a", "b"])
    try await desk.cards.save((0..<40).map { Card(id: "a\($0)", title: "a") })
    try await desk.cards.save(Card(id: "b1", title: "b"))
    server.put(.card("there"), .card("there", "b"), in: "b")
    server.script { call, _ in
      switch call {
      case .push(let request) where isPush && request.scope == "a": .fails(.unavailable("500"))
      case .pull(let request) where !isPush && request.scope == "a": .fails(.unavailable("500"))
      default: nil
      }
    }

    for _ in 0..<2 { try? await desk.sync() }

    #expect(server.documents(in: "b")[.card("b1")] != nil)
    #expect(try desk.cards.get("there") != nil)
    #expect(try desk.engine.rejected().isEmpty, "the scope is at fault, and none of its edits")
    server.script(nil)
    for _ in 0..<2 { try await desk.sync() }
    #expect(server.documents(in: "a").count == 40)
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test(
    "what another account has left in a store is not sent before it is edited",
    arguments: [true, false])
  func accounts(isForgotten: Bool) async throws {
    let store = try Store.temporary()
    let notes = SyncedCollection(BlockedNote.self)
    let down = SyncedCollection(BlockedNote.self, direction: .down)
    server.put(
      RemoteKey("BlockedNote", "secret"), RemoteDocument(#"{"id":"secret","text":"anna's"}"#),
      in: "all")
    let cards = SyncedCollection(Card.self, rules: Card.rules)
    let anna = try SyncDesk(server, store: store, collections: [cards, down], account: "anna")
    try await anna.sync()
    #expect(try store.repository(of: BlockedNote.self).count() == 1)
    if isForgotten { try SyncEngine.forgetAccount(of: ["Card"], in: store) }

    // Bob follows it later, and first only down.
    let other = InMemoryRemote()
    for collections in [[cards], [cards, down], [cards, notes]] {
      let bob = try SyncDesk(other, store: store, collections: collections, account: "bob")
      for _ in 0..<2 { try await bob.sync() }
      #expect(other.documents(in: "all").isEmpty)
    }
    let bob = try SyncDesk(other, store: store, collections: [cards, notes], account: "bob")
    try await store.repository(of: BlockedNote.self).save(BlockedNote(id: "bob", text: "mine"))
    try await bob.sync()
    #expect(other.documents(in: "all").keys.map(\.key) == ["bob"])
    try await store.repository(of: BlockedNote.self).update("secret") { $0.text = "edited" }
    try await bob.sync()
    #expect(other.documents(in: "all").count == 2)
    try bob.close()
  }

  @Test("an edit that was sent before keeps its name where it is too large at another time")
  func tooLargeAgain() async throws {
    let desk = try SyncDesk(server)
    server.put(.card("1"), .card("1", "t", count: 3), in: "all")
    try await desk.sync()
    try await desk.cards.update("1") { $0.count += 1 }
    server.script { call, _ in if case .push = call { .losesAnswer } else { nil } }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script { call, _ in if case .push = call { .fails(.tooLarge("413")) } else { nil } }
    try? await desk.sync()
    #expect(try desk.engine.rejected().map(\.code) == ["too-large"])
    server.script(nil)

    try await desk.engine.retry(.card("1"))
    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.cards.get("1")?.count == 4)
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test(
    "a document that left while its edit was under way goes with the answer, whatever that is",
    arguments: [true, false])
  func leftUnderWay(isAccepted: Bool) async throws {
    let desk = try SyncDesk(server, scopes: ["a"])
    server.put(.card("1"), .card("1", "t", count: 3), in: "a")
    try await desk.sync()
    if isAccepted {
      try await desk.cards.update("1") { $0.count += 1 }
      server.script { call, _ in if case .push = call { .losesAnswer } else { nil } }
    } else {
      try await desk.cards.delete(keys: ["1"])
      server.script { call, _ in
        if case .push = call { .fails(.unavailable("later", retryAfter: .seconds(1))) } else { nil }
      }
    }
    // The push comes to nothing for us, and then somebody moves the document.
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.move(.card("1"), to: "elsewhere")
    if !isAccepted { server.put(.card("1"), .card("1", "not for us", count: 3), in: "elsewhere") }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.titles() == [])
    #expect(server.documents(in: "elsewhere").count == 1)
    #expect(server.documents(in: "a").isEmpty)
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test("a resolver whose copy has no key is told so, and keeps nobody else")
  func emptyKey() async throws {
    let synced = SyncedCollection(
      Card.self, rules: Card.rules, resolver: { _ in .both(key: .string("")) })
    let desk = try SyncDesk(server, collections: [synced])
    server.put(.card("1"), .card("1", "t"), in: "all")
    try await desk.sync()
    try await desk.cards.update("1") { $0.title = "here" }
    server.put(.card("1"), .card("1", "there"), in: "all")
    server.put(.card("2"), .card("2", "news"), in: "all")

    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.cards.get("2") != nil)
    #expect(try desk.cards.get("1")?.title == "here")
    try desk.close()
  }

  @Test("of a page that tells of one document twice the last word holds")
  func twice() async throws {
    let remote = ClosureRemote { request in
      let card = RemoteChange(.card("1"), revision: "1", .document(.card("1", "t")))
      let gone = RemoteChange(.card("1"), revision: "2", .deleted)
      let changes = request.cursor == nil ? [card, gone] : []
      return PullAnswer(changes: changes, cursor: "c", hasMore: false)
    } push: { request in
      request.mutations.map { _ in .retry }
    }
    let desk = try SyncDesk(remote)

    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.cards.count() == 0)
    try desk.close()
  }
}
