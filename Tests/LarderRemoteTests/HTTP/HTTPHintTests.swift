import Foundation
import LarderRemote
import LarderTestKit
import Testing

@Suite struct HTTPHintTests {
  private typealias Server = ScriptedHTTPServer

  private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

  /// A remote that knows of the server that it gives hints.
  private func remote(
    _ server: ScriptedHTTPServer, _ options: HTTPRemoteOptions = HTTPRemoteOptions()
  ) async throws -> HTTPRemote {
    let remote = HTTPRemoteTests.remote(server, options)
    _ = try await remote.facts()
    return remote
  }

  /// - Parameter hasBeenAsked: Set when hints are asked for.
  private func server(
    _ steps: [ScriptedHTTPServer.Step], hasBeenAsked: Flag = Flag()
  ) throws -> ScriptedHTTPServer {
    try Server { request, _ in
      if request.target == "/v1" {
        return Server.answer(#"{"protocol": 1, "capabilities": ["hints"]}"#)
      }
      hasBeenAsked.set()
      return steps
    }
  }

  @Test("hints come one by one, while the answer goes on")
  func incremental() async throws {
    let isRead = Flag()
    let server = try server([
      .send(Data((Self.head + ": hi\n\nevent: changed\ndata: {\"scope\": \"a+b\"}\n\n").utf8)),
      .wait(isRead),
      .send(Data("event: changed\ndata: {\"scope\": \"other\"}\n\nevent: changed\nda".utf8)),
      .send(Data("ta: {\"scope\": \"c d\"}\n\n".utf8)),
    ])
    let remote = try await remote(server)
    var hints = try #require(remote.hints(["a+b", "c d"])).makeAsyncIterator()

    #expect(try await hints.next() == "a+b")
    isRead.set()
    #expect(try await hints.next() == "c d")
    #expect(try await hints.next() == nil)
    let asked = try #require(server.requests.last)
    #expect(asked.target == "/v1/hints?scope=a%2Bb&scope=c%20d")
    #expect(asked.headers["accept"] == "text/event-stream")
  }

  @Test("hints that are not wanted are not asked for")
  func unwanted() async throws {
    var options = HTTPRemoteOptions()
    options.takesHints = false
    let server = try server([])
    #expect(try await remote(server, options).hints(["a"]) == nil)
    #expect(server.requests.count == 1)
  }

  @Test("letting go of the hints closes the connection")
  func lettingGo() async throws {
    let hasGone = Flag()
    let server = try server([
      .send(Data((Self.head + "event: changed\ndata: {\"scope\": \"a\"}\n\n").utf8)),
      .waitForEnd(hasGone),
    ])
    let remote = try await remote(server)
    for try await scope in try #require(remote.hints(["a"])) {
      #expect(scope == "a")
      break
    }
    #expect(try await eventually { hasGone.isSet })
  }

  @Test("a stream that is silent for too long breaks off")
  func silence() async throws {
    var options = HTTPRemoteOptions()
    options.longestSilence = .milliseconds(300)
    let (hasBeenAsked, hasGone) = (Flag(), Flag())
    let server = try server(
      [.send(Data(Self.head.utf8)), .waitForEnd(hasGone)], hasBeenAsked: hasBeenAsked)
    var hints = try #require(try await remote(server, options).hints(["a"])).makeAsyncIterator()
    let error = await #expect(throws: RemoteError.self) { try await hints.next() }
    guard case .unavailable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // On a busy machine the request may come too late, and then nobody need leave.
    #expect(try await eventually { hasGone.isSet || !hasBeenAsked.isSet })
  }

  @Test("a line without end breaks the stream off")
  func endlessLine() async throws {
    let hasGone = Flag()
    let server = try server([
      .send(Data(Self.head.utf8)),
      .sendWithoutEnd(Data(repeating: UInt8(ascii: "x"), count: 1 << 12), hasGone),
    ])
    var hints = try #require(try await remote(server).hints(["a"])).makeAsyncIterator()
    await #expect(throws: RemoteError.malformed("a hint has more than 65536 bytes")) {
      try await hints.next()
    }
    #expect(try await eventually { hasGone.isSet })
  }

  @Test("a stream that is refused throws what the refusal says")
  func refused() async throws {
    let server = try server(
      Server.answer(403, #"{"error": "forbidden", "message": "Not yours."}"#))
    var hints = try #require(try await remote(server).hints(["a"])).makeAsyncIterator()
    await #expect(throws: RemoteError.forbidden("Not yours.")) { try await hints.next() }
    let other = try self.server(Server.answer(200, "{}"))
    var none = try #require(try await remote(other).hints(["a"])).makeAsyncIterator()
    await #expect(throws: RemoteError.self) { try await none.next() }
  }
}
