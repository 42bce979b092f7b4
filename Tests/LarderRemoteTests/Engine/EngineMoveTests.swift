import Foundation
import Larder
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTesting
import Testing

@Document struct MovedSeat: Equatable {
  @Key var number: Int
  @Indexed(unique: true) var name: String
  var note = ""
}

/// Documents and edits that may belong to more than one scope.
@Suite("an engine whose documents move between scopes", .timeLimit(.minutes(20)))
struct EngineMoveTests {
  private let server = InMemoryRemote()
  private let cards = [SyncedCollection(Card.self, rules: Card.rules)]

  private func loseAnswers() {
    server.script { call, _ in if case .push = call { .losesAnswer } else { nil } }
  }

  private func failPulls(of scope: String) {
    server.script { call, _ in
      if case .pull(let request) = call, request.scope == scope {
        .fails(.unavailable("offline just now"))
      } else {
        nil
      }
    }
  }

  private func pushedScopes() -> [String] {
    server.recordedCalls.compactMap {
      if case .push(let request) = $0 { request.scope } else { nil }
    }
  }

  // MARK: Where an edit goes

  @Test(
    "an edit without an answer goes where it went before, whichever scopes are followed",
    arguments: [["b", "a"], ["new", "a"]])
  func sameScope(_ scopes: [String]) async throws {
    let first = try SyncDesk(server, scopes: ["a"])
    try await first.cards.save(Card(id: "1", count: 2))
    loseAnswers()
    await #expect(throws: RemoteError.self) { try await first.sync() }
    server.script(nil)

    let desk = try SyncDesk(server, store: first.store, scopes: scopes)
    try await desk.sync()

    #expect(Set(server.documents(in: "a").keys) == [.card("1")])
    #expect(Set(pushedScopes()) == ["a"])
    #expect(try desk.engine.rejected().isEmpty)
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test("an edit without an answer waits where its scope is not followed any more")
  func notFollowed() async throws {
    let first = try SyncDesk(server, scopes: ["private"])
    try await first.cards.save(Card(id: "1", title: "secret"))
    server.script { call, _ in if case .push = call { .fails(.unavailable("503")) } else { nil } }
    await #expect(throws: RemoteError.self) { try await first.sync() }
    server.script(nil)

    let desk = try SyncDesk(server, store: first.store, scopes: ["public"])
    try await desk.sync()

    #expect(server.documents(in: "public").isEmpty)
    #expect(try desk.engine.pending().map(\.status) == [.sent])
    let both = try SyncDesk(server, store: first.store, scopes: ["public", "private"])
    try await both.sync()
    #expect(Set(server.documents(in: "private").keys) == [.card("1")])
    #expect(server.documents(in: "public").isEmpty)
    try desk.close()
  }

  @Test("another rule for scopes moves a document with its next edit, and adds nothing twice")
  func otherRule() async throws {
    let first = try SyncDesk(server, collections: cards, scopes: ["a", "b"])
    try await first.cards.save(Card(id: "1", count: 1))
    try await first.sync()
    try await first.cards.update("1") { $0.count = 4 }
    loseAnswers()
    await #expect(throws: RemoteError.self) { try await first.sync() }
    server.script(nil)

    let moved = SyncedCollection(Card.self, rules: Card.rules, scope: { _ in "b" })
    let desk = try SyncDesk(server, store: first.store, collections: [moved], scopes: ["a", "b"])
    try await desk.cards.update("1") { $0.title = "edited" }
    try await desk.sync()

    #expect(try desk.cards.get("1")?.count == 4)
    #expect(Set(server.documents(in: "b").keys) == [.card("1")])
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  // MARK: What a migration changes

  @Test("a migration leaves an edit without an answer as it was sent", arguments: [true, false])
  func migration(isEditedBehind: Bool) async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "1", title: "old", count: 1))
    try await desk.sync()
    loseAnswers()
    try await desk.cards.update("1") { $0.count = 4 }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    try await desk.store.migrate(Card.self, to: 2) { $0["title"] = .string("migrated") }
    if isEditedBehind { try await desk.cards.update("1") { $0.count += 10 } }
    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.engine.rejected().isEmpty)
    #expect(try desk.engine.pending().isEmpty)
    let count = isEditedBehind ? 14 : 4
    #expect(try desk.cards.get("1") == Card(id: "1", title: "migrated", count: count))
    // What a migration changes is not sent by itself.
    let title = isEditedBehind ? "migrated" : "old"
    let there = try #require(server.version(of: .card("1"))?.document?.description)
    #expect(there.contains(title) && there.contains("\(count)"))
    try desk.close()
  }

  // MARK: Documents that others move

  @Test(
    "a document that moves to another followed scope stays, also while that cannot be read",
    arguments: [true, false])
  func movedBetween(isEditedMeanwhile: Bool) async throws {
    let desk = try SyncDesk(server, scopes: ["a", "b"])
    server.put(.card("1"), .card("1", "t", count: 10), in: "a")
    try await desk.sync()
    server.move(.card("1"), to: "b")
    failPulls(of: "b")
    let start = try desk.store.changeToken()

    await #expect(throws: RemoteError.self) { try await desk.sync() }
    #expect(try desk.cards.get("1")?.count == 10)
    if !isEditedMeanwhile {
      server.script(nil)
      for _ in 0..<2 { try await desk.sync() }
      #expect(try desk.cards.get("1")?.count == 10)
      #expect(try desk.store.changeToken() == start, "nobody was told of anything")
    }
    try await desk.cards.update("1") { $0.count += 1 }
    server.script(nil)
    try await desk.sync()
    #expect(try desk.cards.get("1")?.count == 11)
    #expect(Set(server.documents(in: "b").keys) == [.card("1")])
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test("a document that moves to a scope that was just read stays")
  func movedBehind() async throws {
    let isMoved = Locked(true)
    let remote = ClosureRemote { [server] request in
      if request.scope == "b",
        !isMoved.withLock({ was in
          defer { was = true }; return was
        })
      {
        server.move(.card("1"), to: "a")
      }
      return try await server.pull(request)
    } push: { [server] in
      try await server.push($0)
    }
    let desk = try SyncDesk(remote, scopes: ["a", "b"])
    server.put(.card("1"), .card("1", "t"), in: "b")
    try await desk.sync()
    let start = try desk.store.changeToken()
    isMoved.withLock { $0 = false }

    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.titles() == ["1 t"])
    #expect(try desk.store.changeToken() == start, "nobody was told of anything")
    try await desk.cards.update("1") { $0.title = "edited" }
    try await desk.sync()
    #expect(Set(server.documents(in: "a").keys) == [.card("1")])
    try desk.close()
  }

  @Test("a document that leaves all followed scopes goes once all were read")
  func movedAway() async throws {
    let desk = try SyncDesk(server, scopes: ["a", "b"])
    for number in 1...3 { server.put(.card("\(number)"), .card("\(number)", "t"), in: "a") }
    try await desk.sync()
    server.move(.card("1"), to: "elsewhere")
    server.move(.card("2"), to: "b")

    try await desk.sync()

    #expect(try desk.titles() == ["2 t", "3 t"])
    server.move(.card("2"), to: "a")
    server.move(.card("3"), to: "elsewhere")
    server.forgetCursors()
    try await desk.sync()
    #expect(try desk.titles() == ["2 t"])
    try desk.close()
  }

  @Test(
    "what left the scopes of one engine goes with that one, whatever another one reads meanwhile")
  func leftForAnother() async throws {
    let one = try SyncDesk(server, scopes: ["a", "b"])
    let other = try SyncDesk(server, store: one.store, scopes: ["c", "d"])
    server.put(.card("1"), .card("1", "t"), in: "a")
    server.put(.card("2"), .card("2", "t"), in: "c")
    for desk in [one, other] { try await desk.sync() }
    server.move(.card("1"), to: "elsewhere")
    // It hears that the document is gone from a, and cannot read b.
    failPulls(of: "b")
    await #expect(throws: RemoteError.self) { try await one.sync() }
    server.script(nil)
    let before = server.recordedCalls.count

    try await other.sync()

    let pulls = server.recordedCalls[before...].compactMap {
      if case .pull(let request) = $0 { request.scope } else { nil }
    }
    #expect(pulls == ["c", "d"], "nothing has left these, and each is read once")
    #expect(try one.titles() == ["1 t", "2 t"])
    try await one.sync()
    #expect(try one.titles() == ["2 t"])
    try one.close()
  }

  @Test("what had left its scope in a store of an earlier version goes too", arguments: [252, 253])
  func leftEarlier(loading: UInt8) async throws {
    let desk = try SyncDesk(server, scopes: ["a", "b"])
    for number in 1...2 { server.put(.card("\(number)"), .card("\(number)", "t"), in: "a") }
    try await desk.sync()
    server.move(.card("1"), to: "elsewhere")
    // That is read, by a version that had a note in place of marks.
    failPulls(of: "b")
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)
    try await desk.store.write { tx in
      let key = Array("1".utf8)
      var base = try #require(try tx.base("Card", key))
      #expect(base[2] == 253)
      base[2] = loading
      try tx.setBase("Card", key, to: base)
      #expect(try tx.mark("Card", key) == 1)
      try tx.setMark("Card", key, to: nil)
      try tx.setSyncNote("left", to: [1])
    }

    try await desk.sync()

    #expect(try desk.titles() == ["2 t"])
    try desk.store.read { snapshot in
      #expect(try snapshot.syncNote("left") == nil)
      try snapshot.forEachMark("Card") { key, _ in
        Issue.record("a mark of \(key) has stayed")
        return true
      }
    }
    try desk.close()
  }

  @Test("an edit does not bring back a document that others have moved", arguments: [true, false])
  func editedAndMoved(isFollowed: Bool) async throws {
    let desk = try SyncDesk(server, scopes: isFollowed ? ["a", "b"] : ["a"])
    server.put(.card("1"), .card("1", "t", count: 10), in: "a")
    try await desk.sync()
    server.move(.card("1"), to: "b")
    try await desk.cards.update("1") { $0.title = "edited" }

    for _ in 0..<2 { try await desk.sync() }

    #expect(server.documents(in: "a").isEmpty)
    let there = try #require(server.documents(in: "b")[.card("1")]?.document?.description)
    #expect(there.contains("edited") == isFollowed)
    #expect(try desk.titles() == ["1 edited"])
    #expect(try desk.engine.rejected().map(\.code) == (isFollowed ? [] : ["left"]))
    guard !isFollowed else { return try desk.close() }
    // Whoever gives it up has what others have: it is not in the scopes.
    try await desk.engine.discard(.card("1"))
    try await desk.sync()
    #expect(try desk.titles() == [])
    #expect(server.documents(in: "b").count == 1)
    try desk.close()
  }

  @Test(
    "whoever tries such an edit again, or edits the document again, takes it back",
    arguments: [true, false])
  func takenBack(isEdited: Bool) async throws {
    let desk = try SyncDesk(server, scopes: ["a"])
    server.put(.card("1"), .card("1", "t", count: 10), in: "a")
    try await desk.sync()
    server.move(.card("1"), to: "b")
    try await desk.cards.update("1") { $0.title = "edited" }
    try await desk.sync()
    #expect(server.documents(in: "b").count == 1)

    if isEdited {
      try await desk.cards.update("1") { $0.count += 1 }
    } else {
      try await desk.engine.retry(.card("1"))
    }
    for _ in 0..<2 { try await desk.sync() }

    let there = try #require(server.documents(in: "a")[.card("1")]?.document?.description)
    #expect(there.contains("edited") && there.contains(isEdited ? "11" : "10"))
    #expect(server.documents(in: "b").isEmpty)
    #expect(try desk.engine.pending().isEmpty)
    #expect(try desk.cards.get("1") == Card(id: "1", title: "edited", count: isEdited ? 11 : 10))
    try desk.close()
  }

  @Test("an edit under way does not bring back a document that others have moved")
  func movedUnderWay() async throws {
    let desk = try SyncDesk(server, scopes: ["a"])
    server.put(.card("1"), .card("1", "t", count: 10), in: "a")
    try await desk.sync()
    try await desk.cards.update("1") { $0.title = "edited" }
    // It never arrives, and the pull behind it does.
    server.script { call, _ in
      if case .push = call { .fails(.unavailable("later", retryAfter: .seconds(1))) } else { nil }
    }
    server.move(.card("1"), to: "b")
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<2 { try await desk.sync() }

    #expect(server.documents(in: "a").isEmpty)
    #expect(server.documents(in: "b").count == 1)
    #expect(try desk.engine.rejected().map(\.code) == ["left"])
    try desk.close()
  }

  // MARK: What was refused

  private func put(_ number: Int, _ name: String, _ note: String = "") {
    server.put(
      RemoteKey("MovedSeat", "\(number)"),
      RemoteDocument(#"{"number":\#(number),"name":"\#(name)","note":"\#(note)"}"#), in: "a")
  }

  @Test(
    "a version that was refused is not saved over a later one that was accepted",
    arguments: [true, false])
  func refusedEarlier(isDeletion: Bool) async throws {
    let store = try Store.temporary()
    let seats = store.repository(of: MovedSeat.self)
    let hasEdited = Locked(true)
    let remote = ClosureRemote { [server] request in
      // While the sync is under way, somebody makes the value free.
      if request.scope == "b",
        !hasEdited.withLock({ was in
          defer { was = true }; return was
        })
      {
        try await seats.delete(key: 9)
        if isDeletion {
          try await seats.delete(key: 1)
        } else {
          try await seats.update(1) { $0.note = "mine" }
        }
      }
      return try await server.pull(request)
    } push: { [server] in
      try await server.push($0)
    }
    let desk = try SyncDesk(
      remote, store: store,
      collections: [SyncedCollection(MovedSeat.self, deletions: .deletionWins)], scopes: ["a", "b"])
    put(1, "one", "v1")
    put(9, "taken")
    try await desk.sync()
    put(1, "taken", "v2")
    hasEdited.withLock { $0 = false }

    try await desk.sync()

    let there = server.version(of: RemoteKey("MovedSeat", "1"))?.document
    let here = try seats.get(1)
    #expect((there == nil) == isDeletion && (here == nil) == isDeletion)
    #expect(here?.note == (isDeletion ? nil : "mine"))
    #expect(try desk.engine.refused().isEmpty)
    try desk.close()
  }

  @Test(
    "two documents that swap a unique value both come, in pages of any size",
    arguments: [100, 1])
  func swapped(pageSize: Int) async throws {
    var facts = server.currentFacts
    facts.maximumChangeCount = pageSize
    server.currentFacts = facts
    let desk = try SyncDesk(server, collections: [SyncedCollection(MovedSeat.self)], scopes: ["a"])
    let seats = desk.store.repository(of: MovedSeat.self)
    put(1, "x")
    put(2, "y")
    put(3, "z")
    try await desk.sync()
    // Between them stands one that cannot be saved at all, and one whose value is taken for good.
    put(1, "other")
    put(2, "x")
    put(7, "z")
    server.put(
      RemoteKey("MovedSeat", "8"), RemoteDocument(#"{"number":8,"name":5,"note":""}"#),
      in: "a")
    put(1, "y")

    try await desk.sync()

    #expect(try seats.fetch(MovedSeat.all.sorted(by: \.number)).map(\.name) == ["y", "x", "z"])
    #expect(try Set(desk.engine.refused().map(\.key.key)) == ["7", "8"])
    try desk.close()
  }

  @Test("a deletion that somebody is to decide about is not merged")
  func askedDeletion() async throws {
    let desk = try SyncDesk(
      server, collections: [SyncedCollection(Card.self, deletions: .ask)], scopes: ["a"])
    server.put(.card("1"), .card("1", "t"), in: "a")
    try await desk.sync()
    server.remove(.card("1"))
    try await desk.cards.update("1") { $0.title = "edited" }
    try await desk.sync()
    let conflict = try #require(try desk.engine.conflicts().first)

    await #expect(throws: SyncError.self) {
      try await desk.engine.settle(conflict.key, as: .merged)
    }

    #expect(try desk.engine.conflicts().count == 1)
    try await desk.engine.settle(conflict.key, as: .here)
    try await desk.sync()
    #expect(server.documents(in: "a").count == 1)
    try desk.close()
  }

  // MARK: Pushes that come to nothing

  @Test("changes of others come down while pushes are put off, or answered with nonsense")
  func pulledAllTheSame() async throws {
    for failure in [
      RemoteError.unavailable("later", retryAfter: .seconds(1)), .malformed("status 400"),
    ] {
      let server = InMemoryRemote()
      let desk = try SyncDesk(server)
      server.script { call, _ in if case .push = call { .fails(failure) } else { nil } }
      try await desk.cards.save(Card(id: "mine"))
      server.put(.card("others"), .card("others", "t"), in: "all")

      await #expect(throws: failure) { try await desk.sync() }

      #expect(try desk.cards.get("others") != nil)
      #expect(try desk.engine.pending().map(\.status) == [.sent])
      try desk.close()
    }
  }

  @Test("an edit that the server answers with nonsense is set aside, and the others arrive")
  func poisoned() async throws {
    let desk = try SyncDesk(server)
    server.script { call, _ in
      guard case .push(let request) = call,
        request.mutations.contains(where: { $0.key == .card("2") })
      else { return nil }
      return .fails(.malformed("status 400"))
    }
    try await desk.cards.save((1...4).map { Card(id: "\($0)") })

    for number in 0..<6 {
      try? await desk.sync()
      // Something is answered, so that the server is not at fault.
      try await desk.cards.save(Card(id: "more \(number)"))
    }

    #expect(server.documents(in: "all").count >= 8)
    #expect(try desk.engine.rejected().map(\.key) == [.card("2")])
    #expect(try desk.engine.rejected().map(\.code) == ["unanswered"])
    try desk.close()
  }
}
