internal import LarderImport
internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension HTTPRemote {
  /// What `GET` of the base address says; what every remote can do where the server has no such page.
  ///
  /// - Throws: ``RemoteError/gone(_:)`` where the server speaks a later protocol than this library.
  public func facts() async throws -> RemoteFacts {
    let answer: HTTPAnswer
    do {
      answer = try await send(HTTPRequest(url: try address("")))
    } catch RemoteError.malformed {
      // It is optional: 404 and 405 say so.
      knownFacts.withLock { $0 = HTTPFacts() }
      return RemoteFacts()
    }
    let facts = try HTTPFacts(try AnswerReader(answer, "the facts"))
    knownFacts.withLock { $0 = facts }
    return facts.facts
  }

  public func pull(_ request: PullRequest) async throws -> PullAnswer {
    var body = RequestText()
    body.open()
    body.add("scope", request.scope)
    body.add("cursor", request.cursor)
    body.add("limit", request.limit)
    body.close()
    let answer = try await post("pull", body)
    return try PullAnswer(try AnswerReader(answer, "the answer to a pull"), to: request)
  }

  /// Sends edits.
  ///
  /// A document that is no JSON object would spoil the request for all others. It is not sent, and its result is
  /// ``PushResult/rejected(code:reason:)`` with the code `malformed`.
  public func push(_ request: PushRequest) async throws -> [PushResult] {
    var results = request.mutations.map(Self.refusal)
    let sent = results.indices.filter { results[$0] == nil }
    var body = RequestText()
    body.open()
    body.add("scope", request.scope)
    body.addArray("mutations", sent) { body, index in
      body.add(request.mutations[index])
    }
    body.close()
    let answer = try await post("push", body)
    let reader = try AnswerReader(answer, "the answer to a push")
    let answered = try PushResult.all(reader, to: sent.map { request.mutations[$0] })
    for (index, result) in zip(sent, answered) { results[index] = result }
    return results.compactMap(\.self)
  }

  private static func refusal(_ mutation: Mutation) -> PushResult? {
    mutation.document?.fault.map { .rejected(code: "malformed", reason: $0) }
  }

  public func count(_ scope: String) async throws -> Int? {
    var body = RequestText()
    body.open()
    body.add("scope", scope)
    body.close()
    let reader = try AnswerReader(try await post("count", body), "the answer to a count")
    let count = try reader.count(of: "count", in: reader.root)
    return try reader.bool(of: "settled", in: reader.root) ? count : nil
  }

  public func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    var body = RequestText()
    body.open()
    body.add("scope", request.scope)
    if let after = request.after {
      body.open("after")
      body.add("collection", after.collection)
      body.add("key", after.key)
      body.close()
    }
    body.add("limit", request.limit)
    body.close()
    let reader = try AnswerReader(try await post("manifest", body), "the answer to a manifest")
    return try ManifestAnswer(reader)
  }

  private func post(_ name: String, _ body: consuming RequestText) async throws -> HTTPAnswer {
    try await send(HTTPRequest(url: try address(name), body: Data(body.bytes)))
  }
}
