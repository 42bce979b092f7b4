import Larder
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTesting
import Testing

/// Engines whose store has become another account's, or has got more collections, since they began.
@Suite("engines that others have overtaken", .timeLimit(.minutes(20))) struct EngineAccountTests {
  private let server = InMemoryRemote()

  /// A remote that does something before it answers its first pull.
  private func remote(
    before act: @escaping @Sendable () async throws -> Void
  ) -> ClosureRemote {
    let isFirst = Locked(true)
    return ClosureRemote { [server] request in
      if isFirst.withLock({ first in
        defer { first = false }
        return first
      }) {
        try await act()
      }
      return try await server.pull(request)
    } push: { [server] in
      try await server.push($0)
    }
  }

  @Test("a sync that is under way when another account comes saves nothing and sends nothing")
  func otherAccount() async throws {
    let store = try Store.temporary()
    server.put(.card("hers"), .card("hers", "t"), in: "all")
    let remote = remote {
      let his = try SyncDesk(InMemoryRemote(), store: store, account: "Bert")
      try await his.cards.save(Card(id: "his", title: "t"))
    }
    let desk = try SyncDesk(remote, store: store, account: "Anna")

    await #expect(throws: SyncError.accountChanged) { try await desk.sync() }
    await #expect(throws: SyncError.accountChanged) { try await desk.sync() }
    await #expect(throws: SyncError.accountChanged) {
      try await desk.engine.discard(.card("his"))
    }

    #expect(try desk.titles() == ["his t"])
    #expect(server.documents(in: "all").keys.map(\.key) == ["hers"])
    #expect(desk.engine.currentState.phase == .stopped("\(SyncError.accountChanged)"))
    try desk.close()
  }

  @Test("a sync that was begun before its account was forgotten keeps nothing from the next one")
  func forgotten() async throws {
    let store = try Store.temporary()
    for id in ["1", "2"] { server.put(.card(id), .card(id, "t"), in: "all") }
    let remote = remote {
      try SyncEngine.forgetAccount(of: ["Card"], in: store)
      _ = try SyncDesk(InMemoryRemote(), store: store)
    }
    let desk = try SyncDesk(remote, store: store)

    await #expect(throws: SyncError.accountChanged) { try await desk.sync() }

    #expect(try desk.titles() == [])
    let next = try SyncDesk(server, store: store)
    try await next.sync()
    #expect(try next.titles() == ["1 t", "2 t"])
    try next.close()
  }

  @Test("a collection that is added later gets the documents that were passed over")
  func addedCollection() async throws {
    let (cards, seats) = (SyncedCollection(Card.self), SyncedCollection(Seat.self))
    server.put(.card("a"), .card("a", "t"), in: "all")
    server.put(RemoteKey("Seat", "1"), RemoteDocument(#"{"number":1,"id":"1"}"#), in: "all")
    let first = try SyncDesk(server, collections: [cards])
    try await first.sync()
    func numbers() throws -> [Int] {
      try first.store.repository(of: Seat.self).fetch(Seat.all).map(\.number).sorted()
    }

    let both = try SyncDesk(server, store: first.store, collections: [cards, seats])
    try await both.sync()
    #expect(try numbers() == [1])

    // Nothing is loaded anew where nothing was passed over.
    let count = beginnings
    for _ in 0..<3 { try await both.sync() }
    let again = try SyncDesk(server, store: first.store, collections: [seats, cards])
    try await again.sync()
    #expect(beginnings == count)

    let fewer = try SyncDesk(server, store: first.store, collections: [cards])
    server.put(RemoteKey("Seat", "2"), RemoteDocument(#"{"number":2,"id":"2"}"#), in: "all")
    try await fewer.sync()
    #expect(try numbers() == [1])
    let last = try SyncDesk(server, store: first.store, collections: [cards, seats])
    try await last.sync()
    #expect(try numbers() == [1, 2])
    try last.close()
  }

  /// How often a scope was read from its beginning.
  private var beginnings: Int {
    server.recordedCalls.count { call in
      if case .pull(let request) = call { request.cursor == nil } else { false }
    }
  }

  @Test("a conflict that waits for somebody is no reason to load a scope anew")
  func openConflict() async throws {
    var options = SyncEngine.Options()
    options.auditInterval = 2
    let cards = SyncedCollection(Card.self, resolver: { _ in .ask })
    let desk = try SyncDesk(server, collections: [cards], options: options)
    try await desk.sync()
    try await desk.cards.save(Card(id: "a", title: "here"))
    server.put(.card("a"), .card("a", "there"), in: "all")
    try await desk.sync()
    #expect(desk.engine.currentState.conflictCount == 1)
    let count = beginnings

    for _ in 0..<8 { try await desk.sync() }

    #expect(beginnings == count)
    // One that the remote has in truth, and that is not here, is one.
    try await desk.engine.settle(.card("a"), as: .there)
    try desk.close()
  }
}
