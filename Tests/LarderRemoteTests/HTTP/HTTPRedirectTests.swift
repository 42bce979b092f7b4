import Foundation
import LarderRemote
import LarderTestKit
import Testing

@Suite struct HTTPRedirectTests {
  private typealias Server = ScriptedHTTPServer

  private static let pull = PullRequest(scope: "s", limit: 10)
  private static let good = #"{"changes": [], "cursor": "c", "more": false}"#

  @Test(
    "within the origin 307 and 308 are followed, with the same body and token",
    arguments: [307, 308])
  func sameOrigin(status: Int) async throws {
    let server = try Server { request, _ in
      request.target == "/v1/pull"
        ? Server.answer(status, "", headers: ["Location": "/v2/pull"]) : Server.answer(Self.good)
    }

    let answer = try await HTTPRemoteTests.remote(server).pull(Self.pull)

    #expect(answer.cursor == "c")
    #expect(server.requests.map(\.target) == ["/v1/pull", "/v2/pull"])
    #expect(server.requests[0].body == server.requests[1].body)
    #expect(server.requests[1].method == "POST")
    #expect(server.requests[1].headers["authorization"] == "Bearer secret")
  }

  @Test(
    "another origin is not asked, by whatever status it is named",
    arguments: [301, 302, 303, 307, 308])
  func otherOrigin(status: Int) async throws {
    let other = try Server { _, _ in Server.answer(Self.good) }
    let target = other.url.absoluteString + "/pull"
    let server = try Server { _, _ in
      Server.answer(status, "", headers: ["Location": target])
    }

    await #expect(
      throws: RemoteError.unavailable(
        "it sends to another address, http://127.0.0.1:\(other.port), where the token does not go")
    ) {
      try await HTTPRemoteTests.remote(server).pull(Self.pull)
    }
    #expect(other.requests.isEmpty)
    #expect(server.requests.count == 1)
  }

  @Test(
    "another scheme, another port and another name are other origins",
    arguments: [
      "https://127.0.0.1:PORT/", "http://127.0.0.1/", "http://localhost:PORT/", "//other/",
    ])
  func origins(location: String) async throws {
    let server = try Server { request, _ in
      let port = request.headers["host"]?.split(separator: ":").last.map(String.init) ?? ""
      return Server.answer(
        307, "", headers: ["Location": location.replacingOccurrences(of: "PORT", with: port)])
    }
    let error = await #expect(throws: RemoteError.self) {
      try await HTTPRemoteTests.remote(server).pull(Self.pull)
    }
    #expect("\(try #require(error))".contains("another address"))
    #expect(server.requests.count == 1)
  }

  @Test("a redirect that would lose the body, that leads nowhere or in a circle ends the request")
  func useless() async throws {
    for (status, headers) in [
      (301, ["Location": "/v1/pull"]), (302, ["Location": "/x"]), (303, ["Location": "/x"]),
      (307, [:]),
      (308, ["Location": "/v1/pull"]),
    ] {
      let server = try Server { _, _ in Server.answer(status, "", headers: headers) }
      await #expect(throws: RemoteError.self, "\(status)") {
        try await HTTPRemoteTests.remote(server).pull(Self.pull)
      }
      #expect(server.requests.count == (status == 308 ? 5 : 1))
    }
  }
}
