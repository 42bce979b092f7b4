import Foundation
import LarderLMDB
import LarderRemote
import LarderTestKit

/// A Kinto that answers batches as a test says.
final class ScriptedKinto: Sendable {
  /// A request of a batch.
  struct Call {
    var method = ""
    var path = ""
    var headers: [String: String] = [:]
    var data: [String: Any] = [:]

    /// The value of something in the query.
    func query(_ name: String) -> String? {
      URLComponents(string: path)?.queryItems?.first { $0.name == name }?.value
    }
  }

  /// The answer to a request of a batch.
  struct Reply {
    var status = 200
    var body = "{}"
    var headers: [String: String] = [:]
    /// Nil for that of the request.
    var path: String?
    /// Whether the batch has this answer, and no others.
    var isWhole = false

    static func list(_ records: String, etag: Int, nextPage: String? = nil) -> Reply {
      var reply = Reply(body: #"{"data":[\#(records)]}"#, headers: ["ETag": "\"\(etag)\""])
      reply.headers["Next-Page"] = nextPage
      return reply
    }

    static func object(_ time: Int, status: Int = 200) -> Reply {
      Reply(status: status, body: #"{"data":{"id":"x","last_modified":\#(time)}}"#)
    }

    static func failure(_ status: Int) -> Reply {
      Reply(status: status, body: #"{"code":\#(status),"message":"said \#(status)"}"#)
    }

    fileprivate func json(_ asked: String) -> String {
      let fields = headers.map { "\"\($0)\":\($1.debugDescription)" }.joined(separator: ",")
      return
        #"{"status":\#(status),"path":"\#(path ?? "/v1\(asked)")","headers":{\#(fields)},"body":\#(body)}"#
    }
  }

  let server: ScriptedHTTPServer

  /// - Parameter script: Gets the number of each batch, from 1, and its requests.
  init(
    headers: [String: String] = [:],
    _ script: @escaping @Sendable (_ number: Int, [Call]) -> [Reply]
  ) throws {
    let count = Locked(0)
    server = try ScriptedHTTPServer { request, _ in
      if request.target == "/v1/" {
        return ScriptedHTTPServer.answer(
          #"{"http_api_version":"1.23","settings":{"batch_max_requests":25}}"#)
      }
      let number = count.withLock { count in
        count += 1
        return count
      }
      let calls = Self.calls(request.body)
      let script = Self.replies(script(number, calls), to: calls)
      if let whole = script.first, whole.isWhole {
        return ScriptedHTTPServer.answer(whole.status, whole.body, headers: whole.headers)
      }
      let replies = script.enumerated().map { place, reply in
        reply.json(place < calls.count ? calls[place].path : "/")
      }
      return ScriptedHTTPServer.answer(
        200, #"{"responses":[\#(replies.joined(separator: ","))]}"#,
        headers: headers.merging(["Date": "Sun, 01 Mar 2026 09:30:00 GMT"]) { given, _ in given })
    }
  }

  /// The answers of a script, and those for collections that it does not speak of: they are there.
  private static func replies(_ script: [Reply], to calls: [Call]) -> [Reply] {
    guard script.count < calls.count, script.first?.isWhole != true else { return script }
    var rest = script[...]
    return calls.compactMap { call in
      call.method == "GET" && !call.path.contains("/records") ? .object(1) : rest.popFirst()
    }
  }

  private static func calls(_ body: Data) -> [Call] {
    let batch = try? JSONSerialization.jsonObject(with: body) as? [String: Any]
    return (batch?["requests"] as? [[String: Any]] ?? []).map { request in
      Call(
        method: request["method"] as? String ?? "", path: request["path"] as? String ?? "",
        headers: request["headers"] as? [String: String] ?? [:],
        data: (request["body"] as? [String: Any])?["data"] as? [String: Any] ?? [:])
    }
  }

  func remote(_ overlap: Duration = .zero) -> KintoRemote {
    var options = KintoRemoteOptions()
    options.overlap = overlap
    return KintoRemote(url: server.url, collections: ["c"], options: options) { refused in
      refused == nil ? "Basic one" : "Basic two"
    }
  }
}
