import Foundation
import LarderLMDB
import LarderRemote
import LarderTestKit
import Testing

/// Servers that answer badly, slowly, endlessly or not at all.
@Suite struct HTTPFailureTests {
  private typealias Server = ScriptedHTTPServer

  private static let pull = PullRequest(scope: "s", cursor: "c1", limit: 10)

  private func failure(
    _ options: HTTPRemoteOptions = HTTPRemoteOptions(), _ script: @escaping Server.Script
  ) async throws -> RemoteError? {
    let server = try Server(script)
    let remote = HTTPRemoteTests.remote(server, options)
    do {
      let answer = try await remote.pull(Self.pull)
      Issue.record("\(answer)")
      return nil
    } catch {
      return error as? RemoteError
    }
  }

  @Test(
    "every status means what the protocol says",
    arguments: [
      (400, "malformed", RemoteError.malformed("why")), (401, "needs-sign-in", .needsSignIn("why")),
      (403, "forbidden", .forbidden("why")), (404, "malformed", .malformed("why")),
      (405, "malformed", .malformed("why")), (408, "unavailable", .unavailable("why")),
      (410, "cursor-expired", .cursorExpired), (410, "gone", .gone("why")),
      (413, "too-large", .tooLarge("why")), (415, "malformed", .malformed("why")),
      (418, "malformed", .malformed("why")), (429, "unavailable", .unavailable("why")),
      (500, "failed", .unavailable("why")), (503, "unavailable", .unavailable("why")),
    ])
  func status(status: Int, code: String, expected: RemoteError) async throws {
    let found = try await failure { _, _ in
      Server.answer(status, #"{"error": "\#(code)", "message": "why"}"#)
    }
    #expect(found == expected)
  }

  @Test("a page of a proxy in place of an error is told by its status")
  func proxyPage() async throws {
    let found = try await failure { _, _ in
      Server.answer(502, "<html><h1>Bad gateway</h1></html>", type: "text/html")
    }
    #expect(found == .unavailable("status 502"))
  }

  @Test("Retry-After is kept, in seconds and as a date; what cannot be read is passed over")
  func retryAfter() async throws {
    // Nobody waits for longer than a day.
    for (value, pause) in [("7", 7), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400)] {
      let found = try await failure { _, _ in
        Server.answer(503, "{}", headers: ["Retry-After": value])
      }
      #expect(found == .unavailable("status 503", retryAfter: .seconds(pause)))
    }
    let found = try await failure { _, _ in
      Server.answer(503, "{}", headers: ["Retry-After": "soon"])
    }
    #expect(found == .unavailable("status 503"))
  }

  @Test(
    "Retry-After is kept for every status after which the same request may be made again",
    arguments: [408, 425, 429, 500, 503])
  func retryAfterStatus(status: Int) async throws {
    let found = try await failure { _, _ in
      Server.answer(status, "{}", headers: ["Retry-After": "7"])
    }
    #expect(found == .unavailable("status \(status)", retryAfter: .seconds(7)))
  }

  @Test("a date of Retry-After is measured from the answer's own Date, whatever time it is here")
  func retryAfterDate() async throws {
    for (date, pause) in [
      ("Fri, 31 Dec 9999 22:59:59 GMT", 3600), ("Fri, 31 Dec 9999 23:59:22 GMT", 37),
      // After it, and one that cannot be read.
      ("Fri, 31 Dec 9999 23:59:60 GMT", 0), ("yesterday", 86_400),
    ] {
      let found = try await failure { _, _ in
        Server.answer(
          503, "{}", headers: ["Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT", "Date": date])
      }
      #expect(found == .unavailable("status 503", retryAfter: .seconds(pause)), "\(date)")
    }
  }

