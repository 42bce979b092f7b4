import Foundation
import Larder
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

@Document private struct Oddity: Equatable {
  var id: String
  var title = ""
  var last_modified: Int64 = 0
  var _hidden: UInt64 = 0
  var price: Decimal = 0
  var date = Date(timeIntervalSince1970: 0)
  var ratio = 0.0
  var note: String?
  var spots: [Spot] = []
  var schema: [String: Int] = [:]
}

@Suite(.enabled(if: LiveKinto.isThere, "Tools/kinto starts the server that these tests need"))
struct LiveKintoTests {
  private let scope = LiveKinto.newScope()
  private var bucket: String { scope.replacing(" ", with: "_x20_") }

  @Test("the real Kinto keeps every promise that one server of one thread can keep")
  func conformance() async throws {
    var random = RandomSource()
    var conformance = RemoteConformance(seed: random.next())
    conformance.roundCount = 4
    let report = await conformance.check(scope: scope) {
      try LiveKinto.remote(["conformance", "other"])
    }
    #expect(report.isGood, "\(report)")
    // There are no moves, no hints, and nobody restarts it.
    #expect(
      report.entries.filter { if case .leftOut = $0.outcome { true } else { false } }.count == 3)
  }

  @Test("documents of all kinds come back as they were, under any key")
  func oddities() async throws {
    let collections = [SyncedCollection(Oddity.self)]
    let here = try SyncDesk(
      try LiveKinto.remote(["Oddity"]), collections: collections, scopes: [scope])
    let there = try SyncDesk(
      try LiveKinto.remote(["Oddity"]), collections: collections, scopes: [scope])
    let keys = [
      "é", "a b", "_private", "-7", "batch/1", "12", "true", "a_x41_", "0_x30_", "日本", "\"\\",
    ]
    let oddities = (keys + [String(repeating: "k", count: 255)]).map { key in
      Oddity(
        id: key, title: "U+0000: \u{0}", last_modified: .min, _hidden: .max,
        price: Decimal(string: "123456789012345678901234567890.12345") ?? 0,
        date: Date(timeIntervalSince1970: 1_700_000_000.125), ratio: 0.1 + 0.2,
        note: key == "é" ? nil : "", spots: [Spot(x: 1, y: -1), Spot()], schema: ["id": 1, "": 2])
    }

    try await here.store.repository(of: Oddity.self).save(oddities)
    try await here.sync()
    try await there.sync()

    let found = try there.store.repository(of: Oddity.self).fetch(Oddity.all)
    #expect(found.sorted { $0.id < $1.id } == oddities.sorted { $0.id < $1.id })
    #expect(try here.engine.pending().isEmpty && here.engine.rejected().isEmpty)
    try here.close()
    try there.close()
  }

  @Test("clients whose answers get lost all end with the same documents, and lose no edit")
  func lostAnswers() async throws {
    var random = RandomSource()
    let remotes = try (0..<3).map { _ in
      ForgetfulRemote(try LiveKinto.remote(["Card"]), seed: random.next())
    }
    let desks = try remotes.map { try SyncDesk($0, scopes: [scope]) }
    var sum = 0
    for _ in 0..<60 {
      let desk = desks[random.int(0..<3)]
      let id = "\(random.int(0..<8))"
      if random.once(in: 6) {
        // The counted card is never deleted.
        try await desk.cards.delete(keys: [id])
      } else {
        try await desk.cards.save(Card(id: id, title: "\(random.int(0..<1000))"))
      }
      if var counted = try desk.cards.get("counted") {
        counted.count += 1
        sum += 1
        try await desk.cards.save(counted)
      } else if desk.store === desks[0].store {
        try await desk.cards.save(Card(id: "counted"))
      }
      try? await desks[random.int(0..<3)].sync()
    }
    for remote in remotes { remote.isFair = true }
    for _ in 0..<3 { for desk in desks { try await desk.sync() } }

    let titles = try desks.map { try $0.titles() }
    #expect(titles[0] == titles[1] && titles[0] == titles[2], "\(random.hint)")
    for desk in desks {
      #expect(try desk.engine.pending().isEmpty)
      #expect(try desk.cards.get("counted")?.count == sum, "\(random.hint)")
      try desk.close()
    }
  }

  @Test("what comes again within the overlap is not written again")
  func overlap() async throws {
    let desk = try SyncDesk(
      try LiveKinto.remote(["Card"], overlap: .seconds(15)), scopes: [scope])
    let other = try SyncDesk(try LiveKinto.remote(["Card"]), scopes: [scope])
    try await other.cards.save((0..<20).map { Card(id: "\($0)") })
    try await other.sync()
    try await desk.sync()
    let sequence = try desk.store.read { $0.sequence }
    try await other.cards.save(Card(id: "one more"))
    try await other.sync()

    try await desk.sync()

    #expect(try desk.titles().count == 21)
    #expect(try desk.store.read { $0.sequence } == sequence + 1)
    try desk.close()
    try other.close()
  }

  @Test("records of other clients are documents, and their changes are not taken for one's own")
  func strangers() async throws {
    let remote = try LiveKinto.remote(["Card"])
    let path = "/buckets/\(bucket)/collections/Card/records"
    let creation = Mutation(
      id: UUID().uuidString.lowercased(), key: .card("a"), base: nil, document: .card("a", "mine"))
    let request = PushRequest(scope: scope, mutations: [creation])
    guard case .accepted(let made) = try await remote.push(request)[0] else {
      Issue.record("it is not accepted")
      return
    }
    #expect(
      try LiveKinto.send("PUT", "\(path)/my_record", #"{"data":{"title":"theirs"}}"#) == 201)
    #expect(try LiveKinto.send("PATCH", "\(path)/a", #"{"data":{"title":"theirs"}}"#) == 200)

    let again = try await remote.push(request)[0]

    let pulled = try await remote.pull(PullRequest(scope: scope, limit: 10))
    let change = try #require(pulled.changes.first { $0.key == .card("a") })
    #expect(change.revision != made && again != .accepted(revision: change.revision))
    #expect(
      pulled.changes.contains {
        $0.key == .card("my_record")
          && $0.content == .document(RemoteDocument(#"{"title":"theirs"}"#))
      })
  }

  @Test("a wrong password, and a scheme that Kinto does not know, ask for a sign-in")
  func refusals() async throws {
    _ = try await LiveKinto.remote(["Card"]).pull(PullRequest(scope: scope, limit: 1))
    for isSecret in [true, false] {
      let stranger = KintoRemote(url: try LiveKinto.url(), collections: ["Card"]) { refused in
        if refused != nil { return nil }
        return isSecret ? KintoRemote.basic(user: "nobody", password: "wrong") : "Unknown x"
      }
      let error = await #expect(throws: RemoteError.self) {
        try await stranger.pull(PullRequest(scope: scope, limit: 1))
      }
      guard case .needsSignIn = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }

  @Test("a bucket that is deleted and made again is loaded anew")
  func flush() async throws {
    let desk = try SyncDesk(try LiveKinto.remote(["Card"]), scopes: [scope])
    try await desk.cards.save([Card(id: "a"), Card(id: "b")])
    try await desk.sync()
    #expect(try LiveKinto.send("DELETE", "/buckets/\(bucket)") == 200)
    let other = try SyncDesk(try LiveKinto.remote(["Card"]), scopes: [scope])
    try await other.cards.save(Card(id: "c"))
    try await other.sync()
    try await desk.cards.save(Card(id: "b", title: "edited"))

    try await desk.sync()
    try await desk.sync()

    #expect(try !desk.titles().contains("a "))
    #expect(try desk.titles().contains("c "))
    try await other.sync()
    #expect(try desk.titles() == other.titles())
    try desk.close()
    try other.close()
  }
}
