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
    let facts = try await foundFacts() ?? HTTPFacts()
    knownFacts.withLock { $0 = facts }
    return facts.facts
  }

  /// Nil where the server has no such page. It is optional, and whoever does not know it answers with 404, 405, 501
  /// or 403, or with JSON of another kind. What a web page says, a network that asks to sign in may have said.
  private func foundFacts() async throws -> HTTPFacts? {
    let answer: HTTPAnswer
    do {
      answer = try await send(HTTPRequest(url: try address("")))
    } catch RemoteError.malformed {
      return nil
    } catch RemoteError.forbidden {
      return nil
    }
    let reader = try AnswerReader(answer, "the facts")
    return reader.root["protocol"] == nil ? nil : try HTTPFacts(reader)
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
  /// ``PushResult/rejected(code:reason:)`` with the code `malformed`. Edits of more bytes than
  /// ``HTTPRemoteOptions/maximumPushBodyByteCount`` go in several requests. Where one of them fails this throws, as if
  /// none had an answer: all may be sent again.
  public func push(_ request: PushRequest) async throws -> [PushResult] {
    var results = request.mutations.map(Self.refusal)
    let sent = request.mutations.indices.filter { results[$0] == nil }
    for part in parts(sent, of: request.mutations) {
      let mutations = part.map { request.mutations[$0] }
      var body = RequestText()
      body.open()
      body.add("scope", request.scope)
      body.addArray("mutations", mutations) { body, mutation in
        body.add(mutation)
      }
      body.close()
      let answer = try await post("push", body)
      let reader = try AnswerReader(answer, "the answer to a push")
      let answered = try PushResult.all(reader, to: mutations)
      for (index, result) in zip(part, answered) { results[index] = result }
    }
    return results.compactMap(\.self)
  }

  /// The mutations of each request. There is one at least, as the server says more than results.
  private func parts(_ sent: [Int], of mutations: [Mutation]) -> [ArraySlice<Int>] {
    var parts: [ArraySlice<Int>] = []
    var (start, byteCount) = (0, 0)
    for (place, index) in sent.enumerated() {
      let added = mutations[index].approximateByteCount
      if place > start, byteCount > options.maximumPushBodyByteCount - added {
        parts.append(sent[start..<place])
        (start, byteCount) = (place, 0)
      }
      byteCount += added
    }
    return parts + [sent[start...]]
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

extension Mutation {
  /// About as many bytes as it has in a request.
  fileprivate var approximateByteCount: Int {
    // The names of the members, and an id.
    120 + key.collection.utf8.count + key.key.utf8.count + (base?.utf8.count ?? 0)
      + (document?.json.count ?? 0)
  }
}