  @Test(
    "an answer that is against the protocol is told with what is wrong, and where",
    arguments: [
      ("", "found the end of the file"), ("[]", "is an array, not an object"),
      ("{\"changes\": [", "found the end of the file"), ("{\"a\": \u{1}}", ":1:7"),
      ("{}", "has no value for changes"),
      (#"{"changes": {}, "cursor": "c"}"#, "an object for changes"),
      (#"{"changes": [], "cursor": 7}"#, "a number for cursor"),
      (#"{"changes": [], "cursor": ""}"#, "0 bytes for cursor"),
      (#"{"changes": [], "cursor": "c", "more": "yes"}"#, "a string for more"),
      (#"{"changes": [], "cursor": "c1", "more": true}"#, "it would never end"),
      (
        #"{"changes": [{"collection": "c", "key": "k", "revision": "r", "deleted": true}], "cursor": "c1", "more": true}"#,
        "it would never end"
      ),
      (#"{"changes": [7], "cursor": "c"}"#, "a number at changes[0]"),
      (#"{"changes": [{"key": "k"}], "cursor": "c"}"#, "no value for changes[0].collection"),
      (
        #"{"changes": [{"collection": "c", "key": "k", "revision": "r", "document": []}], "cursor": "c"}"#,
        "an array for changes[0].document"
      ),
      (
        #"{"changes": [{"collection": "c", "key": "k", "revision": "r"}], "cursor": "c"}"#,
        "at changes[0] not exactly one of"
      ),
      (
        #"{"changes": [{"collection": "c", "key": "k", "revision": "r", "document": {}, "left": true}], "cursor": "c"}"#,
        "at changes[0] not exactly one of"
      ),
      (
        #"{"changes": [{"collection": "c", "key": "k", "deleted": true}], "cursor": "c"}"#,
        "no value for changes[0].revision"
      ),
      (
        #"{"changes": [], "cursor": "c", "x": "#
          + String(repeating: "[", count: 300) + String(repeating: "]", count: 300) + "}",
        "arrays and objects inside one another"
      ),
      (#"{"changes": [], "cursor": "c"} {"#, "the end of the file after its one value"),
    ])
  func malformed(body: String, sentence: String) async throws {
    let found = try await failure { _, _ in Server.answer(body) }
    guard case .malformed(let text) = found else {
      Issue.record("\(String(describing: found))")
      return
    }
    #expect(text.contains(sentence), "\(text)")
  }

  @Test("a name that no document here can have leaves the rest of its page as it is")
  func names() async throws {
    let long = String(repeating: "n", count: 100_000)
    let server = try Server { _, _ in
      let changes = ["", "c", long].flatMap { collection in
        ["", "k", long].map { key in
          #"{"collection": "\#(collection)", "key": "\#(key)", "revision": "r", "deleted": true}"#
        }
      }
      return Server.answer(
        #"{"changes": [\#(changes.joined(separator: ","))], "cursor": "c2"}"#)
    }

    let answer = try await HTTPRemoteTests.remote(server).pull(Self.pull)

    #expect(
      answer.changes.map(\.key.collection.utf8.count) == [0, 0, 0, 1, 1, 1] + [
        100_000, 100_000, 100_000,
      ])
    #expect(
      answer.changes.map(\.key.key.utf8.count) == [0, 1, 100_000, 0, 1, 100_000, 0, 1, 100_000])
  }

  @Test(
    "results that are not those of the mutations are refused",
    arguments: [
      #"[]"#, #"[{"id": "b", "status": "accepted", "revision": "r"}]"#,
      #"[{"id": "a", "status": "accepted"}]"#, #"[{"id": "a", "status": "perhaps"}]"#,
      #"[{"id": "a", "status": "conflict", "current": {"revision": "r"}}]"#,
      #"[{"id": "a", "status": "conflict", "current": {"document": {}}}]"#,
      #"[{"id": "a", "status": "rejected"}]"#, #"[{"status": "retry"}, {"status": "retry"}]"#,
      #"[{"id": "a", "status": "accepted", "revision": ""}]"#, "[null]",
    ])
  func results(results: String) async throws {
    let server = try Server { _, _ in Server.answer(#"{"results": \#(results)}"#) }
    let mutation = Mutation(
      id: "a", key: RemoteKey("c", "k"), base: nil,
      document: RemoteDocument(json: Data("{}".utf8)))
    let error = await #expect(throws: RemoteError.self) {
      try await HTTPRemoteTests.remote(server).push(
        PushRequest(scope: "s", mutations: [mutation]))
    }
    guard case .malformed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test("another type than JSON is refused; a web page is taken for a network that asks to sign in")
  func contentType() async throws {
    for type in ["text/plain", "application/xml", nil] {
      let found = try await failure { _, _ in Server.answer(200, "{}", type: type) }
      guard case .malformed = found else {
        Issue.record("\(type ?? "none"): \(String(describing: found))")
        continue
      }
    }
    let page = try await failure { _, _ in
      Server.answer(200, "<html>Welcome</html>", type: "text/html; charset=utf-8")
    }
    guard case .unavailable = page else {
      Issue.record("\(String(describing: page))")
      return
    }
  }

  @Test("an answer that is shorter than it says, and what is no HTTP, count as no answer")
  func truncated() async throws {
    let whole = #"{"changes": [], "cursor": "c"}"#
    let answers: [[Server.Step]] = [
      Server.answer(200, whole, headers: ["Content-Length": "5000"]),
      [
        .send(
          Data(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"cha\r\n"
              .utf8))
      ],
      [.send(Data("SSH-2.0-OpenSSH_9.2\r\n".utf8))], [],
    ]
    for answer in answers {
      let found = try await failure { _, _ in answer }
      guard case .unavailable = found else {
        Issue.record("\(answer): \(String(describing: found))")
        continue
      }
    }
  }

  @Test("a length that is too small leaves a text that is cut, which is refused")
  func lengthTooSmall() async throws {
    let found = try await failure { _, _ in
      Server.answer(
        200, #"{"changes": [], "cursor": "c"}"#, headers: ["Content-Length": "12"])
    }
    guard case .malformed = found else {
      Issue.record("\(String(describing: found))")
      return
    }
  }

  @Test("nobody at the port is unavailable")
  func nobody() async throws {
    let port = try SilentPort()
    let remote = HTTPRemote(url: port.url) { _ in "secret" }
    await #expect(throws: RemoteError.unavailable("nobody accepts a connection there")) {
      try await remote.pull(Self.pull)
    }
    withExtendedLifetime(port) {}
  }

  @Test("an answer without end is broken off at the limit, and so is one that says its size")
  func tooLarge() async throws {
    var options = HTTPRemoteOptions()
    options.maximumAnswerByteCount = 1 << 20
    let hasEnded = Flag()
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    let endless = try await failure(options) { _, _ in
      [
        .send(Data((head + "\r\n").utf8)),
        .sendWithoutEnd(Data(repeating: UInt8(ascii: "["), count: 1 << 16), hasEnded),
      ]
    }
    let text = "the answer to POST pull has more than the 1048576 bytes of `maximumAnswerByteCount`"
    #expect(endless == .tooLarge(text))
    #expect(try await eventually { hasEnded.isSet })

    let hasGone = Flag()
    let announced = try await failure(options) { _, _ in
      [.send(Data((head + "Content-Length: 99999999999\r\n\r\n{").utf8)), .waitForEnd(hasGone)]
    }
    #expect(announced == .tooLarge(text))
    #expect(try await eventually { hasGone.isSet })
  }

  @Test("a server that keeps silent is left at the deadline, be it before or within its answer")
  func deadline() async throws {
    var options = HTTPRemoteOptions()
    options.deadline = .milliseconds(300)
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    for start in [[], [Server.Step.send(Data(head.utf8))]] {
      let (hasBeenAsked, hasGone) = (Flag(), Flag())
      let found = try await failure(options) { _, _ in
        hasBeenAsked.set()
        return start + [.waitForEnd(hasGone)]
      }
      #expect(found == .unavailable("POST pull had no whole answer within 0.3 seconds"))
      // On a machine that has no time for it, the request may come too late, and then nobody need leave.
      #expect(try await eventually { hasGone.isSet || !hasBeenAsked.isSet })
    }
  }

  @Test("a task that is cancelled ends the request")
  func cancellation() async throws {
    let hasGone = Flag()
    let server = try Server { _, _ in [.waitForEnd(hasGone)] }
    let remote = HTTPRemoteTests.remote(server)
    let task = Task { try await remote.pull(Self.pull) }
    #expect(try await eventually { server.requests.count == 1 })

    task.cancel()

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await eventually { hasGone.isSet })
  }
}
