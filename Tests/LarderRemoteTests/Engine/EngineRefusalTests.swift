import Foundation
import LarderLMDB
import LarderRemote
import LarderSync
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderRemote

/// Documents of the server that cannot be saved here: what they cost, and that they come once they can.
@Suite("refused documents", .timeLimit(.minutes(20)))
struct EngineRefusalTests {
  private func card(_ id: String, slot: String, title: String = "\"\"") -> RemoteDocument {
    RemoteDocument(
      #"{"id":"\#(id)","title":\#(title),"slot":"\#(slot)","count":0,"tags":[],"spot":{"x":0,"y":0}}"#
    )
  }

  @Test(
    "a page of refused documents is saved in few transactions, and the good ones with it",
    arguments: ["kind", "form", "slot"])
  func page(fault: String) async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server)
    try await desk.cards.save((0..<300).map { Card(id: "own\($0)", slot: "s\($0)") })
    try await desk.sync()
    for number in 0..<300 {
      let document: RemoteDocument =
        switch fault {
        case "kind": card("x\(number)", slot: "t\(number)", title: "7")
        case "form": RemoteDocument(#"{"id":"other"}"#)
        default: card("x\(number)", slot: "s\(number)")
        }
      server.put(.card("x\(number)"), document, in: "all")
      server.put(.card("good\(number)"), .card("good\(number)", "t"), in: "all")
    }
    let environment = desk.store.engine.environment
    let before = try environment.beginRead().id

    try await desk.sync()

    #expect(try environment.beginRead().id - before < 12)
    #expect(try desk.engine.refused().count == 300)
    #expect(try desk.cards.count() == 600)
    #expect(desk.engine.currentState.refusedCount == 300)
    let idle = try environment.beginRead().id
    for _ in 0..<3 { try await desk.sync() }
    #expect(try environment.beginRead().id == idle)
    try desk.close()
  }

  /// Each card moves to the slot of another one, in circles of any length. Some want the slot of a card that stays, which
  /// keeps those that want theirs, and so on.
  @Test("cards that change their places get there, however many cannot be saved beside them")
  func moves() async throws {
    var random = RandomSource()
    for _ in 0..<repetitions(4) {
      var facts = RemoteFacts.ofInMemoryRemote
      facts.maximumChangeCount = [1, 7, 500].randomElement(using: &random) ?? 1
      let server = InMemoryRemote(facts: facts)
      let desk = try SyncDesk(server)
      let count = random.int(2..<400)
      let ids = (0..<count).map { "\($0)" }
      try await desk.cards.save(ids.map { Card(id: $0, slot: "s\($0)") })
      try await desk.sync()
      let unfitCount = random.bool() ? 0 : random.int(1..<400)
      for number in 0..<unfitCount {
        server.put(
          .card("unfit\(number)"), card("unfit\(number)", slot: "u\(number)", title: "[]"),
          in: "all")
      }
      // Those that move do so in circles, whose cards go on by one place.
      var order = ids.shuffled(using: &random)
      let stays = Set(order.prefix(random.int(0..<3)))
      var wanted: [String: String] = [:]
      while !order.isEmpty {
        let circle = order.suffix(random.int(1..<max(2, count)))
        order.removeLast(circle.count)
        for (id, next) in zip(circle, circle.dropFirst() + circle.prefix(1)) {
          wanted[id] = next
        }
      }
      for id in stays { wanted[id] = nil }
      for (id, slot) in wanted.shuffled(using: &random) {
        server.put(.card(id), card(id, slot: "s\(slot)"), in: "all")
      }
      // Who wants the place of one that stays, stays as well.
      var moving = Set(wanted.keys)
      while let blocked = moving.first(where: { !moving.contains(wanted[$0] ?? "") }) {
        moving.remove(blocked)
      }

      for _ in 0..<17 {
        try await desk.cards.save(Card(id: "tick", count: random.int(0..<1000)))
        try await desk.sync()
        if try desk.engine.refused().count == unfitCount + wanted.count - moving.count { break }
      }

      for id in ids {
        let slot = moving.contains(id) ? wanted[id] : id
        #expect(try desk.cards.get(id)?.slot == slot.map { "s\($0)" }, "\(random.hint)")
      }
      #expect(
        try desk.engine.refused().count == unfitCount + wanted.count - moving.count,
        "\(random.hint)")
      try desk.close()
    }
  }

  @Test("cards of different scopes change their places")
  func movesBetweenScopes() async throws {
    let server = InMemoryRemote()
    let desk = try SyncDesk(server, scopes: ["one", "two"])
    server.put(.card("a"), card("a", slot: "s"), in: "one")
    server.put(.card("b"), card("b", slot: "t"), in: "two")
    try await desk.sync()
    server.put(.card("a"), card("a", slot: "t"), in: "one")
    server.put(.card("b"), card("b", slot: "s"), in: "two")

    try await desk.sync()

    #expect(try desk.cards.get("a")?.slot == "t")
    #expect(try desk.cards.get("b")?.slot == "s")
    #expect(try desk.engine.refused().isEmpty)
    try desk.close()
  }

  @Test(
    "two cards that change their places do so beside any number that want one of these places",
    arguments: [3, 63, 64, 200, 300, 1000])
  func wantedByMany(count: Int) async throws {
    var facts = RemoteFacts.ofInMemoryRemote
    facts.maximumChangeCount = 50
    let server = InMemoryRemote(facts: facts)
    let desk = try SyncDesk(server)
    server.put(.card("h"), card("h", slot: "a"), in: "all")
    server.put(.card("i"), card("i", slot: "b"), in: "all")
    try await desk.sync()
    for number in 0..<count {
      server.put(.card("x\(number)"), card("x\(number)", slot: "a"), in: "all")
    }
    try await desk.sync()
    server.put(.card("h"), card("h", slot: "b"), in: "all")
    server.put(.card("i"), card("i", slot: "a"), in: "all")

    for _ in 0..<17 {
      try await desk.cards.save(Card(id: "tick", count: Int.random(in: 0..<1000)))
      try await desk.sync()
      if try desk.cards.get("h")?.slot == "b" { break }
    }

    #expect(try desk.cards.get("h")?.slot == "b")
    #expect(try desk.cards.get("i")?.slot == "a")
    #expect(try desk.engine.refused().count == count)
    try desk.close()
  }

  @Test("those that wait for each other are found, compared with the definition")
  func circularWaits() {
    var random = RandomSource()
    for _ in 0..<repetitions(300) {
      let count = random.int(1..<10)
      var blockers: [Int: Set<Int>] = [:]
      var waits = CircularWaits<Int>()
      for _ in 0..<random.int(0..<16) {
        let (key, blocker) = (random.int(0..<count), random.int(0..<count))
        let isNew = blockers[key, default: []].insert(blocker).inserted
        #expect(waits.add(key, waitingFor: blocker) == isNew, "\(random.hint)")
      }
      // Sets of those who wait for nobody outside of them, and have no such set in them.
      let closed = (1..<1 << count).map { bits in Set((0..<count).filter { bits >> $0 & 1 == 1 }) }
        .filter { $0.allSatisfy { blockers[$0]?.isEmpty == false } }
        .filter { set in set.allSatisfy { blockers[$0]?.isSubset(of: set) == true } }
      let smallest = closed.filter { set in !closed.contains { $0.isStrictSubset(of: set) } }

      #expect(Set(waits.circles().map(Set.init)) == Set(smallest), "\(random.hint)")

      guard let key = blockers.keys.min() else { continue }
      #expect(
        waits.release(by: key)
          == blockers.keys.filter { blockers[$0]?.contains(key) == true }.sorted())
      for released in blockers.keys where blockers[released]?.contains(key) == true {
        blockers[released] = nil
      }
      #expect(!waits.circles().joined().contains { blockers[$0] == nil }, "\(random.hint)")
    }
  }
}
