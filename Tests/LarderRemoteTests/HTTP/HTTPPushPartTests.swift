import Foundation
import LarderRemote
import LarderTestKit
import Testing

@Suite struct HTTPPushPartTests {
  private typealias Server = ScriptedHTTPServer

  private func remote(_ server: ScriptedHTTPServer) -> HTTPRemote {
    var options = HTTPRemoteOptions()
    options.maximumPushBodyByteCount = 60_000
    return HTTPRemoteTests.remote(server, options)
  }

  private func mutation(_ number: Int, byteCount: Int) -> Mutation {
    Mutation(
      id: "\(number)", key: RemoteKey("c", "\(number)"), base: nil,
      document: RemoteDocument(
        json: Data(#"{"a":"\#(String(repeating: "x", count: byteCount))"}"#.utf8)))
  }

  /// Accepts everything, under the mutation's own id.
  private static func accept(_ body: Data) -> [Server.Step] {
    let request = try? JSONSerialization.jsonObject(with: body) as? [String: Any]
    let ids = (request?["mutations"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    let results = ids.map { #"{"id": "\#($0)", "status": "accepted", "revision": "r\#($0)"}"# }
    return Server.answer(#"{"results": [\#(results.joined(separator: ", "))]}"#)
  }

  @Test("a large push goes in requests of less than 64 KiB, with its results in their order")
  func parts() async throws {
    let server = try Server { request, _ in Self.accept(request.body) }
    // The third fits into no light request, and the last is none.
    var mutations = (0..<40).map { mutation($0, byteCount: $0 == 2 ? 100_000 : 4000) }
    mutations[39].document = RemoteDocument(json: Data("[]".utf8))

    let results = try await remote(server).push(
      PushRequest(scope: "s", mutations: mutations))

    #expect(results.prefix(39) == (0..<39).map { .accepted(revision: "r\($0)") }[...])
    guard case .rejected("malformed", _)? = results.last else {
      Issue.record("\(results)")
      return
    }
    let counts = server.requests.map(\.body.count)
    #expect(counts.count == 5)
    #expect(counts.filter { $0 >= 65_536 }.count == 1)
  }

  @Test("where one of the requests fails, the push fails, and comes again under the same ids")
  func failing() async throws {
    let server = try Server { request, number in
      number == 2 ? Server.answer(503, "not now") : Self.accept(request.body)
    }
    let remote = self.remote(server)
    let request = PushRequest(
      scope: "s", mutations: (0..<20).map { mutation($0, byteCount: 6000) })

    await #expect(throws: RemoteError.self) { try await remote.push(request) }
    #expect(server.requests.count == 2)
    let results = try await remote.push(request)

    #expect(results == (0..<20).map { .accepted(revision: "r\($0)") })
    #expect(server.requests[2].body == server.requests[0].body)
  }

  @Test("a push without edits is still asked, as the answer says more than results")
  func empty() async throws {
    let server = try Server { request, _ in Self.accept(request.body) }

    #expect(
      try await remote(server).push(PushRequest(scope: "s", mutations: [])) == [])
    #expect(server.requests.count == 1)
  }
}
