import Foundation
import LarderLMDB
import LarderTestKit
import Testing

@testable import LarderRemote

@Suite struct KintoPullTests {
  private typealias Reply = ScriptedKinto.Reply

  private func request(_ cursor: String? = nil, limit: Int = 10) -> PullRequest {
    PullRequest(scope: "my bucket", cursor: cursor, limit: limit)
  }

  private static let records =
    #"{"id":"a_x20_b","last_modified":5,"$id":1,"n":2,"_larder":["x.y"],"schema":3},"#
    + #"{"id":"d","last_modified":6,"deleted":true},{"id":"a_x41_","last_modified":7}"#

  @Test("a first pull asks for a list, and reads records and tombstones")
  func first() async throws {
    let asked = Locked<[String]>([])
    let kinto = try ScriptedKinto { _, calls in
      asked.withLock { $0 += calls.map { "\($0.method) \($0.path)" } }
      return [.list(Self.records, etag: 7), .object(3)]
    }
    let answer = try await kinto.remote().pull(request())
    #expect(
      asked.withLock { $0 } == [
        "GET /buckets/my_x20_bucket/collections/c/records?_sort=last_modified&_limit=10",
        "GET /buckets/my_x20_bucket/collections/c",
      ])
    #expect(
      answer.changes == [
        RemoteChange(
          RemoteKey("c", "a b"), revision: "5", .document(RemoteDocument(#"{"id":1,"n":2}"#))),
        RemoteChange(RemoteKey("c", "d"), revision: "6", .deleted),
        // No key has this id. It is counted, and the engine hears of something that it does not follow.
        RemoteChange(RemoteKey("larder-deletions", "a_x41_"), revision: "7", .deleted),
      ])
    #expect(!answer.hasMore && answer.cursor == #"{"c":{"e":7,"o":3,"s":7}}"#)
    #expect(kinto.server.requests[0].headers["authorization"] == "Basic one")
  }

  /// Records of other clients that cannot be read: nested too deeply, no text of Unicode, no JSON, with a name twice.
  private static let spoiled = [
    #""x":"# + String(repeating: "[", count: 130) + String(repeating: "]", count: 130),
    #""x":"\ud800""#, #""x":NaN, "data":[{"id":"no"}]"#, #""x" : 1 , "x":2,"existing":{}"#,
  ].map { #"{ "id" : "bad","last_modified": 8 , \#($0), "s": "a\"}],\\"}"# }

  @Test("a record that cannot be read comes as it is written, and with it all others")
  func unreadable() async throws {
    for spoiled in Self.spoiled {
      let kinto = try ScriptedKinto { _, _ in
        [
          .list(
            [Self.records, spoiled, #"{"id":"e","last_modified":9}"#].joined(separator: " , "),
            etag: 9), .object(3),
        ]
      }
      let good = try ScriptedKinto { _, _ in [.list(Self.records, etag: 7), .object(3)] }

      let answer = try await kinto.remote().pull(request())

      #expect(answer.changes.prefix(3) == (try await good.remote().pull(request())).changes[...])
      #expect(
        answer.changes.suffix(2) == [
          RemoteChange(RemoteKey("c", "bad"), revision: "8", .document(RemoteDocument(spoiled))),
          RemoteChange(RemoteKey("c", "e"), revision: "9", .document(RemoteDocument("{}"))),
        ])
    }
  }

  @Test("one that cannot be read is set aside by an engine, which brings all others")
  func unreadableInEngine() async throws {
    for spoiled in Self.spoiled {
      let kinto = try ScriptedKinto { _, calls in
        calls.flatMap { call in
          if !call.path.contains("/records") { return [Reply.object(3)] }
          return [
            .list(
              #"{"id":"a","last_modified":7,"title":"t","count":0,"tags":[],"spot":{"x":0,"y":0}},\#(spoiled)"#,
              etag: 8)
          ]
        }
      }
      let desk = try SyncDesk(
        KintoRemote(url: kinto.server.url, collections: ["Card"]) { _ in "Basic one" })

      try await desk.sync()

      #expect(try desk.titles() == ["a t"])
      #expect(try desk.engine.refused().map(\.key) == [.card("bad")])
      try desk.close()
    }
  }

  @Test(
    "what cannot be read and has no id is against the protocol",
    arguments: [#"{"last_modified":8,"x":NaN}"#, #"{"id":NaN,"last_modified":8}"#])
  func unreadableWithoutID(record: String) async throws {
    let kinto = try ScriptedKinto { _, _ in [.list(record, etag: 8), .object(3)] }
    let error = await #expect(throws: RemoteError.self) {
      try await kinto.remote().pull(request())
    }
    guard case .malformed? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("numbers that nobody can reckon with are refused, from the server and in a cursor")
  func farNumbers() async throws {
    let kinto = try ScriptedKinto { number, calls in
      if calls[0].method == "HEAD" {
        return [Reply(headers: ["Total-Records": "\(Int.max)"])]
      }
      return [.list("", etag: number == 1 ? .min : .max), .object(3)]
    }
    for _ in 1...2 {
      await #expect(throws: RemoteError.malformed("a list of Kinto's has no `ETag`")) {
        try await kinto.remote(.seconds(15)).pull(request())
      }
    }
    await #expect(throws: RemoteError.self) { try await kinto.remote().count("b") }
    for cursor in [#"{"c":{"s":-9223372036854775808}}"#, #"{"c":{"t":9223372036854775807}}"#] {
      await #expect(throws: RemoteError.cursorExpired) {
        try await kinto.remote(.seconds(15)).pull(request(cursor))
      }
    }
    #expect(try await kinto.remote(.seconds(Int64.max)).facts().hasGaps)
  }

  @Test("the next page is asked for by its token, of this server, and the first page's ETag counts")
  func pages() async throws {
    let tokens = Locked<[String?]>([])
    let kinto = try ScriptedKinto { number, calls in
      tokens.withLock { $0.append(calls[0].query("_token")) }
      let page = "https://elsewhere.example.org/v1/x?_token=t%2B\(number)"
      let record = #"{"id":"r\#(number)","last_modified":\#(number)}"#
      return [.list(record, etag: 6 + number, nextPage: number < 3 ? page : nil), .object(3)]
    }
    let remote = kinto.remote()
    var cursor: String?
    for number in 1...3 {
      let answer = try await remote.pull(request(cursor, limit: 1))
      #expect(answer.changes.count == 1 && answer.hasMore == (number < 3))
      #expect(answer.cursor != cursor)
      cursor = answer.cursor
    }
    #expect(tokens.withLock { $0 } == [nil, "t+1", "t+2"])
    #expect(cursor == #"{"c":{"e":7,"o":3,"s":7}}"#)
  }

  @Test("with an overlap a change is asked for again from before, once more when it has passed")
  func overlap() async throws {
    let asked = Locked<[String?]>([])
    let kinto = try ScriptedKinto { number, calls in
      asked.withLock { $0.append(calls[0].query("_since")) }
      return [.list("", etag: number < 4 ? 100_000 : 200_000), .object(3)]
    }
    let remote = kinto.remote(.seconds(15))
    func pull(_ cursor: String) async throws -> String {
      try await remote.pull(request(cursor)).cursor
    }
    let settled = #"{"c":{"e":100000,"o":3,"s":100000}}"#
    #expect(try await pull(settled) == settled)
    // Somebody may have been late.
    let due = #"{"c":{"e":100000,"o":3,"s":100000,"t":1}}"#
    #expect(try await pull(due) == settled)
    let cursor = try await pull(settled)
    #expect(cursor.hasPrefix(#"{"c":{"e":200000,"o":3,"s":200000,"t":1772357400}}"#))
    #expect(
      asked.withLock { $0 } == ["100000", "100000", "85000", "100000", "85000"])
  }

  @Test("what may have lost tombstones is loaded anew", arguments: 0..<5)
  func expired(number: Int) async throws {
    let kinto = try ScriptedKinto { _, _ in
      [
        // An earlier state, another collection, none, one that has no such time, and no bucket.
        [.list("", etag: 6), .object(3)], [.list("", etag: 8), .object(4)],
        [.failure(404), .failure(404)], [.failure(400), .object(3)],
        [.failure(403), .failure(403)],
      ][number]
    }
    let made = try ScriptedKinto { batch, _ in
      number < 4 || batch == 1 ? [.failure(403), .failure(403)] : [.object(9, status: 201)]
    }
    let remote = number == 4 ? made.remote() : kinto.remote()
    await #expect(throws: RemoteError.cursorExpired) {
      try await remote.pull(request(#"{"c":{"e":7,"o":3,"s":7}}"#))
    }
    await #expect(throws: RemoteError.cursorExpired) {
      try await remote.pull(request("not a cursor"))
    }
  }

  @Test("a bucket of others is forbidden, and never empty")
  func forbidden() async throws {
    let kinto = try ScriptedKinto { number, _ in
      number == 1 ? [.failure(403), .failure(403)] : [.failure(412)]
    }
    await #expect(throws: RemoteError.forbidden("said 403")) {
      try await kinto.remote().pull(request())
    }
  }

