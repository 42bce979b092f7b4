import Larder
import LarderLMDB
import LarderRemote
import LarderTesting
import Testing

/// What the documents of one page, or of one load, do to each other.
@Suite("pages with documents that stand in each other's way", .timeLimit(.minutes(20)))
struct EnginePageTests {
  private let server = InMemoryRemote()

  @Test("a load leaves the version that is here of a document whose newer version is refused")
  func refusedInLoad() async throws {
    let desk = try SyncDesk(server)
    server.put(.card("a"), .card("a", "old"), in: "all")
    server.put(.card("b"), .card("b", "old"), in: "all")
    try await desk.sync()
    server.put(.card("a"), RemoteDocument(#"{"id":"a","title":{"no":"text"}}"#), in: "all")
    server.remove(.card("b"))
    server.forgetCursors()

    try await desk.sync()

    #expect(try desk.titles() == ["a old"])
    #expect(try desk.engine.refused().map(\.key) == [.card("a")])
    // Once it is no longer there it goes with the next load.
    server.remove(.card("a"))
    server.purge()
    server.forgetCursors()
    try await desk.sync()
    #expect(try desk.titles() == [])
    #expect(try desk.engine.refused() == [])
    try desk.close()
  }

  @Test("a copy that is kept under the key of a document of the same page replaces that document")
  func keptOver() async throws {
    let isStrict = Locked(true)
    let gate = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] request in
      if isStrict.withLock({ $0 }) {
        return request.mutations.map { _ in .rejected(code: "no", reason: "not now") }
      }
      return try await server.push(request)
    }
    let cards = SyncedCollection(Card.self, resolver: { _ in .both(key: "b") })
    let desk = try SyncDesk(gate, collections: [cards])
    server.put(.card("z"), .card("z", "before"), in: "all")
    try await desk.sync()
    try await desk.cards.save(Card(id: "z", title: "here"))
    // It is rejected, so that the conflict comes with a page, and not as an answer.
    try await desk.sync()
    isStrict.withLock { $0 = false }
    server.put(.card("b"), .card("b", "there"), in: "all")
    server.put(.card("z"), .card("z", "there"), in: "all")

    try await desk.sync()

    #expect(try desk.titles() == ["b here", "z there"])
    #expect(try desk.engine.pending() == [])
    let other = try SyncDesk(server)
    try await other.sync()
    #expect(try other.titles() == ["b here", "z there"])
    try other.close()
    try desk.close()
  }
}
