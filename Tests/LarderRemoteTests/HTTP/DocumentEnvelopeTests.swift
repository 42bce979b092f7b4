import Foundation
import Larder
import LarderRemote
import LarderSync
import LarderTestKit
import LarderTesting
import Testing

/// Answers of which one document cannot be read.
@Suite struct DocumentEnvelopeTests {
  private typealias Server = ScriptedHTTPServer

  private static let deep =
    #"{"id":"deep","x":"# + String(repeating: "[", count: 127) + String(repeating: "]", count: 127)
    + "}"
  private static let spoiled = [
    #"{"id":"twice","x":1,"x":2}"#, deep, #"{"id":"half","x":"\ud800"}"#,
    #"{"id":"no","x":nonsense, "document": {"y": "}\""} }"#, #"{"id":"cut" "x"}"#,
  ]

  private static func answer(_ documents: [String]) -> [Server.Step] {
    let changes = documents.enumerated().map { index, document in
      #"{"document" : \#(document),"collection":"items","key":"\#(index)","revision":"r\#(index)"}"#
    }
    return Server.answer(
      #"{"changes": [\#(changes.joined(separator: ", "))], "cursor": "c", "more": false}"#)
  }

  @Test("every document comes as it is written, whatever another one is")
  func pull() async throws {
    let good = #"{"id" : "good", "document": {"x": [{}]}}"#
    let documents = [good] + Self.spoiled + [good]
    let server = try Server { _, _ in Self.answer(documents) }

    let answer = try await HTTPRemoteTests.remote(server).pull(
      PullRequest(scope: "s", cursor: nil, limit: 10))

    #expect(
      answer.changes.map(\.content)
        == documents.map { .document(RemoteDocument(json: Data($0.utf8))) })
    #expect(answer.changes.map(\.key.key) == documents.indices.map { "\($0)" })
  }

  @Test("the version in a conflict, too")
  func push() async throws {
    for document in Self.spoiled {
      let server = try Server { _, _ in
        Server.answer(
          #"{"results": [{"status": "conflict", "current": {"revision": "r", "document": \#(document)}}]}"#
        )
      }
      let mutation = Mutation(
        id: "a", key: RemoteKey("items", "1"), base: nil,
        document: RemoteDocument(json: Data("{}".utf8)))

      let results = try await HTTPRemoteTests.remote(server).push(
        PushRequest(scope: "s", mutations: [mutation]))

      guard case .conflict(let version)? = results.first else {
        Issue.record("\(results)")
        continue
      }
      #expect(version?.document?.json == Data(document.utf8))
    }
  }

  @Test(
    "an answer that ends inside of a document, or is itself no JSON, is malformed",
    arguments: [
      #"{"changes": [{"document": {"x": "}"#, #"{"changes": [{"document": {"x": 1}"#,
      #"{"changes": [{"document": {}, "key"}], "cursor": "c"}"#,
      #"{"changes": [{"document": {"x": no}}], "cursor": "c", "cursor": "d"}"#,
      #"{"changes": [{"document": "\ud800"}], "cursor": "c"}"#, "\"document\":{", "",
    ])
  func malformed(_ body: String) async throws {
    let server = try Server { _, _ in Server.answer(body) }

    let error = await #expect(throws: RemoteError.self) {
      try await HTTPRemoteTests.remote(server).pull(
        PullRequest(scope: "s", cursor: nil, limit: 10))
    }

    let isMalformed = if case .malformed? = error { true } else { false }
    #expect(isMalformed)
  }

  @Test("an engine saves the others, and lists what it could not save")
  func engine() async throws {
    let server = try Server { request, _ in
      request.target.hasSuffix("pull")
        ? Self.answer([#"{"id":"0","x":[1]}"#] + Self.spoiled.map { $0 })
        : Server.answer(#"{"protocol": 1}"#)
    }
    let store = try Store.temporary()
    let engine = try SyncEngine(
      store, remote: HTTPRemoteTests.remote(server),
      collections: [SyncedCollection("items", keyField: "id")], scopes: ["s"], account: "me",
      interval: .zero)

    try await engine.sync(.afterNow)

    #expect(try store.collection("items").count() == 1)
    #expect(try Set(engine.refused().map(\.key.key)) == ["1", "2", "3", "4", "5"])
    #expect(engine.currentState.phase == .idle)
    try verifyAndClose(store)
  }
}
