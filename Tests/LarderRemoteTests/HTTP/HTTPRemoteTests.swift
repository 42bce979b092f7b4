import Foundation
import LarderLMDB
import LarderRemote
import LarderTestKit
import Testing

/// What goes over the wire, and how good answers are read.
@Suite struct HTTPRemoteTests {
  static func remote(
    _ server: ScriptedHTTPServer, _ options: HTTPRemoteOptions = HTTPRemoteOptions()
  ) -> HTTPRemote {
    HTTPRemote(url: server.url, options: options) { _ in "secret" }
  }

  @Test("a pull sends scope, cursor and limit, and reads documents as they are written")
  func pull() async throws {
    let awkward =
      #"{"a" : [1.0, 18446744073709551615, -0.0],"ü\u0041":{"}":"]\\\""}, "e":{ }, "x":1e2 }"#
    let body = """
      { "changes" : [
        {"collection":"notes","key":"a\\u0031","revision":"r1","document":\(awkward) },
        {"document": {}, "collection":"notes","key":"b","revision":"r2", "more": [1, {"deleted": true}]},
        {"collection":"notes","key":"c","revision":"r3","deleted":true},
        {"collection":"notes","key":"d","revision":"r4","left":true,"document":null}
      ], "cursor": "c2", "more": true, "else": null }
      """
    let server = try ScriptedHTTPServer { _, _ in ScriptedHTTPServer.answer(body) }

    let answer = try await Self.remote(server).pull(
      PullRequest(scope: "a \"b\"\n", cursor: nil, limit: 7))

    #expect(
      answer
        == PullAnswer(
          changes: [
            RemoteChange(
              RemoteKey("notes", "a1"), revision: "r1",
              .document(RemoteDocument(json: Data(awkward.utf8)))),
            RemoteChange(
              RemoteKey("notes", "b"), revision: "r2",
              .document(RemoteDocument(json: Data("{}".utf8)))),
            RemoteChange(RemoteKey("notes", "c"), revision: "r3", .deleted),
            RemoteChange(RemoteKey("notes", "d"), revision: "r4", .left),
          ], cursor: "c2", hasMore: true))
    let request = try #require(server.requests.first)
    #expect(request.method == "POST" && request.target == "/v1/pull")
    #expect(request.headers["authorization"] == "Bearer secret")
    #expect(request.headers["content-type"] == "application/json")
    #expect(request.headers["cookie"] == nil)
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"scope":"a \"b\"\u000a","cursor":null,"limit":7}"#)
  }

  @Test("a push sends documents as they are written, and reads every kind of result")
  func push() async throws {
    let results = """
      {"results": [
        {"id": "A", "status": "accepted", "revision": "r1"},
        {"id": "b", "status": "conflict", "current": {"revision": "r2", "document": {"n": 1.50}}},
        {"status": "conflict", "current": {"revision": "r3", "deleted": true}},
        {"id": "d", "status": "conflict", "current": {"revision": null, "deleted": true}},
        {"id": "e", "status": "conflict"},
        {"id": "f", "status": "rejected", "code": "forbidden", "reason": "no"},
        {"id": "g", "status": "retry"},
        {"id": "h", "status": "accepted", "revision": null}]}
      """
    let server = try ScriptedHTTPServer { _, _ in ScriptedHTTPServer.answer(results) }
    let document = RemoteDocument(json: Data(#"{ "n" : 1.500 }"#.utf8))
    let mutations = "abcdefgh".map { id in
      Mutation(
        id: String(id), key: RemoteKey("c", "k\(id)"), base: id == "a" ? nil : "r0",
        document: id == "h" ? nil : document)
    }

    let answer = try await Self.remote(server).push(
      PushRequest(scope: "s", mutations: mutations))

    let current = RemoteDocument(json: Data(#"{"n": 1.50}"#.utf8))
    #expect(
      answer == [
        .accepted(revision: "r1"), .conflict(RemoteVersion(revision: "r2", document: current)),
        .conflict(RemoteVersion(revision: "r3", document: nil)), .conflict(nil), .conflict(nil),
        .rejected(code: "forbidden", reason: "no"), .retry, .accepted(revision: ""),
      ])
    let body = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
    let first = #"{"id":"a","collection":"c","key":"ka","base":null,"document":{ "n" : 1.500 }}"#
    #expect(body.hasPrefix(#"{"scope":"s","mutations":["# + first + ","))
    #expect(body.hasSuffix(#"{"id":"h","collection":"c","key":"kh","base":"r0","deleted":true}]}"#))
  }

  @Test(
    "a document that would spoil the request is rejected and not sent",
    arguments: [
      "[1]", "", #"{"a":1},"b":{}"#, #"{"a":"# + "\u{1}", #"{"a":"\ud800"}"#, "{",
      #"{"a":1,"a":2}"#,
      #"{"a":"# + String(repeating: "[", count: 500) + String(repeating: "]", count: 500) + "}",
    ])
  func spoiled(json: String) async throws {
    let server = try ScriptedHTTPServer { _, _ in
      ScriptedHTTPServer.answer(#"{"results": [{"status": "retry"}, {"status": "retry"}]}"#)
    }
    let texts = ["{}", json, "{}"]
    let mutations = texts.enumerated().map { index, text in
      Mutation(
        id: "\(index)", key: RemoteKey("c", "\(index)"), base: nil,
        document: RemoteDocument(json: Data(text.utf8)))
    }

    let results = try await Self.remote(server).push(
      PushRequest(scope: "s", mutations: mutations))

    try #require(results.count == 3)
    #expect(results[0] == .retry && results[2] == .retry)
    guard case .rejected("malformed", _) = results[1] else {
      Issue.record("\(results[1])")
      return
    }
    let sent = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
    #expect(!sent.contains(#""id":"1""#))
  }

  @Test("the base address says what the server can; without it a remote can what every one can")
  func facts() async throws {
    let server = try ScriptedHTTPServer { _, number in
      switch number {
      case 1:
        ScriptedHTTPServer.answer(
          """
          {"protocol": 1, "capabilities": ["count", "hints", "more"],
           "limits": {"mutations": 30, "bodyBytes": 5000, "pageDocuments": 20, "else": "x"}}
          """)
      case 2: ScriptedHTTPServer.answer(404, "not here", type: "text/plain")
      default: ScriptedHTTPServer.answer(#"{"protocol": 2}"#)
      }
    }
    let remote = Self.remote(server)

    let facts = try await remote.facts()
    #expect(facts.maximumMutationCount == 30 && facts.maximumChangeCount == 20)
    #expect(facts.maximumPushByteCount == 625)
    #expect(facts.maximumConcurrentPushCount == 4)
    #expect(facts.hasCount && !facts.hasManifest && !facts.hasGaps)
    #expect(server.requests[0].method == "GET" && server.requests[0].target == "/v1")
    var least = RemoteFacts()
    least.maximumConcurrentPushCount = 4
    #expect(try await remote.facts() == least)
    #expect(remote.hints(["a"]) == nil)
    await #expect(throws: RemoteError.self) { try await remote.facts() }
  }

  @Test(
    "a server without facts says so in one of several ways, and a page or a failure is no such answer"
  )
  func withoutFacts() async throws {
    let server = try ScriptedHTTPServer { _, number in
      switch number {
      case 1: ScriptedHTTPServer.answer(405, "", type: "text/plain")
      case 2: ScriptedHTTPServer.answer(501, "<p>Unsupported method</p>", type: "text/html")
      case 3: ScriptedHTTPServer.answer(403, "no listing", type: "text/plain")
      case 4: ScriptedHTTPServer.answer(#"{"name": "my api"}"#)
      case 5: ScriptedHTTPServer.answer(200, "<p>Sign in</p>", type: "text/html")
      default: ScriptedHTTPServer.answer(502, "", type: "text/plain")
      }
    }
    let remote = Self.remote(server)

    for _ in 1...4 { #expect(try await remote.facts().maximumMutationCount == 100) }
    for _ in 5...6 {
      await #expect {
        _ = try await remote.facts()
      } throws: {
        if case RemoteError.unavailable = $0 { true } else { false }
      }
    }
  }

  @Test("the scheme of an address may have capitals, also where a redirect leads")
  func capitals() async throws {
    let server = try ScriptedHTTPServer { _, number in
      number == 1
        ? ScriptedHTTPServer.answer(404, "", type: "text/plain")
        : ScriptedHTTPServer.answer(#"{"count": 6, "settled": true}"#)
    }
    let capitals = server.url.absoluteString.replacing("http:", with: "HTTP:")
    let remote = HTTPRemote(url: try #require(URL(string: capitals))) { _ in "token" }

    _ = try await remote.facts()
    #expect(try await remote.count("s") == 6)
  }

  @Test("a count that is not settled is none, and a manifest goes on behind a key")
  func countAndManifest() async throws {
    let server = try ScriptedHTTPServer { request, number in
      switch number {
      case 1: ScriptedHTTPServer.answer(#"{"count": 6, "settled": true}"#)
      case 2: ScriptedHTTPServer.answer(#"{"count": 6, "settled": false}"#)
      default:
        ScriptedHTTPServer.answer(
          #"{"entries": [{"collection": "a", "key": "b", "revision": "r"}], "more": true}"#)
      }
    }
    let remote = Self.remote(server)

    #expect(try await remote.count("s") == 6)
    #expect(try await remote.count("s") == nil)
    let manifest = try await remote.manifest(
      ManifestRequest(scope: "s", after: RemoteKey("a", "a"), limit: 1))

    #expect(
      manifest
        == ManifestAnswer(entries: [.init(RemoteKey("a", "b"), revision: "r")], hasMore: true))
    #expect(
      String(decoding: server.requests[2].body, as: UTF8.self)
        == #"{"scope":"s","after":{"collection":"a","key":"a"},"limit":1}"#)
  }

  @Test("after a 401 the token is asked for once more, with the one that was refused")
  func signIn() async throws {
    let server = try ScriptedHTTPServer { request, _ in
      request.headers["authorization"] == "Bearer good"
        ? ScriptedHTTPServer.answer(#"{"count": 1, "settled": true}"#)
        : ScriptedHTTPServer.answer(
          401, #"{"error": "needs-sign-in", "message": "The token has expired."}"#)
    }
    let asked = Locked<[String?]>([])
    let tokens = Locked(["old", "good", "old", "old", "old", "older"])
    let remote = HTTPRemote(url: server.url) { refused in
      asked.withLock { $0.append(refused) }
      return tokens.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    #expect(try await remote.count("s") == 1)
    #expect(asked.withLock { $0 } == [nil, "old"])
    // The same one again is not tried again, and another one only once.
    for requestCount in [3, 5] {
      await #expect(throws: RemoteError.needsSignIn("The token has expired.")) {
        try await remote.count("s")
      }
      #expect(server.requests.count == requestCount)
    }
    await #expect(throws: RemoteError.self) { try await remote.count("s") }
    #expect(server.requests.count == 5)
  }

  @Test(
    "a 401 that offers Basic has the token asked for once more, as every other one does",
    arguments: [
      #"Basic realm="r""#, #"Bearer error="invalid_token", Basic realm="r""#, "Bearer",
    ])
  func challenge(offer: String) async throws {
    let server = try ScriptedHTTPServer { request, _ in
      request.headers["authorization"] == "Bearer good"
        ? ScriptedHTTPServer.answer(#"{"count": 1, "settled": true}"#)
        : ScriptedHTTPServer.answer(401, "", headers: ["WWW-Authenticate": offer])
    }
    let asked = Locked<[String?]>([])
    let renewed = HTTPRemote(url: server.url) { refused in
      asked.withLock { $0.append(refused) }
      return refused == nil ? "old" : "good"
    }
    let refused = HTTPRemote(url: server.url) { $0 == nil ? "old" : "older" }

    #expect(try await renewed.count("s") == 1)
    await #expect(throws: RemoteError.needsSignIn("status 401")) { try await refused.count("s") }

    #expect(asked.withLock { $0 } == [nil, "old"])
    #expect(server.requests.count == 4)
  }

  @Test(
    "a token that could begin another header field is not sent", arguments: ["", "a\r\nX: y", "é"])
  func hostileToken(token: String) async throws {
    let server = try ScriptedHTTPServer { _, _ in ScriptedHTTPServer.answer("{}") }
    let remote = HTTPRemote(url: server.url) { _ in token }
    await #expect(throws: RemoteError.self) { try await remote.count("s") }
    #expect(server.requests.isEmpty)
  }

  @Test(
    "an address that is not of HTTP is refused", arguments: ["ftp://a.b/c", "file:///tmp", "x"])
  func address(text: String) async throws {
    let remote = HTTPRemote(url: try #require(URL(string: text))) { _ in "secret" }
    await #expect(throws: RemoteError.malformed("\(text) is no address of HTTP")) {
      try await remote.count("s")
    }
  }
}
