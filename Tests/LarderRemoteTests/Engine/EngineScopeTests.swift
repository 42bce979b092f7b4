import Foundation
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTesting
import Testing

@testable import Larder

/// What becomes of documents and edits when an engine follows other scopes than the one before it.
@Suite("engines that follow other scopes", .timeLimit(.minutes(20))) struct EngineScopeTests {
  private let server = InMemoryRemote()
  /// A card whose title is that of a scope belongs there.
  private let cards = SyncedCollection(
    Card.self,
    scope: { document in
      ["a", "b"].first { document["title"] == .string($0) }
    })

  @Test("scopes in another order are still the same scopes")
  func order() async throws {
    let first = try SyncDesk(server, collections: [cards], scopes: ["a", "b"])
    try await first.cards.save([Card(id: "1", title: "a"), Card(id: "2", title: "b")])
    try await first.sync()

    let desk = try SyncDesk(
      server, store: first.store, collections: [SyncedCollection(Card.self)],
      scopes: ["c", "b", "a"])
    try await desk.cards.update("1") { $0.count = 1 }
    try await desk.cards.update("2") { $0.count = 2 }
    try await desk.cards.save(Card(id: "3"))
    try await desk.sync()
    server.remove(.card("2"))
    try await desk.sync()

    #expect(Set(server.documents(in: "a").keys) == [.card("1")])
    #expect(Set(server.documents(in: "c").keys) == [.card("3")])
    #expect(try desk.cards.fetch(Card.all.sorted(by: \.id)).map(\.count) == [1, 0])
    #expect(try desk.engine.pending().isEmpty)
    try desk.close()
  }

  @Test("edits of a scope that is left out wait until it is followed again")
  func leftOut() async throws {
    let first = try SyncDesk(server, collections: [cards], scopes: ["a", "b"])
    try await first.cards.save([
      Card(id: "1", title: "a"), Card(id: "2", title: "a"), Card(id: "3", title: "b"),
    ])
    try await first.sync()

    let other = try SyncDesk(server, store: first.store, collections: [cards], scopes: ["b"])
    try await other.cards.update("1") { $0.count = 1 }
    try await other.cards.delete(key: "2")
    try await other.cards.update("3") { $0.count = 3 }
    try await other.sync()
    #expect(Set(server.documents(in: "a").keys) == [.card("1"), .card("2")])
    #expect(Set(server.documents(in: "b").keys) == [.card("3")])
    #expect(try Set(other.engine.pending().map(\.key)) == [.card("1"), .card("2")])

    let both = try SyncDesk(server, store: first.store, collections: [cards], scopes: ["b", "a"])
    try await both.sync()
    #expect(Set(server.documents(in: "a").keys) == [.card("1")])
    #expect(try both.engine.pending().isEmpty)

    let tablet = try SyncDesk(server, collections: [cards], scopes: ["a", "b"])
    try await tablet.sync()
    #expect(try tablet.cards.fetch(Card.all.sorted(by: \.id)).map(\.count) == [1, 3])
    try tablet.close()
    try both.close()
  }

  @Test("a document of a scope that is not followed is sent nowhere else, and costs no writes")
  func notFollowed() async throws {
    let desk = try SyncDesk(server, collections: [cards], scopes: ["b"])
    try await desk.cards.save([Card(id: "1", title: "a"), Card(id: "2", title: "b")])
    try await desk.sync()
    let before = try desk.store.engine.environment.beginRead().id

    for _ in 0..<2 { #expect(try await desk.engine.sync(.afterNow) == .alreadyCurrent) }

    #expect(try desk.store.engine.environment.beginRead().id == before)
    #expect(Set(server.documents(in: "b").keys) == [.card("2")])
    #expect(try desk.engine.pending().map(\.status) == [.due])
    try await desk.cards.update("1") { $0.title = "b" }
    try await desk.sync()
    #expect(Set(server.documents(in: "b").keys) == [.card("1"), .card("2")])
    try desk.close()
  }

  @Test("a forgotten account leaves nothing to be sent, of collections that are not named, too")
  func forgotten() async throws {
    let collections = [SyncedCollection(Card.self), SyncedCollection(Seat.self)]
    let first = try SyncDesk(server, collections: collections, scopes: ["a"])
    let seats = first.store.repository(of: Seat.self)
    try await seats.save(Seat(number: 1, id: "old"))
    try await first.sync()
    try await seats.save([Seat(number: 2, id: "old"), Seat(number: 3, id: "new")])
    try await first.cards.save(Card(id: "unsent"))

    try SyncEngine.forgetAccount(of: ["Card"], in: first.store)
    let next = try SyncDesk(
      server, store: first.store, collections: collections, scopes: ["b"], account: "another")
    try await next.sync()

    #expect(try next.engine.pending().isEmpty)
    #expect(server.documents(in: "b").isEmpty)
    #expect(server.documents(in: "a").count == 1)
    #expect(try next.titles().isEmpty)
    #expect(try seats.fetch(Seat.all).count == 2)
    try next.close()
  }

  @Test("scopes that are named twice are followed once")
  func twice() async throws {
    server.put(.card("1"), .card("1", "t"), in: "a")
    let desk = try SyncDesk(server, scopes: ["a", "b", "a"])
    try await desk.sync()
    let pulls = server.recordedCalls.count { if case .pull = $0 { true } else { false } }
    #expect(pulls == 2)
    #expect(try desk.titles() == ["1 t"])
    try desk.close()
  }

  @Test("another account begins with no scopes of the one before it")
  func otherAccount() async throws {
    let first = try SyncDesk(server, scopes: ["a"])
    try await first.cards.save(Card(id: "1"))
    try await first.sync()

    let other = try SyncDesk(server, store: first.store, scopes: ["b", "a"], account: "another")
    #expect(try other.cards.fetch(Card.all).isEmpty)
    try await other.sync()
    #expect(try other.cards.fetch(Card.all).map(\.id) == ["1"])
    try other.close()
  }
}
