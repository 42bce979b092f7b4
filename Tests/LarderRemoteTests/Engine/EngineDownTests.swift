import LarderRemote
import LarderSync
import LarderTesting
import Testing

@testable import Larder

/// Engines that only bring documents, beside one on the same store that sends its edits too.
@Suite("an engine that sends nothing", .timeLimit(.minutes(20))) struct EngineDownTests {
  private let server = InMemoryRemote()
  private let down = [SyncedCollection(Card.self, direction: .down)]

  @Test(
    "a collection that one engine only has come down is still sent by another one",
    arguments: [true, false])
  func downBesideBoth(isMadeFirst: Bool) async throws {
    let store = try Store.temporary()
    var widget = isMadeFirst ? try SyncDesk(server, store: store, collections: down) : nil
    let app = try SyncDesk(server, store: store)
    try await app.cards.save(Card(id: "a", title: "one"))
    try await app.sync()
    if !isMadeFirst { widget = try SyncDesk(server, store: store, collections: down) }
    try await widget?.sync()

    try await app.cards.save(Card(id: "a", title: "two"))
    let pushCount = pushes
    try await widget?.sync()
    #expect(pushes == pushCount, "it sends nothing")
    #expect(try app.engine.pending().map(\.key) == [.card("a")])
    try await app.sync()

    #expect(server.documents(in: "all")[.card("a")]?.document?.description.contains("two") == true)
    try app.close()
  }

  private var pushes: Int {
    server.recordedCalls.count { if case .push = $0 { true } else { false } }
  }

  @Test(
    "leaves documents that both sides have changed to the engine that knows how to merge them",
    arguments: [true, false], [true, false])
  func leavesMerging(isRejectedBefore: Bool, isMadeTwice: Bool) async throws {
    let app = try SyncDesk(server)
    if !isMadeTwice {
      server.put(.card("a"), .card("a", "t", count: 3), in: "all")
      try await app.sync()
    }
    try await app.cards.save(Card(id: "a", title: "t", count: isMadeTwice ? 2 : 5))
    if isRejectedBefore {
      server.script { call, _ in
        if case .push = call { .fails(.tooLarge("413")) } else { nil }
      }
      try await app.sync()
      #expect(try app.engine.rejected().count == 1)
      server.script(nil)
    }
    server.put(.card("a"), .card("a", "t", count: 13), in: "all")

    let widget = try SyncDesk(server, store: app.store, collections: down)
    try await widget.sync()
    #expect(try app.cards.get("a")?.count == (isMadeTwice ? 2 : 5), "nothing is decided yet")
    #expect(try app.engine.conflicts().isEmpty)
    try await app.sync()

    #expect(try app.cards.get("a")?.count == 15)
    #expect(try app.engine.pending().isEmpty)
    let there = try server.documents(in: "all")[.card("a")]?.document?.decode(as: Count.self)
    #expect(there?.count == 15)
    try app.close()
  }

  private struct Count: Decodable {
    var count: Int
  }
}
