import LarderLMDB
import LarderRemote
import LarderTesting
import Testing

@testable import Larder

@Suite("documents that leave a scope while their edits are under way, or in conflict")
struct EngineDepartureTests {
  private let server = InMemoryRemote()

  /// How a client hears that a document is in its scope no more.
  enum Telling: CaseIterable {
    case told
    /// By a load from the beginning, which does not have it.
    case notSeen
  }

  private func stopPushes() {
    server.script { call, _ in
      if case .push = call { .fails(.unavailable("later", retryAfter: .seconds(1))) } else { nil }
    }
  }

  private func loseAnswers() {
    server.script { call, _ in if case .push = call { .losesAnswer } else { nil } }
  }

  /// The next pull of a scope fails, and with it the sync.
  private func stopPulls(of scope: String) {
    server.script { call, _ in
      switch call {
      case .push: .losesAnswer
      case .pull(let request) where request.scope == scope: .fails(.unavailable("not now"))
      default: nil
      }
    }
  }

  private func text(in scope: String) throws -> String {
    try #require(server.documents(in: scope)[.card("1")]?.document?.description)
  }

  /// A client with a document of scope a that counts 3.
  private func desk(
    _ scopes: [String], _ collections: [SyncedCollection]? = nil
  ) async throws -> SyncDesk {
    let desk =
      if let collections {
        try SyncDesk(server, collections: collections, scopes: scopes)
      } else {
        try SyncDesk(server, scopes: scopes)
      }
    server.put(.card("1"), .card("1", "t", count: 3), in: "a")
    try await desk.sync()
    return desk
  }

  private func verifyNothingIsLeft(_ desk: SyncDesk) throws {
    #expect(try desk.engine.pending().isEmpty)
    try desk.store.read { snapshot in
      try snapshot.forEachMark("Card") { key, mark in
        Issue.record("the mark \(mark) of \(key) has stayed")
        return true
      }
    }
    try desk.close()
  }

