import Foundation
import LarderRemote
import LarderTestKit
import Testing

@Suite(.enabled(if: LiveServer.isThere, "Tools/test-sync starts the server that these tests need"))
struct LiveServerTests {
  private let scope = LiveServer.scopes[0]
  private let name = UUID().uuidString

  private func mutation(_ key: String, _ document: String?, base: String? = nil) -> Mutation {
    Mutation(
      id: UUID().uuidString.lowercased(), key: RemoteKey("live", "\(name)/\(key)"), base: base,
      document: document.map { RemoteDocument(json: Data($0.utf8)) })
  }

  private func end(_ remote: HTTPRemote, _ cursor: String? = nil) async throws -> String {
    var cursor = cursor
    while true {
      let answer = try await remote.pull(
        PullRequest(scope: scope, cursor: cursor, limit: 5000))
      cursor = answer.cursor
      if !answer.hasMore { return answer.cursor }
    }
  }

  @Test("the real server keeps every promise")
  func conformance() async throws {
    var random = RandomSource()
    var conformance = RemoteConformance(seed: random.next())
    conformance.roundCount = 4
    conformance.patience = .seconds(600)
    let report = await conformance.check(scope: scope, otherScope: LiveServer.scopes[1]) {
      try LiveServer.remote()
    }
    #expect(report.isGood, "\(report)")
    #expect(
      report.entries.filter { if case .leftOut = $0.outcome { true } else { false } }.count == 1)
  }

  @Test("what the server says of itself is known")
  func facts() async throws {
    let facts = try await LiveServer.remote().facts()
    #expect(facts.maximumMutationCount == 1000 && facts.maximumChangeCount == 5000)
    #expect(facts.hasCount && facts.hasManifest)
    #expect(facts.maximumPushByteCount == 2 << 20)
  }

  @Test("answers come in gzip, and the limit counts what they are without")
  func compression() async throws {
    let remote = try LiveServer.remote()
    let cursor = try await end(remote)
    // 400 kB, which gzip makes into less than 20.
    let text = #"{"text":""# + String(repeating: "larder ", count: 1000) + #""}"#
    let results = try await remote.push(
      PushRequest(scope: scope, mutations: (0..<60).map { mutation("zip\($0)", text) }))
    #expect(results.count == 60)
    let request = PullRequest(scope: scope, cursor: cursor, limit: 1000)
    #expect(
      try await eventually(60) { try await remote.pull(request).changes.count >= 60 })

    // The same request by hand, to know that the server compresses it for us.
    let answer = try await raw("pull", request)
    #expect(answer.contentEncoding == "gzip")
    var options = HTTPRemoteOptions()
    options.maximumAnswerByteCount = 200_000
    let limited = try LiveServer.remote(options)
    await #expect(
      throws: RemoteError.tooLarge(
        "the answer to POST pull has more than the 200000 bytes of `maximumAnswerByteCount`")
    ) {
      try await limited.pull(request)
    }
  }

  @Test("a wrong token, a scope of others and a cursor of nobody are told as what they are")
  func refusals() async throws {
    let remote = try LiveServer.remote()
    let pull = PullRequest(scope: scope, limit: 1)
    let stranger = try LiveServer.remote(token: "nobody")
    let signIn = await #expect(throws: RemoteError.self) { try await stranger.pull(pull) }
    guard case .needsSignIn = signIn else {
      Issue.record("\(String(describing: signIn))")
      return
    }
    let forbidden = await #expect(throws: RemoteError.self) {
      try await remote.pull(PullRequest(scope: "of others", limit: 1))
    }
    guard case .forbidden = forbidden else {
      Issue.record("\(String(describing: forbidden))")
      return
    }
    let cursor = await #expect(throws: RemoteError.self) {
      try await remote.pull(PullRequest(scope: scope, cursor: "1.aaaaaaaaaaaa.1.1.1", limit: 1))
    }
    #expect(cursor == .cursorExpired)
  }

  @Test("a push gives a hint, within the stream that is open")
  func hints() async throws {
    let remote = try LiveServer.remote()
    _ = try await remote.facts()
    var hints = try #require(remote.hints(LiveServer.scopes)).makeAsyncIterator()
    let first = [try await hints.next(), try await hints.next()]
    #expect(first.compactMap(\.self).sorted() == LiveServer.scopes)

    _ = try await remote.push(
      PushRequest(scope: LiveServer.scopes[1], mutations: [mutation("hint", "{}")]))

    // Other tests push as well.
    while try await hints.next() != LiveServer.scopes[1] {}
  }

  @Test("a body that is too large is told so, and nothing of it is kept")
  func tooLarge() async throws {
    let remote = try LiveServer.remote()
    let text = #"{"a":""# + String(repeating: "x", count: 3 << 20) + #""}"#
    let mutations = (0..<6).map { mutation("large\($0)", text) }
    let error = await #expect(throws: RemoteError.self) {
      try await remote.push(PushRequest(scope: scope, mutations: mutations))
    }
    guard case .tooLarge = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }
}

extension LiveServerTests {
  private func eventually(_ count: Int, _ condition: () async throws -> Bool) async throws -> Bool {
    for _ in 0..<10 * count {
      if try await condition() { return true }
      try await Task.sleep(for: .milliseconds(100))
    }
    return false
  }

  /// The header field of an answer, asked for as Foundation does by itself.
  private func raw(
    _ path: String, _ request: PullRequest
  ) async throws -> (contentEncoding: String?, byteCount: Int) {
    let curl = Process()
    curl.executableURL = URL(filePath: "/usr/bin/env")
    let body =
      #"{"scope":"\#(request.scope)","cursor":"\#(request.cursor ?? "")","limit":\#(request.limit)}"#
    curl.arguments = [
      "curl", "--silent", "--include", "-H", "Accept-Encoding: gzip", "-H",
      "Authorization: Bearer \(LiveServer.token)", "-d", body,
      try LiveServer.url().appending(path: path).absoluteString,
    ]
    let pipe = Pipe()
    curl.standardOutput = pipe
    try curl.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    curl.waitUntilExit()
    let head = String(decoding: data.prefix(2000), as: UTF8.self).lowercased()
    return (head.contains("content-encoding: gzip") ? "gzip" : nil, data.count)
  }
}
