import Foundation
import Larder
import LarderLMDB
import LarderSync
import LarderTestKit
import LarderTesting
import Testing

@testable import LarderRemote

@Document private struct Poster: Equatable {
  var id: String
  var text = ""
  var number = 0

  static let ageing: [Ageing<Poster>] = [.keepNewest(20, by: \.number)]
}

/// What an engine says of itself, and what it does where a store has no room or is closed.
@Suite(.timeLimit(.minutes(20))) struct EngineCountTests {
  private func counts(_ desk: SyncDesk) -> [Int] {
    let state = desk.engine.currentState
    return [state.pendingCount, state.conflictCount, state.rejectedCount, state.refusedCount]
  }

  /// As another engine would count them.
  private func countedAnew(_ desk: SyncDesk) throws -> [Int] {
    counts(try SyncDesk(InMemoryRemote(), store: desk.store))
  }

  @Test("the counts are right at once when an edit is settled, sent again or taken back")
  func settled() async throws {
    var random = RandomSource()
    for _ in 0..<repetitions(4) {
      let server = InMemoryRemote()
      let desk = try SyncDesk(
        server,
        collections: [SyncedCollection(Card.self, rules: Card.rules, resolver: { _ in .ask })])
      for number in 0..<12 {
        server.put(.card("\(number)"), .card("\(number)", "first"), in: "all")
      }
      try await desk.sync()
      for number in 0..<12 {
        try await desk.cards.save(Card(id: "\(number)", title: "here"))
        if number % 2 == 0 {
          server.put(.card("\(number)"), .card("\(number)", "there"), in: "all")
        }
      }
      server.script { call, _ in
        guard case .push(let request) = call else { return nil }
        return request.mutations.contains { $0.document != nil } ? .fails(.tooLarge("no")) : nil
      }
      server.currentFacts.maximumMutationCount = 1
      try? await desk.sync()
      try? await desk.sync()
      server.script(nil)
      let conflicts = try desk.engine.conflicts().map(\.key)
      let rejected = try desk.engine.rejected().map(\.key)
      #expect(counts(desk) == [12, conflicts.count, rejected.count, 0])
      #expect(!conflicts.isEmpty && !rejected.isEmpty)

      for key in conflicts.shuffled(using: &random) {
        let resolution: Resolution = random.pick([
          .here, .there, .merged, .both(key: .string("c\(key.key)")),
        ])
        try await desk.engine.settle(key, as: resolution)
        #expect(try counts(desk) == countedAnew(desk), "LARDER_SEED=\(random.seed)")
      }
      for key in rejected.shuffled(using: &random) {
        if random.bool() {
          try await desk.engine.retry(key)
        } else {
          try await desk.engine.discard(key)
        }
        #expect(try counts(desk) == countedAnew(desk), "LARDER_SEED=\(random.seed)")
      }
      #expect(counts(desk)[1...] == [0, 0, 0])
      try await desk.sync()
      #expect(counts(desk) == [0, 0, 0, 0])
      try desk.close()
    }
  }

  @Test("documents that cannot be saved here are counted until they can")
  func refused() async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server)
    let unfit = RemoteDocument(#"{"id":"x","title":7,"count":"many"}"#)
    for number in 0..<300 { server.put(.card("x\(number)"), unfit, in: "all") }
    server.put(.card("good"), .card("good", "fits"), in: "all")
    try await desk.sync()
    #expect(counts(desk) == [0, 0, 0, 300])
    #expect(try desk.engine.refused().count == 300)
    // Each sync looks at some of them.
    for number in 0..<20 {
      try await desk.cards.save(Card(id: "own\(number)"))
      try await desk.sync()
    }
    #expect(counts(desk) == [0, 0, 0, 300])

    for number in 0..<300 {
      server.put(.card("x\(number)"), .card("x\(number)", "fits"), in: "all")
    }
    try await desk.sync()
    #expect(counts(desk) == [0, 0, 0, 0])
    #expect(try desk.cards.count() == 321)
    try desk.close()
  }

  @Test("many refused documents are tried again a part at a time, and all of them in the end")
  func refusedBecomeFree() async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<300).map { Card(id: "own\($0)", slot: "s\($0)") })
    try await desk.sync()
    for number in 0..<300 {
      server.put(
        .card("x\(number)"),
        RemoteDocument(
          #"{"id":"x\#(number)","title":"","slot":"s\#(number)","count":0,"tags":[],"spot":{"x":0,"y":0}}"#
        ),
        in: "all")
    }
    try await desk.sync()
    #expect(counts(desk)[3] == 300)
    // The values become free, and nothing of the server changes.
    try await desk.store.write(as: .sync) { tx in
      for number in 0..<300 { try tx.save(Card(id: "own\(number)")) }
    }
    for _ in 0..<40 {
      try await desk.cards.save(Card(id: "tick", count: 1))
      try await desk.cards.update("tick") { $0.count += 1 }
      try await desk.sync()
    }
    #expect(counts(desk)[3] == 0)
    #expect(try desk.cards.count() == 601)
    try desk.close()
  }

  @Test("a page that does not fit below the quota comes in parts, between which old documents go")
  func smallerPages() async throws {
    let server = InMemoryRemote()
    for number in 0..<400 {
      let text = String(repeating: "x", count: 1_000)
      server.put(
        RemoteKey("Poster", "p\(number)"),
        RemoteDocument(#"{"id":"p\#(number)","text":"\#(text)","number":\#(number)}"#), in: "all")
    }
    let folder = TestFolder()
    var options = StoreOptions()
    options.quotaByteCount = 300_000
    let store = try Store(at: folder.store, options: options)
    let desk = try SyncDesk(server, store: store, collections: [SyncedCollection(Poster.self)])
    try await desk.sync()

    let posters = try store.repository(of: Poster.self).fetch(Poster.all.sorted(by: \.number))
    #expect(posters.map(\.number) == Array(380..<400))
    #expect(desk.engine.currentState.phase == .idle)
    try desk.close()
  }

  @Test("whoever waits for a document of a collection that nobody knows hears of it")
  func unknownCollection() async throws {
    let desk = try SyncDesk(InMemoryRemote())
    await #expect(throws: SyncError.unknownCollection("Cards")) {
      try await desk.engine.arrived(RemoteKey("Cards", "a"))
    }
    try desk.close()
  }

  @Test(
    "an engine that runs ends with its store", arguments: [true, false],
    [SyncedCollection.Direction.both, .down])
  func closed(isPaused: Bool, direction: SyncedCollection.Direction) async throws {
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: InMemoryRemote(),
      collections: [SyncedCollection(Poster.self, direction: direction)], scopes: ["all"],
      account: "me", interval: .seconds(100_000))
    let running = Task { await engine.run() }
    try await engine.sync(.afterNow)
    if isPaused { engine.pause() }
    try store.close()
    await running.value
  }

  @Test("a document without what the synced type needs is refused, whatever other types need")
  func slimmerType() async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server, collections: [SyncedCollection(FullPage.self)])
    let pages = desk.store.repository(of: FullPage.self)
    try await pages.save(FullPage(id: "mine", text: "t"))
    try desk.store.declare([SlimPage.self])
    server.put(RemoteKey("Page", "bad"), RemoteDocument(#"{"id":"bad"}"#), in: "all")
    try await desk.sync()

    #expect(try pages.fetch(FullPage.all).map(\.id) == ["mine"])
    #expect(counts(desk)[3] == 1)
    let slim = try SyncDesk(
      server, store: desk.store, collections: [SyncedCollection(SlimPage.self)])
    try await slim.sync()
    #expect(
      try desk.store.repository(of: SlimPage.self).fetch(SlimPage.all).map(\.id) == [
        "bad", "mine",
      ])
    #expect(counts(slim)[3] == 0)
    try desk.close()
  }

  @Test("each value that becomes free is used, and attempts that come to nothing end")
  func freedOneByOne() async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<100).map { Card(id: "own\($0)", slot: "s\($0)") })
    try await desk.sync()
    for number in 0..<100 {
      server.put(
        .card("x\(number)"),
        RemoteDocument(
          #"{"id":"x\#(number)","title":"","slot":"s\#(number)","count":0,"tags":[],"spot":{"x":0,"y":0}}"#
        ), in: "all")
    }
    try await desk.sync()
    for number in [3, 50, 99, 0, 71] {
      try await desk.cards.update("own\(number)") { $0.slot = nil }
      for _ in 0..<8 { try await desk.sync() }
      #expect(try desk.cards.get("x\(number)")?.slot == "s\(number)")
    }
    #expect(counts(desk)[3] == 95)
    for _ in 0..<8 { try await desk.sync() }
    #expect(desk.engine.refusedRetries.withLock { $0.last } == nil)
    try desk.close()
  }

  @Test("many pairs of refused documents that have values of each other are saved in the end")
  func pairs() async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server)
    func slotted(_ id: String, _ slot: String, title: String = "\"\"") -> RemoteDocument {
      RemoteDocument(
        #"{"id":"\#(id)","title":\#(title),"slot":"\#(slot)","count":0,"tags":[],"spot":{"x":0,"y":0}}"#
      )
    }
    for number in 0..<150 {
      server.put(.card("a\(number)"), slotted("a\(number)", "s\(number)"), in: "all")
      server.put(.card("b\(number)"), slotted("b\(number)", "t\(number)"), in: "all")
    }
    try await desk.sync()
    // One of them is of another kind, so that the page is saved in parts.
    server.put(.card("unfit"), slotted("unfit", "u", title: "[]"), in: "all")
    for number in 0..<150 {
      server.put(.card("a\(number)"), slotted("a\(number)", "t\(number)"), in: "all")
    }
    try await desk.sync()
    for number in 0..<150 {
      server.put(.card("b\(number)"), slotted("b\(number)", "s\(number)"), in: "all")
    }
    try await desk.sync()
    server.put(.card("unfit"), slotted("unfit", "u"), in: "all")
    for number in 0..<40 {
      try await desk.cards.save(Card(id: "tick", count: number))
      try await desk.sync()
    }
    #expect(counts(desk)[3] == 0)
    #expect(try desk.cards.get("a7")?.slot == "t7")
    #expect(try desk.cards.get("b7")?.slot == "s7")
    try desk.close()
  }

  @Test("with room again, pages are soon as large as before")
  func pagesGrow() async throws {
    let server = InMemoryRemote()
    for number in 0..<2_000 {
      server.put(
        .card("c\(number)"), .card("c\(number)", String(repeating: "x", count: 300)), in: "all")
    }
    let folder = TestFolder()
    var options = StoreOptions()
    options.quotaByteCount = 4_000_000
    let store = try Store(at: folder.store, options: options)
    try store.collection("Ballast").save(
      (0..<300).map {
        ["id": .integer($0), "text": .string(String(repeating: "b", count: 12_000))]
      },
      keyField: "id")
    let desk = try SyncDesk(server, store: store)
    let pulls = Locked(0)
    server.script { call, _ in
      if case .pull = call { pulls.withLock { $0 += 1 } }
      return nil
    }
    for _ in 0..<3 {
      await #expect(throws: StoreError.self) { try await desk.sync() }
    }
    #expect(pulls.withLock { $0 } < 100)
    try store.collection("Ballast").delete(keys: (0..<300).map { .integer($0) })
    pulls.withLock { $0 = 0 }
    try await desk.sync()
    #expect(pulls.withLock { $0 } < 40)
    #expect(try desk.cards.count() == 2_000)
    try desk.close()
  }
}

@Document(as: "Page") private struct FullPage: Equatable {
  var id: String
  var text: String
}

@Document(as: "Page") private struct SlimPage: Equatable {
  var id: String
}
