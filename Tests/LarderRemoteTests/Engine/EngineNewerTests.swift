import Larder
import LarderLMDB
import LarderRemote
import LarderTesting
import Testing

/// Versions of the remote that wait beside edits, and edits whose answers never came.
@Suite("edits that meet another version later", .timeLimit(.minutes(20)))
struct EngineNewerTests {
  private let server = InMemoryRemote()
  private let mood = Locked(Mood.serves)

  /// What the remote makes of pushes.
  private enum Mood {
    case serves
    /// Nothing is done with an edit.
    case putsOff
    case rejects(code: String)
    case conflicts(RemoteVersion)
  }

  private var remote: ClosureRemote {
    ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server, mood] request in
      switch mood.withLock({ $0 }) {
      case .serves: try await server.push(request)
      case .putsOff: request.mutations.map { _ in .retry }
      case .rejects(let code): request.mutations.map { _ in .rejected(code: code, reason: "no") }
      case .conflicts(let version): request.mutations.map { _ in .conflict(version) }
      }
    }
  }

  private func become(_ new: Mood) { mood.withLock { $0 = new } }

  /// Has an edit sent; `change` comes down before the edit is rejected.
  ///
  /// - Parameter code: Why it is set aside afterwards.
  private func reject(
    _ desk: SyncDesk, as code: String = "no", behind change: () -> Void
  ) async throws {
    become(.putsOff)
    change()
    try await desk.sync()
    become(.rejects(code: "no"))
    try await desk.sync()
    #expect(try desk.engine.rejected().map(\.code) == [code])
    become(.serves)
  }

  @Test("what came down while an edit was under way shows where the edit is rejected and undone")
  func undone() async throws {
    let desk = try SyncDesk(remote)
    try await desk.cards.save(Card(id: "a", title: "before"))
    try await desk.sync()
    try await desk.cards.save(Card(id: "a", title: "mine"))
    try await reject(desk) { server.put(.card("a"), .card("a", "theirs"), in: "all") }

    try await desk.cards.save(Card(id: "a", title: "before"))
    try await desk.sync()

    #expect(try desk.titles() == ["a theirs"])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("what came down while an edit was under way is merged with the edit behind its rejection")
  func mended() async throws {
    let desk = try SyncDesk(remote)
    try await desk.cards.save(Card(id: "a", title: "before", count: 1))
    try await desk.sync()
    try await desk.cards.save(Card(id: "a", title: "mine", count: 1))
    try await reject(desk) { server.put(.card("a"), .card("a", "theirs", count: 4), in: "all") }

    try await desk.cards.save(Card(id: "a", title: "before", count: 3))
    try await desk.sync()

    #expect(try desk.cards.get("a") == Card(id: "a", title: "theirs", count: 6))
    #expect(try desk.engine.pending() == [])
    let other = try SyncDesk(server)
    try await other.sync()
    #expect(try other.cards.get("a") == Card(id: "a", title: "theirs", count: 6))
    try other.close()
    try desk.close()
  }

  @Test("a document that moved into another scope while its edit was under way stays behind it")
  func moved() async throws {
    let desk = try SyncDesk(remote, scopes: ["a", "b"])
    try await desk.cards.save(Card(id: "x", title: "before"))
    try await desk.sync()
    try await desk.cards.save(Card(id: "x", title: "mine"))
    try await reject(desk) { server.move(.card("x"), to: "b") }

    try await undo(desk)
  }

  /// The user takes the edit back. The document lives in "b", and its next version comes from there.
  private func undo(_ desk: SyncDesk) async throws {
    try await desk.cards.save(Card(id: "x", title: "before"))
    try await desk.sync()

    #expect(try desk.titles() == ["x before"])
    #expect(try desk.engine.pending() == [])
    server.put(.card("x"), .card("x", "later"), in: "b")
    try await desk.sync()
    #expect(try desk.titles() == ["x later"])
    try desk.close()
  }

  @Test("a document that left the scope behind a version that waits is forgotten with its edit")
  func left() async throws {
    let desk = try SyncDesk(remote, scopes: ["a"])
    try await desk.cards.save(Card(id: "x", title: "before"))
    try await desk.sync()
    try await desk.cards.save(Card(id: "x", title: "mine"))
    try await reject(desk) { server.put(.card("x"), .card("x", "theirs"), in: "a") }
    server.move(.card("x"), to: "b")
    try await desk.sync()
    #expect(try desk.titles() == ["x mine"])

    try await desk.cards.save(Card(id: "x", title: "before"))
    try await desk.sync()

    #expect(try desk.titles() == [])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test(
    "a document that left the scope while its edit was under way is forgotten with its edit",
    arguments: [1, 2])
  func leftUnderWay(_ times: Int) async throws {
    let desk = try SyncDesk(remote, scopes: ["a"])
    try await desk.cards.save(Card(id: "x", title: "before"))
    try await desk.sync()
    try await desk.cards.save(Card(id: "x", title: "mine"))
    become(.putsOff)
    for _ in 0..<times {
      server.put(.card("x"), .card("x", "theirs"), in: "a")
      try await desk.sync()
      server.move(.card("x"), to: "b")
      try await desk.sync()
    }
    // It has left by now, and would be rejected besides.
    try await reject(desk, as: "left") {}

    try await desk.cards.save(Card(id: "x", title: "before"))
    try await desk.sync()

    #expect(try desk.titles() == [])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a load of the scope that a document has left does not touch the version of another scope")
  func movedBeforeLoad() async throws {
    server.put(.card("x"), .card("x", "before"), in: "a")
    let desk = try SyncDesk(remote, scopes: ["b", "a"])
    try await desk.sync()
    try await desk.cards.save(Card(id: "x", title: "mine"))
    try await reject(desk) {
      server.move(.card("x"), to: "b")
      // Only this scope is loaded anew, so that the loadings of the two have other numbers.
      server.script { call, _ in
        guard case .pull(let request) = call, request.scope == "a", request.cursor != nil else {
          return nil
        }
        return .fails(.cursorExpired)
      }
    }
    server.script(nil)

    try await undo(desk)
  }

  @Test("a version that waits and cannot be saved here sets its edit aside, and no others")
  func unsavable() async throws {
    let seats = SyncedCollection(Seat.self, resolver: { _ in .there })
    let desk = try SyncDesk(remote, collections: [seats])
    let repository = desk.store.repository(of: Seat.self)
    try await repository.save([Seat(number: 1, id: "a"), Seat(number: 2, id: "b")])
    try await desk.sync()
    try await repository.save(Seat(number: 3, id: "a"))
    try await reject(desk) {
      // Which is the number of another one here.
      server.put(RemoteKey("Seat", "a"), RemoteDocument(#"{"number":2,"id":"a"}"#), in: "all")
    }

    try await repository.save([Seat(number: 4, id: "a"), Seat(number: 5, id: "c")])
    try await desk.sync()

    #expect(try desk.engine.rejected().map(\.code) == ["refused"])
    #expect(try desk.engine.pending().map(\.key.key) == ["a"])
    #expect(server.version(of: RemoteKey("Seat", "c")) != nil)
    try desk.close()
  }

  // MARK: Without an answer

  /// Five syncs in which the answers to edits of the card "a" are lost, and those to others come.
  private func loseAnswers(
    _ desk: SyncDesk, then act: (Int) async throws -> Void = { _ in }
  ) async throws {
    server.script { call, _ in
      guard case .push(let request) = call else { return nil }
      return request.mutations.contains { $0.key == .card("a") } ? .losesAnswer : nil
    }
    for number in 1...5 {
      try await desk.cards.save(Card(id: "\(number)"))
      try await desk.sync()
      try await act(number)
    }
    server.script(nil)
    #expect(try desk.engine.rejected().map(\.code) == ["unanswered"])
  }

  private struct Counted: Decodable { var count: Int }

  @Test(
    "an edit that was set aside without an answer keeps its id, and is applied once",
    arguments: [false, true])
  func unanswered(_ isEditedMeanwhile: Bool) async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a", count: 1))
    try await desk.sync()
    try await desk.cards.update("a") { $0.count = 3 }
    try await loseAnswers(desk) { number in
      if isEditedMeanwhile, number == 2 { try await desk.cards.update("a") { $0.count = 5 } }
    }

    try await desk.engine.retry(.card("a"))
    try await desk.sync()

    let count = isEditedMeanwhile ? 5 : 3
    #expect(try desk.cards.get("a")?.count == count)
    #expect(
      try server.version(of: .card("a"))?.document?.decode(as: Counted.self).count == count)
    let mutations = server.recordedCalls.flatMap { call -> [Mutation] in
      if case .push(let request) = call { request.mutations } else { [] }
    }
    let ids = Set(mutations.filter { $0.key == .card("a") && $0.base != nil }.map(\.id))
    #expect(ids.count == (isEditedMeanwhile ? 2 : 1))
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a document that was made without an answer and then deleted is deleted there, too")
  func unansweredDeletion() async throws {
    let desk = try SyncDesk(server)
    try await desk.cards.save(Card(id: "a"))
    try await loseAnswers(desk)
    #expect(server.version(of: .card("a"))?.document != nil)

    try await desk.cards.delete(key: "a")
    try await desk.sync()

    let version = try #require(server.version(of: .card("a")))
    #expect(version.document == nil)
    #expect(try desk.cards.get("a") == nil)
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test("a document under way that is taken away by something that is no edit is not deleted there")
  func takenAway() async throws {
    let desk = try SyncDesk(remote)
    try await desk.cards.save(Card(id: "a", title: "before"))
    try await desk.sync()
    become(.putsOff)
    try await desk.cards.save(Card(id: "a", title: "mine"))
    try await desk.sync()
    #expect(try desk.engine.pending().map(\.status) == [.sent])

    // As a migration does.
    try await desk.cards.save([], clearBeforeSaving: Card.where { $0.id == "a" }, as: .sync)
    become(.serves)
    try await desk.sync()

    #expect(server.documents(in: "all").keys.map(\.key) == ["a"])
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  // MARK: Answers that are against the protocol

  @Test(
    "a conflict whose revision is too short or too long is an error of the remote, and no trap",
    arguments: [0, 201, 300])
  func revision(_ byteCount: Int) async throws {
    let desk = try SyncDesk(remote)
    try await desk.cards.save(Card(id: "a", title: "mine"))
    let revision = String(repeating: "r", count: byteCount)
    become(.conflicts(RemoteVersion(revision: revision, document: .card("a", "theirs"))))

    let error = RemoteError.malformed("the revision of Card/a has \(byteCount) bytes")
    await #expect(throws: error) { try await desk.sync() }

    #expect(try desk.titles() == ["a mine"])
    #expect(try desk.engine.pending().map(\.status) == [.sent])
    become(.serves)
    try await desk.sync()
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }

  @Test(
    "a rejected edit is listed whatever its code has",
    arguments: [("\0", "rejected"), ("\0no", "no"), ("n\0o", "no"), ("", "rejected")])
  func code(_ code: String, _ listed: String) async throws {
    let desk = try SyncDesk(remote)
    try await desk.cards.save(Card(id: "a"))
    become(.rejects(code: code))

    try await desk.sync()

    #expect(try desk.engine.rejected().map(\.code) == [listed])
    #expect(try desk.engine.rejected().map(\.reason) == ["no"])
    become(.serves)
    try await desk.engine.retry(.card("a"))
    try await desk.sync()
    #expect(try desk.engine.pending() == [])
    try desk.close()
  }
}
