import Foundation
import Larder
import LarderLMDB
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

@Document private struct Counted: Equatable {
  var id: String
  var title = ""
  @Merge(.counter) var count = 0
  @Merge(.set) var tags: [String] = []

  static let ageing: [Ageing<Counted>] = [.keepNewest(2, by: \.count)]
}

/// Stores that were set aside, and documents that were evicted: what the server has of them is known, or comes again.
@Suite(.timeLimit(.minutes(20))) struct EngineSalvageTests {
  private let server = InMemoryRemote()
  private let folder = TestFolder()

  private func desk(_ direction: SyncedCollection.Direction = .both) throws -> SyncDesk {
    try SyncDesk(
      server, store: try Store(at: folder.store, documents: [Card.self]),
      collections: [SyncedCollection(Card.self, direction: direction, rules: Card.rules)])
  }

  @Test("edits that are made between a quarantine and the next sync are merged with what was there")
  func editsBehind() async throws {
    var desk = try desk()
    try await desk.cards.save([
      Card(id: "a", title: "t", count: 100, tags: ["x", "y"]), Card(id: "gone"),
      Card(id: "left"),
    ])
    try await desk.sync()
    try desk.close()

    _ = try await Store.quarantine(at: URL(filePath: folder.store))
    let store = try Store(at: folder.store, documents: [Card.self])
    let cards = store.repository(of: Card.self)
    try await cards.update("a") { card in
      card.count -= 1
      card.tags.removeAll { $0 == "y" }
    }
    try await cards.delete(key: "gone")
    try store.close()
    server.remove(.card("left"))
    desk = try self.desk()
    for _ in 0..<2 { try await desk.sync() }

    #expect(
      try desk.cards.fetch(Card.all)
        == [Card(id: "a", title: "t", count: 99, tags: ["x"])])
    #expect(try desk.engine.pending().isEmpty)
    let other = try SyncDesk(server)
    try await other.sync()
    #expect(try other.cards.fetch(Card.all) == desk.cards.fetch(Card.all))
    try other.close()
    try desk.close()
  }

  @Test(
    "what a quarantine has lost comes again, and what the server has deleted goes",
    arguments: [SyncedCollection.Direction.both, .down])
  func lost(direction: SyncedCollection.Direction) async throws {
    for number in 0..<300 { server.put(.card("\(number)"), .card("\(number)", "t"), in: "all") }
    var desk = try desk(direction)
    try await desk.sync()
    #expect(try desk.cards.count() == 300)
    try desk.close()
    var random = RandomSource()
    for _ in 0..<4 {
      let file = folder.data
      var bytes = try Data(contentsOf: URL(filePath: file))
      // Behind the two first pages.
      let page = random.int(2..<bytes.count / 4096)
      bytes.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
      try bytes.write(to: URL(filePath: file))
      let deleted = random.int(0..<300)
      server.remove(.card("\(deleted)"))

      _ = try await Store.quarantine(at: URL(filePath: folder.store))
      desk = try self.desk(direction)
      for _ in 0..<2 { try await desk.sync() }

      let expected = Set(server.documents(in: "all").keys.map(\.key))
      let found = Set(try desk.cards.fetch(Card.all).map(\.id))
      #expect(expected.isSubset(of: found), "page \(page)")
      // Only one of which nothing is known any more may stay.
      var known: Set<String> = []
      try desk.store.read { snapshot in
        try snapshot.forEachBase("Card") { key, _ in
          known.insert(String(decoding: key, as: UTF8.self))
          return true
        }
      }
      #expect(known == expected, "page \(page)")
      #expect(try desk.engine.pending().isEmpty)
      try desk.close()
    }
  }

  @Test("an evicted document that is made again is merged with what the server has")
  func evicted() async throws {
    let first = try SyncDesk(server, collections: [SyncedCollection(Counted.self)])
    let counted = first.store.repository(of: Counted.self)
    try await counted.save([
      Counted(id: "old", title: "precious", count: 5, tags: ["x"]), Counted(id: "b", count: 50),
      Counted(id: "c", count: 60),
    ])
    try await first.sync()
    try await counted.save(Counted(id: "d", count: 70))
    try await first.sync()
    #expect(try counted.get("old") == nil)

    for isEditedThere in [false, true] {
      if isEditedThere {
        _ = try await first.store.evict(Counted.self)
        #expect(try counted.get("old") == nil)
        server.put(
          RemoteKey("Counted", "old"),
          RemoteDocument(#"{"id":"old","title":"theirs","count":8,"tags":["x","z"]}"#), in: "all")
      }
      try await counted.save(Counted(id: "old", count: 1, tags: ["y"]))
      for _ in 0..<2 { try await first.sync() }
      let version = server.documents(in: "all")[RemoteKey("Counted", "old")]
      let json = String(decoding: version?.document?.json ?? Data(), as: UTF8.self)
      #expect(json.contains(isEditedThere ? #""count": 9"# : #""count": 6"#), "\(json)")
      #expect(json.contains(#""x""#) && json.contains(#""y""#), "\(json)")
      #expect(try first.engine.pending().isEmpty)
    }
    try first.close()
  }

  @Test(
    "one that is made in its place and deleted again is deleted on the server",
    arguments: [false, true])
  func evictedAndDeleted(isSent: Bool) async throws {
    let isLost = Locked(false)
    let remote = ClosureRemote { [server] in
      try await server.pull($0)
    } push: { [server] request in
      let answers = try await server.push(request)
      if isLost.withLock({ $0 }) { throw RemoteError.unavailable("the answer was lost") }
      return answers
    }
    let desk = try SyncDesk(remote, collections: [SyncedCollection(Counted.self)])
    let counted = desk.store.repository(of: Counted.self)
    try await counted.save([
      Counted(id: "old", count: 5), Counted(id: "b", count: 50), Counted(id: "c", count: 60),
      Counted(id: "d", count: 70),
    ])
    try await desk.sync()
    _ = try await desk.store.evict(Counted.self)
    #expect(try counted.get("old") == nil)

    try await counted.save(Counted(id: "old", count: 1))
    if isSent {
      isLost.withLock { $0 = true }
      try? await desk.sync()
      isLost.withLock { $0 = false }
    }
    try await counted.delete(key: "old")
    for _ in 0..<3 { try await desk.sync() }

    #expect(server.documents(in: "all")[RemoteKey("Counted", "old")] == nil)
    #expect(try counted.get("old") == nil)
    #expect(try desk.engine.pending().isEmpty && desk.engine.conflicts().isEmpty)
    try desk.close()
  }

  @Test("what the server has deleted goes also where the note of the scope was lost")
  func lostScope() async throws {
    for number in 0..<100 { server.put(.card("\(number)"), .card("\(number)", "t"), in: "all") }
    var desk = try desk()
    try await desk.sync()
    try await desk.store.write(as: .sync) { try $0.setSyncNote("scope/0", to: nil) }
    try desk.close()
    server.remove(.card("7"))

    _ = try await Store.quarantine(at: URL(filePath: folder.store))
    desk = try self.desk()
    for _ in 0..<3 { try await desk.sync() }

    #expect(try desk.cards.count() == 99)
    #expect(try desk.cards.get("7") == nil)
    try desk.close()
  }

  @Test("documents of which only the server's versions are known come again")
  func onlyBases() async throws {
    for number in 0..<3 { server.put(.card("\(number)"), .card("\(number)", "t"), in: "all") }
    var desk = try desk()
    try await desk.sync()
    _ = try await desk.store.write(as: .expiry) { try $0.delete(Card.all) }
    try await desk.sync()
    #expect(try desk.cards.count() == 0)
    try desk.close()

    _ = try await Store.quarantine(at: URL(filePath: folder.store))
    desk = try self.desk()
    try await desk.sync()

    #expect(try desk.cards.count() == 3)
    try desk.close()
  }
}
