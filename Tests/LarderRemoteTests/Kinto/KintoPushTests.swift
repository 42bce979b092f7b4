import Foundation
import LarderLMDB
import LarderRemote
import LarderTestKit
import Testing

@Suite struct KintoPushTests {
  private typealias Call = ScriptedKinto.Call
  private typealias Reply = ScriptedKinto.Reply

  private func mutation(
    _ key: String, base: String? = nil, _ text: String? = #"{"n":1}"#
  ) -> Mutation {
    Mutation(
      id: "id of \(key)", key: RemoteKey("c", key), base: base,
      document: text.map { RemoteDocument($0) })
  }

  private func push(_ remote: KintoRemote, _ mutations: [Mutation]) async throws -> [PushResult] {
    try await remote.push(PushRequest(scope: "b", mutations: mutations))
  }

  @Test("an edit is sent under the condition of its base, with stamps and without a time")
  func conditions() async throws {
    let sent = Locked<[String]>([])
    let kinto = try ScriptedKinto { number, calls in
      if number == 1 {
        return [
          .list(
            #"{"id":"old","last_modified":5,"_larder":["m.c"]},{"id":"gone","last_modified":6}"#,
            etag: 6)
        ]
      }
      sent.withLock { sent in
        for call in calls {
          let condition = call.headers.map { "\($0) \($1)" }.joined()
          sent.append("\(call.method) \(call.path) \(condition)")
          #expect(call.data["last_modified"] == nil)
        }
        #expect((calls[2].data["_larder"] as? [String])?.last == "m.c.5")
      }
      return calls.indices.map { .object(10 + $0, status: $0 == 1 ? 201 : 200) }
    }
    let results = try await push(
      kinto.remote(),
      [mutation("new"), mutation("old", base: "5"), mutation("gone", base: "6", nil)])
    #expect(results == [11, 12, 14].map { .accepted(revision: "\($0)") })
    let records = "/buckets/b/collections/c/records"
    #expect(
      sent.withLock { $0 } == [
        #"PUT /buckets/b/collections/larder-deletions If-None-Match *"#,
        "PUT \(records)/new If-None-Match *", #"PUT \#(records)/old If-Match "5""#,
        "PUT /buckets/b/collections/larder-deletions/records/c_x30_gone ",
        #"DELETE \#(records)/gone If-Match "6""#,
      ])
  }

  @Test("answers in another order are not taken for those to other edits")
  func reordered() async throws {
    let kinto = try ScriptedKinto { number, calls in
      if number == 1 { return [.list("", etag: 6)] }
      let answers = calls.indices.map { Reply.object(10 + $0, status: 201) }
      return zip(answers, calls.reversed()).map { answer, call in
        var answer = answer
        answer.path = "/v1\(call.path)"
        return answer
      }
    }
    await #expect(throws: RemoteError.self) {
      try await push(kinto.remote(), [mutation("one"), mutation("two")])
    }
  }

  @Test(
    "an edit that meets a record which cannot be read is in conflict with it, and keeps no other")
  func unreadable() async throws {
    let spoiled = #"{"id":"old","last_modified":5,"x":NaN}"#
    let kinto = try ScriptedKinto { number, calls in
      if number == 1 { return [.list(spoiled, etag: 6)] }
      return calls.indices.map { .object(10 + $0, status: 201) }
    }
    let results = try await push(kinto.remote(), [mutation("new"), mutation("old", base: "4")])
    #expect(
      results == [
        .accepted(revision: "10"),
        .conflict(RemoteVersion(revision: "5", document: RemoteDocument(spoiled))),
      ])
  }

  @Test("a refused write that has met a record which cannot be read is looked at again")
  func unreadableMet() async throws {
    let kinto = try ScriptedKinto { number, calls in
      switch number {
      case 1: [.list("", etag: 6)]
      case 2:
        [
          Reply(
            status: 412,
            body: #"{"code":412,"details":{"existing":{"id":"new","last_modified":7,"x":NaN}}}"#)
        ]
      default: [.list(#"{"id":"new","last_modified":7,"x":NaN}"#, etag: 7)]
      }
    }
    let results = try await push(kinto.remote(), [mutation("new")])
    guard case .conflict(let version)? = results.first else {
      Issue.record("\(results)")
      return
    }
    #expect(version?.revision == "7")
  }

  @Test(
    "what stands before a 409 in a batch is not believed, and sent again", arguments: [409, 503])
  func rolledBack(status: Int) async throws {
    let kinto = try ScriptedKinto { number, calls in
      switch number {
      case 1: [.list("", etag: 1)]
      case 2: [.object(11, status: 201), .failure(status), .object(13, status: 201)]
      case 3: [.list(#"{"id":"c","last_modified":13}"#, etag: 13)]
      default: calls.indices.map { .object(20 + $0, status: 201) }
      }
    }
    let results = try await push(kinto.remote(), ["a", "b", "c"].map { mutation($0) })
    #expect(results == ["20", "21", "13"].map { .accepted(revision: $0) })
  }

  @Test("a mutation whose answer got lost is found by its stamp, and not sent again")
  func stamped() async throws {
    let stored = Locked<[String]>([])
    let kinto = try ScriptedKinto { number, calls in
      switch number {
      case 1: return [.list("", etag: 1)]
      case 2:
        stored.withLock { $0 = calls[0].data["_larder"] as? [String] ?? [] }
        // It is stored, and the answer says otherwise.
        return [.failure(503)]
      default:
        let stamp = stored.withLock { $0[0] }
        return [.list(#"{"id":"a","last_modified":11,"n":1,"_larder":["\#(stamp)"]}"#, etag: 11)]
      }
    }
    #expect(try await push(kinto.remote(), [mutation("a")]) == [.accepted(revision: "11")])
    #expect(kinto.server.requests.count == 3)
  }

  @Test("a conflict has what stands there, a document or a tombstone, and is not sent")
  func conflicts() async throws {
    let kinto = try ScriptedKinto { number, calls in
      guard number == 1 else { return calls.map { _ in .failure(404) } }
      return [
        .list(
          #"{"id":"a","last_modified":5,"n":2},{"id":"d","last_modified":6,"deleted":true}"#,
          etag: 6)
      ]
    }
    let results = try await push(
      kinto.remote(),
      [
        mutation("a"), mutation("d", base: "4"), mutation("d2", base: "4"), mutation("x", nil),
        mutation("a", base: "4", nil),
      ])
    let version = RemoteVersion(revision: "5", document: RemoteDocument(#"{"n":2}"#))
    #expect(
      results == [
        .conflict(version), .conflict(RemoteVersion(revision: "6", document: nil)), .conflict(nil),
        .accepted(revision: ""), .conflict(version),
      ])
    #expect(kinto.server.requests.count == 2)
  }

  @Test("an edit that Kinto can never hold is rejected, and nothing is sent for it")
  func rejected() async throws {
    let kinto = try ScriptedKinto { _, _ in [] }
    var stranger = mutation("a")
    stranger.key.collection = "unknown"
    let results = try await push(
      kinto.remote(),
      [mutation("a", "[1]"), mutation(String(repeating: " ", count: 500)), stranger])
    for result in results {
      guard case .rejected = result else {
        Issue.record("\(result)")
        continue
      }
    }
    #expect(results.count == 3 && kinto.server.requests.isEmpty)
  }

  @Test("a server that only reads keeps the edits waiting")
  func readOnly() async throws {
    let kinto = try ScriptedKinto { number, _ in
      number == 1 ? [.list("", etag: 1)] : [.failure(405)]
    }
    await #expect(throws: RemoteError.forbidden("the server takes no edits now: said 405")) {
      try await push(kinto.remote(), [mutation("a")])
    }
  }

  @Test("a list that was filtered by what the user may read is not believed")
  func filtered() async throws {
    let kinto = try ScriptedKinto { number, calls in
      number == 1 ? [.list("", etag: 1), .failure(403)] : [.failure(403)]
    }
    for text in [nil, #"{"n":1}"#] {
      await #expect(throws: RemoteError.forbidden("said 403")) {
        try await push(kinto.remote(), [mutation("a", base: "4", text)])
      }
    }
  }

  @Test("a record that the user may not write keeps no other edit from being answered")
  func foreignRecord() async throws {
    let kinto = try ScriptedKinto { _, calls in
      calls[0].method == "GET"
        ? [.list(#"{"id":"hers","last_modified":5}"#, etag: 5)]
        : calls.map { $0.path.hasSuffix("hers") ? .failure(403) : .object(9, status: 201) }
    }
    let hers = mutation("hers", base: "5")
    let results = try await push(kinto.remote(), [hers, mutation("b")])
    #expect(
      results == [
        .rejected(code: "forbidden", reason: "said 403"), .accepted(revision: "9"),
      ])
    await #expect(throws: RemoteError.forbidden("said 403")) {
      try await push(kinto.remote(), [hers])
    }
  }

  @Test(
    "a list that comes to no end, or is cut off, is not believed",
    arguments: ["", "?_token=1", "?_token=N"])
  func endlessList(query: String) async throws {
    let kinto = try ScriptedKinto { number, calls in
      let page = query.replacing("N", with: "\(number)")
      return [.list("", etag: 1, nextPage: "http://a.example/\(page)")]
    }
    await #expect {
      try await push(kinto.remote(), [mutation("a", base: "4", nil)])
    } throws: {
      if case RemoteError.malformed = $0 { true } else { false }
    }
    #expect(kinto.server.requests.count <= 3)
  }

  @Test("a bucket that is made again and again is forbidden")
  func endlessBucket() async throws {
    let kinto = try ScriptedKinto { _, calls in
      calls[0].method == "PUT"
        ? [.object(1, status: 201)] : calls.map { _ in .failure(403) }
    }
    await #expect(throws: RemoteError.forbidden("said 403")) {
      try await push(kinto.remote(), [mutation("a")])
    }
    await #expect(throws: RemoteError.forbidden("said 403")) {
      try await kinto.remote().pull(PullRequest(scope: "b", limit: 10))
    }
  }

  @Test("a missing bucket and collection are made")
  func missing() async throws {
    let made = Locked<[String]>([])
    let kinto = try ScriptedKinto { number, calls in
      if calls[0].method == "PUT" { made.withLock { $0.append(calls[0].path) } }
      switch number {
      case 1: return [.failure(403)]
      case 3: return [.failure(404)]
      default: return [.object(10 + number, status: 201)]
      }
    }
    #expect(try await push(kinto.remote(), [mutation("a")]) == [.accepted(revision: "15")])
    #expect(
      made.withLock { $0 } == [
        "/buckets/b", "/buckets/b/collections/c", "/buckets/b/collections/c/records/a",
      ])
  }

  @Test("an edit that Kinto fails at keeps no other from being stored")
  func poison() async throws {
    let kinto = try ScriptedKinto { _, calls in
      calls[0].method == "GET"
        ? [.list("", etag: 1)]
        : calls.map { $0.path.hasSuffix("poison") ? .failure(500) : .object(9, status: 201) }
    }
    let results = try await push(kinto.remote(), ["a", "poison", "b"].map { mutation($0) })
    #expect(results == [.accepted(revision: "9"), .retry, .accepted(revision: "9")])
  }

  @Test("a short pause that the server asks for is waited for")
  func shortPause() async throws {
    let kinto = try ScriptedKinto { number, calls in
      switch number {
      case 1, 3: return [.list("", etag: 1)]
      case 2:
        var reply = Reply.failure(503)
        reply.headers = ["Retry-After": "0"]
        reply.isWhole = true
        return [reply]
      default: return [.object(9, status: 201)]
      }
    }
    #expect(try await push(kinto.remote(), [mutation("a")]) == [.accepted(revision: "9")])
  }

  @Test("the whole of a failed batch is thrown, with how long the server asks to wait")
  func unavailable() async throws {
    let server = try ScriptedHTTPServer { _, _ in
      ScriptedHTTPServer.answer(
        503, #"{"message":"later"}"#, headers: ["Retry-After": "7"])
    }
    let remote = KintoRemote(url: server.url, collections: ["c"]) { _ in "Basic x" }
    await #expect(throws: RemoteError.unavailable("later", retryAfter: .seconds(7))) {
      try await push(remote, [mutation("a")])
    }
  }
}
