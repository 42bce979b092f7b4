import Foundation
import LarderLMDB
import LarderRemote
import LarderTestKit
import LarderTesting

/// A sync server on this machine's loopback: the protocol over HTTP, kept by an ``InMemoryRemote``.
///
/// Its only token is `secret`.
final class LoopbackSyncServer: Sendable {
  let remote = InMemoryRemote()
  private let http: ScriptedHTTPServer

  init() throws {
    http = try ScriptedHTTPServer { [remote] request, _ in
      guard request.headers["authorization"] == "Bearer secret" else {
        return ScriptedHTTPServer.answer(
          401, #"{"error": "needs-sign-in", "message": "nobody has this token"}"#)
      }
      return Self.wait { await Self.answer(request, remote) }
    }
  }

  var address: String { http.url.absoluteString }

  /// Puts a document on the server, as somebody else's edit.
  func put(_ json: String, under key: String, in scope: String = "a") {
    remote.put(
      RemoteKey("items", key), RemoteDocument(json: Data(json.utf8)), in: scope)
  }

  /// The number of a field of a document.
  func number(_ field: String, of key: String) throws -> Int? {
    guard let document = remote.documents(in: "a")[RemoteKey("items", key)]?.document else {
      return nil
    }
    let object = try JSONSerialization.jsonObject(with: document.json) as? [String: Any]
    return object?[field] as? Int
  }

  private static func answer(
    _ request: ScriptedHTTPServer.Request, _ remote: InMemoryRemote
  ) async -> [ScriptedHTTPServer.Step] {
    let body = (try? JSONSerialization.jsonObject(with: request.body)) as? [String: Any] ?? [:]
    do {
      let answer: [String: Any]
      switch request.target {
      case "/v1/pull": answer = try await pull(body, remote)
      case "/v1/push": answer = try await push(body, remote)
      default: return ScriptedHTTPServer.answer(404, #"{"error": "malformed", "message": "?"}"#)
      }
      // In one order each time: stores name their fields in the order in which they come.
      let data = try JSONSerialization.data(withJSONObject: answer, options: .sortedKeys)
      return ScriptedHTTPServer.answer(200, String(decoding: data, as: UTF8.self))
    } catch RemoteError.forbidden(let text) {
      return ScriptedHTTPServer.answer(403, #"{"error": "forbidden", "message": "\#(text)"}"#)
    } catch {
      return ScriptedHTTPServer.answer(503, #"{"error": "unavailable", "message": "\#(error)"}"#)
    }
  }

  private static func pull(
    _ body: [String: Any], _ remote: InMemoryRemote
  ) async throws -> [String: Any] {
    let answer = try await remote.pull(
      PullRequest(
        scope: body["scope"] as? String ?? "", cursor: body["cursor"] as? String,
        limit: body["limit"] as? Int ?? 100))
    let changes = try answer.changes.map { change -> [String: Any] in
      var object: [String: Any] = [
        "collection": change.key.collection, "key": change.key.key, "revision": change.revision,
      ]
      switch change.content {
      case .document(let document): object["document"] = try Self.object(document)
      case .deleted: object["deleted"] = true
      case .left: object["left"] = true
      }
      return object
    }
    return ["changes": changes, "cursor": answer.cursor, "more": answer.hasMore]
  }

  private static func push(
    _ body: [String: Any], _ remote: InMemoryRemote
  ) async throws -> [String: Any] {
    let mutations = try (body["mutations"] as? [[String: Any]] ?? []).map { object in
      Mutation(
        id: object["id"] as? String ?? "",
        key: RemoteKey(object["collection"] as? String ?? "", object["key"] as? String ?? ""),
        base: object["base"] as? String,
        document: try object["document"].map {
          RemoteDocument(json: try JSONSerialization.data(withJSONObject: $0))
        })
    }
    let results = try await remote.push(
      PushRequest(scope: body["scope"] as? String ?? "", mutations: mutations))
    return [
      "results": try zip(mutations, results).map { mutation, result -> [String: Any] in
        switch result {
        case .accepted(let revision):
          ["id": mutation.id, "status": "accepted", "revision": revision]
        case .conflict(let version):
          [
            "id": mutation.id, "status": "conflict",
            "current": try version.map(current) ?? NSNull(),
          ]
        case .rejected(let code, let reason):
          ["id": mutation.id, "status": "rejected", "code": code, "reason": reason]
        case .retry: ["id": mutation.id, "status": "retry"]
        }
      }
    ]
  }

  private static func current(_ version: RemoteVersion) throws -> [String: Any] {
    guard let document = version.document else {
      return ["revision": version.revision, "deleted": true]
    }
    return ["revision": version.revision, "document": try object(document)]
  }

  private static func object(_ document: RemoteDocument) throws -> Any {
    try JSONSerialization.jsonObject(with: document.json)
  }

  /// The server's threads are its own, and may wait. So is the task's: its client has a deadline, and tests may
  /// block those of all other tasks for longer.
  private static func wait<Answer: Sendable>(
    _ body: @escaping @Sendable () async -> Answer
  ) -> Answer {
    let answer = Locked<Answer?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: OwnThread()) {
      let found = await body()
      answer.withLock { $0 = found }
      isDone.signal()
    }
    isDone.wait()
    return answer.withLock { $0 }!
  }
}
