import Foundation
import Larder
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTestKit
import LarderTesting
import Testing

/// Documents that were changed on both sides, and what becomes of them.
@Suite("conflicts and deletions", .timeLimit(.minutes(20))) struct EngineConflictTests {
  private let server = InMemoryRemote()

  private func asking() -> SyncedCollection {
    SyncedCollection(Card.self, rules: Card.rules, resolver: { _ in .ask })
  }

  /// A client with a card that waits for somebody: "here" here, "there" there, "before" before.
  private func conflicting() async throws -> SyncDesk {
    let desk = try SyncDesk(server, collections: [asking()])
    try await desk.cards.save(Card(id: "a", title: "before"))
    try await desk.sync()
    try await desk.cards.save(Card(id: "a", title: "here"))
    server.put(.card("a"), .card("a", "there"), in: "all")
    try await desk.sync()
    return desk
  }

  @Test("a conflict waits, and says what was, what is here and what is there")
  func asks() async throws {
    let desk = try await conflicting()

    let conflict = try #require(try desk.engine.conflicts().first)

    #expect(conflict.key == .card("a"))
    #expect(
      [conflict.before, conflict.here, conflict.there].map { $0?["title"] }
        == ["before", "here", "there"])
    #expect(desk.engine.currentState.conflictCount == 1)
    #expect(try desk.titles() == ["a here"])
    try desk.close()
  }

  @Test("what another client changes while an edit is on its way becomes a conflict")
  func changedOnTheWay() async throws {
    let desk = try SyncDesk(server, collections: [asking()])
    try await desk.cards.save(Card(id: "a", title: "before"))
    try await desk.sync()
    let isChanged = Flag()
    server.script { [server] call, _ in
      if case .push = call, !isChanged.isSet {
        isChanged.set()
        server.put(.card("a"), .card("a", "there"), in: "all")
      }
      return nil
    }

    try await desk.cards.save(Card(id: "a", title: "here"))
    try await desk.sync()

    let conflict = try #require(try desk.engine.conflicts().first)
    #expect([conflict.here, conflict.there].map { $0?["title"] } == ["here", "there"])
    let stored = server.documents(in: "all").values.map { "\($0.document.map { "\($0)" } ?? "")" }
    #expect(stored.count == 1 && stored[0].contains("there"))
    try desk.close()
  }

  @Test(
    "a conflict can be settled in every way",
    arguments: [
      (Resolution.here, ["a here"]), (.there, ["a there"]), (.merged, ["a here"]),
      (.document(["id": "other", "title": "new"]), ["a new"]), (.document(nil), []),
      (.both(key: "b"), ["a there", "b here"]), (.both(key: "a"), ["a here"]),
    ] as [(Resolution, [String])])
  func settles(_ resolution: Resolution, _ titles: [String]) async throws {
    let desk = try await conflicting()

    try await desk.engine.settle(.card("a"), as: resolution)
    #expect(try desk.titles() == titles)
    try await desk.sync()

    #expect(try desk.titles() == titles)
    #expect(try desk.engine.pending() == [])
    #expect(server.documents(in: "all").count == titles.count)
    let other = try SyncDesk(server)
    try await other.sync()
    #expect(try other.titles() == titles)
    try other.close()
    try desk.close()
  }

  @Test("a newer version of the remote replaces the one that a conflict shows")
  func newer() async throws {
    let desk = try await conflicting()
    server.put(.card("a"), .card("a", "newest"), in: "all")

    try await desk.sync()

    #expect(try desk.engine.conflicts().first?.there?["title"] == "newest")
    try await desk.engine.settle(.card("a"), as: .there)
    #expect(try desk.titles() == ["a newest"])
    try desk.close()
  }

  @Test(
    "a document that was deleted while its conflict waits does not come back by an answer",
    arguments: [["all"], ["all", "more"]], [true, false])
  func deletedMeanwhile(_ scopes: [String], isPurged: Bool) async throws {
    for isMadeOnBothSides in [true, false] {
      let server = InMemoryRemote()
      let desk = try SyncDesk(server, collections: [asking()], scopes: scopes)
      if !isMadeOnBothSides {
        try await desk.cards.save(Card(id: "a", title: "before"))
        try await desk.sync()
      }
      try await desk.cards.save(Card(id: "a", title: "here"))
      server.put(.card("a"), .card("a", "there"), in: "all")
      try await desk.sync()
      #expect(try desk.engine.conflicts().count == 1)
      server.remove(.card("a"))
      if isPurged { server.purge() }
      for _ in 0..<2 { try await desk.sync() }
      #expect(try desk.engine.conflicts().map(\.there) == [nil])

      try await desk.engine.settle(.card("a"), as: .there)
      for _ in 0..<2 { try await desk.sync() }

      #expect(try desk.titles() == [])
      #expect(try desk.engine.pending() == [])
      #expect(server.documents(in: "all").isEmpty)
      try desk.close()
    }
  }

  @Test(
    "an edit and a deletion meet as the policy says, whichever was first",
    arguments: [
      (DeletionPolicy.editWins, true, ["a new"]), (.editWins, false, ["a new"]),
      (.deletionWins, true, []), (.deletionWins, false, []),
    ] as [(DeletionPolicy, Bool, [String])])
  func deletions(_ policy: DeletionPolicy, _ isDeletedHere: Bool, _ titles: [String]) async throws {
    let cards = SyncedCollection(Card.self, rules: Card.rules, deletions: policy)
    let desk = try SyncDesk(server, collections: [cards])
    try await desk.cards.save(Card(id: "a", title: "old"))
    try await desk.sync()
    if isDeletedHere {
      try await desk.cards.delete(key: "a")
      server.put(.card("a"), .card("a", "new"), in: "all")
    } else {
      try await desk.cards.save(Card(id: "a", title: "new"))
      server.remove(.card("a"))
    }

    try await desk.sync()

    #expect(try desk.titles() == titles)
    #expect(server.documents(in: "all").count == titles.count)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test(
    "the policy holds as well where the tombstone is forgotten and the cursor has expired",
    arguments: [(DeletionPolicy.editWins, ["a new"]), (.deletionWins, [])]
      as [(DeletionPolicy, [String])])
  func forgottenTombstone(_ policy: DeletionPolicy, _ titles: [String]) async throws {
    let cards = SyncedCollection(Card.self, rules: Card.rules, deletions: policy)
    let desk = try SyncDesk(server, collections: [cards])
    try await desk.cards.save(Card(id: "a", title: "old"))
    try await desk.sync()
    server.remove(.card("a"))
    server.purge()
    server.forgetCursors()
    try await desk.cards.save(Card(id: "a", title: "new"))
    // The edit cannot go before the scope was loaded anew.
    server.script { call, number in
      if case .push = call, number < 6 { .putsOff(behind: 0) } else { nil }
    }

    try? await desk.sync()
    server.script(nil)
    try await desk.sync()

    #expect(try desk.titles() == titles)
    #expect(server.documents(in: "all").count == titles.count)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a document with an edit that moves between two scopes counts once")
  func moved() async throws {
    let desk = try SyncDesk(server, scopes: ["a", "b"])
    try await desk.cards.save(Card(id: "x", count: 10))
    try await desk.sync()
    server.move(.card("x"), to: "b")
    server.purge()
    server.forgetCursors()
    server.script { call, _ in
      if case .push = call { .putsOff(behind: 0) } else { nil }
    }
    try await desk.cards.save(Card(id: "x", count: 12))
    try await desk.sync()
    server.script(nil)

    try await desk.sync()

    #expect(try desk.cards.get("x")?.count == 12)
    #expect(server.documents(in: "b").count == 1)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a document that left the scope is forgotten here, and once its edit has come to nothing")
  func left() async throws {
    let desk = try SyncDesk(server, scopes: ["a"])
    try await desk.cards.save([Card(id: "x", title: "1"), Card(id: "y", title: "1")])
    try await desk.sync()
    server.currentFacts.maximumPushByteCount = 1
    try await desk.cards.save(Card(id: "y", title: "2"))
    server.move(.card("x"), to: "b")
    server.move(.card("y"), to: "b")
    try await desk.sync()
    #expect(try desk.titles() == ["y 2"])

    try await desk.engine.discard(.card("y"))

    #expect(try desk.titles() == [])
    #expect(server.documents(in: "b").count == 2)
    try desk.close()
  }

  @Test("another account sees nothing of the one before, and begins from the beginning")
  func otherAccount() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a", title: "mine"))
    #expect(throws: SyncError.otherAccount(pendingCount: 1)) {
      _ = try SyncDesk(server, store: desk.store, account: "you")
    }
    try await desk.sync()
    let other = InMemoryRemote()
    other.put(.card("b"), .card("b", "yours"), in: "all")

    let next = try SyncDesk(other, store: desk.store, account: "you")

    #expect(try next.titles() == [])
    try await next.sync()
    #expect(try next.titles() == ["b yours"])
    #expect(other.documents(in: "all").count == 1)
    try next.close()
  }

  @Test("a collection that only comes down comes again after it was erased")
  func erasedDown() async throws {
    let cards = SyncedCollection(Card.self, direction: .down)
    server.put(.card("a"), .card("a", "t"), in: "all")
    let desk = try SyncDesk(server, collections: [cards])
    try await desk.sync()

    try await desk.cards.eraseAllData()
    try await desk.sync()

    #expect(try desk.titles() == ["a t"])
    try desk.close()
  }

  @Test("a collection that comes into being behind the engine's back is sent")
  func young() async throws {
    let notes = SyncedCollection("Note", keyField: "id")
    let desk = try SyncDesk(server, collections: [notes])
    try desk.store.collection("Note").save([["id": "1", "text": "t"]], keyField: "id")

    try await desk.sync()

    #expect(server.documents(in: "all").keys.map(\.key) == ["1"])
    try desk.close()
  }

  @Test(
    "what a resolver makes and cannot be saved is a conflict that says so, and no fault of the server's"
  )
  func unsavable() async throws {
    let wrong: [@Sendable (SyncConflict) -> Resolution] = [
      { conflict in
        var document = conflict.here
        document?["count"] = "many"
        return .document(document)
      },
      { _ in .both(key: .string(String(repeating: "k", count: 600))) },
      { conflict in
        conflict.here?["slot"] == "mine" && conflict.there?["slot"] == "mine"
          ? .both(key: "copy") : .merged
      },
      { conflict in
        var document = conflict.here
        document?["slot"] = "taken"
        return .document(document)
      },
    ]
    for resolver in wrong {
      let server = InMemoryRemote()
      let desk = try SyncDesk(
        server,
        collections: [SyncedCollection(Card.self, rules: Card.rules, resolver: resolver)])
      try await desk.cards.save([
        Card(id: "1", title: "t", slot: "mine"), Card(id: "2", slot: "taken"),
      ])
      try await desk.sync()
      try await desk.cards.update("1") { $0.title = "here" }
      server.put(
        .card("1"), RemoteDocument(#"{"id":"1","title":"there","slot":"mine","count":0}"#),
        in: "all")

      for _ in 0..<3 { try await desk.sync() }

      let reason = try desk.engine.conflicts().first?.reason ?? ""
      #expect(reason.contains("what the resolver has made cannot be saved"), "\(reason)")
      #expect(try desk.engine.refused().isEmpty && desk.engine.rejected().isEmpty)
      #expect(try desk.cards.get("1")?.title == "here")
      try await desk.engine.settle(.card("1"), as: .here)
      try await desk.sync()
      #expect(try desk.engine.pending().isEmpty)
      try desk.close()
    }
  }
}