  /// The answer that comes at last is of the time before, and does not say that the document is in another scope.
  @Test(
    "a second edit of what was deleted since the first one is sent", arguments: Telling.allCases)
  func deleted(_ telling: Telling) async throws {
    let desk = try await desk(["a"])
    try await desk.cards.update("1") { $0.count += 1 }
    loseAnswers()
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.remove(.card("1"))
    if telling == .notSeen { server.forgetCursors() }
    // The push fails once more, and the pull works.
    try await desk.cards.update("1") { $0.count += 1 }
    stopPushes()
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.engine.rejected().isEmpty)
    #expect(try desk.cards.get("1") != nil)
    #expect(try text(in: "a").contains("\"id\": \"1\""))
    try verifyNothingIsLeft(desk)
  }

  @Test(
    "a document that moved between scopes is no deletion while its edit is under way, and counts once",
    arguments: Telling.allCases, [["a", "b"], ["b", "a"]])
  func moved(_ telling: Telling, _ scopes: [String]) async throws {
    let desk = try await desk(scopes)
    try await desk.cards.update("1") { $0.count += 1 }
    loseAnswers()
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.move(.card("1"), to: "b")
    if telling == .notSeen { server.forgetCursors() }
    stopPulls(of: "b")
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.cards.get("1")?.count == 4)
    #expect(try text(in: "b").contains(#""count": 4"#))
    #expect(server.documents(in: "a").isEmpty)
    // Its next edit goes where it is now.
    try await desk.cards.update("1") { $0.count += 1 }
    try await desk.sync()
    #expect(try text(in: "b").contains(#""count": 5"#))
    try verifyNothingIsLeft(desk)
  }

  @Test(
    "a document that left all followed scopes goes once its edit is answered",
    arguments: Telling.allCases, [["a"], ["a", "b"]])
  func left(_ telling: Telling, _ scopes: [String]) async throws {
    let desk = try await desk(scopes)
    try await desk.cards.update("1") { $0.count += 1 }
    loseAnswers()
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.move(.card("1"), to: "elsewhere")
    if telling == .notSeen { server.forgetCursors() }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.titles() == [])
    #expect(try text(in: "elsewhere").contains(#""count": 4"#))
    try verifyNothingIsLeft(desk)
  }

  @Test(
    "an edit that never arrived does not bring a document back that left meanwhile",
    arguments: Telling.allCases, [["a"], ["a", "b"]])
  func neverArrived(_ telling: Telling, _ scopes: [String]) async throws {
    let desk = try await desk(scopes)
    try await desk.cards.update("1") { $0.title = "edited" }
    stopPushes()
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.move(.card("1"), to: "elsewhere")
    if telling == .notSeen { server.forgetCursors() }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<3 { try await desk.sync() }

    #expect(server.documents(in: "a").isEmpty)
    #expect(try desk.titles() == ["1 edited"])
    #expect(try desk.engine.rejected().map(\.code) == ["left"])
    try await desk.engine.discard(.card("1"))
    #expect(try desk.titles() == [])
    try verifyNothingIsLeft(desk)
  }

  @Test(
    "an edit that was set aside says that its document has left, so that no correction takes it back",
    arguments: [["a"], ["a", "b"]])
  func leftWhileRejected(_ scopes: [String]) async throws {
    let desk = try await desk(scopes)
    try await desk.cards.update("1") { $0.title = "long" }
    server.script { call, _ in if case .push = call { .fails(.tooLarge("413")) } else { nil } }
    try await desk.sync()
    #expect(try desk.engine.rejected().map(\.code) == ["too-large"])
    server.script(nil)
    server.move(.card("1"), to: "elsewhere")

    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.engine.rejected().map(\.code) == ["left"])
    #expect(server.documents(in: "elsewhere").count == 1)
    try await desk.engine.discard(.card("1"))
    #expect(try desk.titles() == [])
    try verifyNothingIsLeft(desk)
  }

  @Test(
    "an edit that was not sent yet meets a deletion that nobody told of by the rules for deletions",
    arguments: [DeletionPolicy.editWins, .deletionWins], [["a"], ["a", "b"]])
  func deletedUnseen(_ deletions: DeletionPolicy, _ scopes: [String]) async throws {
    let desk = try await desk(scopes, [SyncedCollection(Card.self, deletions: deletions)])
    // Every page fails, so that the deletion is not told of before the cursors expire.
    try await desk.cards.update("1") { $0.title = "edited" }
    stopPushes()
    server.remove(.card("1"))
    server.purge()
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<3 { try await desk.sync() }

    let isKept = deletions == .editWins
    #expect(try desk.titles() == (isKept ? ["1 edited"] : []))
    #expect(server.documents(in: "a").count == (isKept ? 1 : 0))
    try verifyNothingIsLeft(desk)
  }

  @Test(
    "a document that was made here, and is gone before its scope is first loaded, goes with its answer",
    arguments: [["a"], ["a", "b"]], [true, false])
  func madeAndGoneUnseen(_ scopes: [String], isDeleted: Bool) async throws {
    let desk = try SyncDesk(server, scopes: scopes)
    try await desk.cards.save(Card(id: "1", title: "new"))
    server.script { call, _ in
      switch call {
      case .push: .losesAnswer
      case .pull: .fails(.unavailable("not now"))
      default: nil
      }
    }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    if isDeleted {
      server.remove(.card("1"))
    } else {
      server.move(.card("1"), to: "elsewhere")
    }
    loseAnswers()
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.titles() == [])
    try verifyNothingIsLeft(desk)
  }

  @Test("a document that was made here, and moved away before its answer, goes with the answer")
  func madeAndMoved() async throws {
    let desk = try await desk(["a", "b"])
    try await desk.cards.save(Card(id: "2", title: "new"))
    loseAnswers()
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.move(.card("2"), to: "elsewhere")
    await #expect(throws: RemoteError.self) { try await desk.sync() }
    server.script(nil)

    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.titles() == ["1 t"])
    try verifyNothingIsLeft(desk)
  }

  @Test(
    "a conflict about a document that has left is settled without bringing it back or keeping it",
    arguments: Telling.allCases, [true, false])
  func conflict(_ telling: Telling, keepsOwn: Bool) async throws {
    let desk = try await desk(
      ["a", "b"], [SyncedCollection(Card.self, resolver: { _ in .ask })])
    try await desk.cards.update("1") { $0.title = "mine" }
    server.put(.card("1"), .card("1", "theirs", count: 3), in: "a")
    try await desk.sync()
    #expect(try desk.engine.conflicts().count == 1)
    server.move(.card("1"), to: "elsewhere")
    if telling == .notSeen { server.forgetCursors() }
    for _ in 0..<2 { try await desk.sync() }
    #expect(try desk.titles() == ["1 mine"])

    try await desk.engine.settle(.card("1"), as: keepsOwn ? .here : .there)
    for _ in 0..<3 { try await desk.sync() }

    #expect(server.documents(in: "a").isEmpty)
    #expect(try text(in: "elsewhere").contains("theirs"))
    guard keepsOwn else {
      #expect(try desk.titles() == [])
      return try verifyNothingIsLeft(desk)
    }
    #expect(try desk.titles() == ["1 mine"])
    #expect(try desk.engine.pending().count == 1)
    try desk.close()
  }

  @Test(
    "a deletion that is sent all the same, and meets an edit elsewhere, leaves nothing here",
    arguments: [["a"], ["a", "b"]])
  func deletionOutside(_ scopes: [String]) async throws {
    let store = try Store.temporary()
    let deletes = Locked(false)
    let remote = ClosureRemote { [server] request in
      // As the page comes that says so, and behind the push.
      if deletes.withLock({ $0 }) {
        _ = try await store.repository(of: Card.self).delete(keys: ["1"])
      }
      return try await server.pull(request)
    } push: { [server] in
      try await server.push($0)
    }
    let desk = try SyncDesk(remote, store: store, scopes: scopes)
    server.put(.card("1"), .card("1", "t", count: 3), in: "a")
    try await desk.sync()
    server.move(.card("1"), to: "elsewhere")
    server.put(.card("1"), .card("1", "theirs", count: 3), in: "elsewhere")
    deletes.withLock { $0 = true }
    try await desk.sync()
    deletes.withLock { $0 = false }
    #expect(try desk.engine.rejected().map(\.code) == ["left"])

    try await desk.engine.retry(.card("1"))
    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.titles() == [])
    #expect(try text(in: "elsewhere").contains("theirs"))
    try verifyNothingIsLeft(desk)
  }

  /// What keeps the pulls from telling of a move before the edit is sent.
  enum Obstacle: CaseIterable {
    case expiredCursors
    case failedPull
    case newEngine
  }

  @Test(
    "an edit that meets a conflict before its document is known to have left does not bring it back",
    arguments: Obstacle.allCases, [true, false])
  func conflictFirst(_ obstacle: Obstacle, isDeletion: Bool) async throws {
    for scopes in [["a"], ["a", "b"]] {
      let server = InMemoryRemote()
      let collections = [SyncedCollection(Card.self, deletions: .deletionWins)]
      var desk = try SyncDesk(server, collections: collections, scopes: scopes)
      server.put(.card("1"), .card("1", "t", count: 3), in: "a")
      try await desk.sync()
      if isDeletion {
        try await desk.cards.delete(keys: ["1"])
      } else {
        try await desk.cards.update("1") { $0.title = "edited" }
      }
      server.move(.card("1"), to: "elsewhere")
      if obstacle == .expiredCursors {
        server.forgetCursors()
      } else {
        server.script { call, _ in if case .pull = call { .fails(.unavailable("no")) } else { nil }
        }
        await #expect(throws: RemoteError.self) { try await desk.sync() }
        server.script(nil)
      }
      if obstacle == .newEngine {
        desk = try SyncDesk(server, store: desk.store, collections: collections, scopes: scopes)
      }

      for _ in 0..<3 { try await desk.sync() }

      #expect(server.documents(in: "a").isEmpty, "\(scopes)")
      #expect(server.documents(in: "elsewhere").count == 1, "\(scopes)")
      #expect(try desk.engine.rejected().map(\.code) == ["left"], "\(scopes)")
      try desk.close()
    }
  }

  @Test(
    "an edit of a document that was deleted in its scope goes there again, and into no other one",
    arguments: Telling.allCases, [true, false])
  func madeAnew(_ telling: Telling, asks: Bool) async throws {
    let desk = try SyncDesk(
      server,
      collections: [SyncedCollection(Card.self, deletions: asks ? .ask : .editWins)],
      scopes: ["a", "b"])
    server.put(.card("1"), .card("1", "t", count: 3), in: "b")
    try await desk.sync()
    try await desk.cards.update("1") { $0.title = "secret" }
    server.remove(.card("1"))
    if telling == .notSeen { server.purge() }
    try await desk.sync()
    if asks { try await desk.engine.settle(.card("1"), as: .here) }

    for _ in 0..<3 { try await desk.sync() }

    #expect(server.documents(in: "a").isEmpty)
    #expect(try text(in: "b").contains("secret"))
    #expect(try desk.titles() == ["1 secret"])
    // Nobody has to hear of what was made and deleted here in between.
    try await desk.cards.delete(keys: ["1"])
    try await desk.sync()
    #expect(server.documents(in: "b").isEmpty)
    try verifyNothingIsLeft(desk)
  }

  @Test(
    "a conflict about a document that has come to another scope shows that it was deleted there",
    arguments: [true, false])
  func deletedWhereItCameTo(isTold: Bool) async throws {
    let desk = try await desk(
      ["a", "b"], [SyncedCollection(Card.self, rules: Card.rules, resolver: { _ in .ask })])
    try await desk.cards.update("1") { $0.title = "here" }
    stopPushes()
    server.move(.card("1"), to: "b")
    server.put(.card("1"), .card("1", "there", count: 3), in: "b")
    try? await desk.sync()
    server.script(nil)
    try await desk.sync()
    #expect(try desk.engine.conflicts().map { $0.there?["title"] } == ["there"])

    server.remove(.card("1"))
    if !isTold {
      // Nobody tells of the deletion any more: a load from the beginning lacks the document.
      server.purge()
      server.forgetCursors()
    }
    for _ in 0..<3 { try await desk.sync() }

    let conflicts = try desk.engine.conflicts()
    #expect(conflicts.count == 1)
    #expect(conflicts.allSatisfy { $0.there == nil })
    try await desk.engine.settle(.card("1"), as: .there)
    #expect(try desk.titles() == [])
    try verifyNothingIsLeft(desk)
  }

  @Test("a conflict about a document that is in no scope here leaves no copy once it is settled")
  func conflictOutside() async throws {
    let desk = try SyncDesk(
      server, collections: [SyncedCollection(Card.self, resolver: { _ in .ask })],
      scopes: ["a", "b"])
    server.put(.card("1"), .card("1", "theirs", count: 3), in: "elsewhere")
    try await desk.cards.save(Card(id: "1", title: "mine"))
    try await desk.sync()
    #expect(try desk.engine.conflicts().count == 1)

    try await desk.engine.settle(.card("1"), as: .there)
    for _ in 0..<2 { try await desk.sync() }

    #expect(try desk.titles() == [])
    #expect(try text(in: "elsewhere").contains("theirs"))
    try verifyNothingIsLeft(desk)
  }

  @Test("an edit goes where its document is, in whatever order the scopes are read")
  func goesAlong() async throws {
    for scopes in [["a", "b"], ["b", "a"]] {
      let server = InMemoryRemote()
      let desk = try SyncDesk(server, scopes: scopes)
      server.put(.card("1"), .card("1", "t", count: 3), in: "a")
      try await desk.sync()
      server.move(.card("1"), to: "b")
      // It is sent to a first, meets the version in b, and is sent again.
      try await desk.cards.update("1") { $0.title = "edited" }

      for _ in 0..<2 { try await desk.sync() }

      #expect(server.documents(in: "a").isEmpty, "\(scopes)")
      #expect(server.documents(in: "b").count == 1, "\(scopes)")
      #expect(try desk.titles() == ["1 edited"])
      #expect(try desk.engine.pending().isEmpty)
      try desk.close()
    }
  }
}