  @Test("a collection that is not there yet is empty")
  func missing() async throws {
    let kinto = try ScriptedKinto { _, _ in [.failure(404), .failure(404)] }
    let answer = try await kinto.remote().pull(request())
    #expect(answer == PullAnswer(changes: [], cursor: #"{"c":{}}"#, hasMore: false))
    #expect(try await kinto.remote().pull(request(answer.cursor)).cursor == answer.cursor)
  }

  @Test("what Kinto cannot answer is told as it is")
  func failures() async throws {
    for (status, error) in [
      (503, RemoteError.unavailable("said 503", retryAfter: nil)), (410, .gone("said 410")),
      (401, .needsSignIn("said 401")),
    ] {
      let kinto = try ScriptedKinto { _, _ in [.failure(status), .object(3)] }
      await #expect(throws: error) { try await kinto.remote().pull(request()) }
    }
  }

  @Test("credentials that Kinto refuses within a batch are asked for again, once")
  func credentials() async throws {
    let kinto = try ScriptedKinto { number, _ in
      number == 1 ? [.failure(401), .failure(401)] : [.list("", etag: 7), .object(3)]
    }
    _ = try await kinto.remote().pull(request())
    #expect(
      kinto.server.requests.map { $0.headers["authorization"] } == ["Basic one", "Basic two"])
  }

  @Test("a Backoff lets a sync come to its end, and then nothing is sent for so long")
  func backoff() async throws {
    let kinto = try ScriptedKinto(headers: ["Backoff": "60"]) { _, _ in
      [.list("", etag: 7), .object(3)]
    }
    let remote = kinto.remote()
    _ = try await remote.pull(request())
    _ = try await remote.pull(request())
    #expect(kinto.server.requests.count == 2)

    var rest = KintoRest()
    let start = ContinuousClock.now
    rest.begin(.seconds(60), at: start)
    rest.begin(.seconds(60), at: start + .seconds(9))
    #expect(rest.remaining(at: start + .seconds(9)) == nil)
    #expect(rest.remaining(at: start + .seconds(11)) == .seconds(59))
    #expect(rest.remaining(at: start + .seconds(70)) == nil)
  }
}
