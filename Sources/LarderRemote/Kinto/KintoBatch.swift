internal import LarderImport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One of the requests that go in a batch.
struct KintoCall: Sendable {
  var method = "GET"
  /// Behind `/v1`, of ASCII.
  var path: String
  var ifMatch: String?
  var ifNoneMatch: String?
  var body: [UInt8]?

  /// Writes an object, if the version on the server is this one; if it is nil, there must be no object.
  static func put(_ path: String, _ body: [UInt8], over revision: String? = nil) -> KintoCall {
    KintoCall(
      method: "PUT", path: path, ifMatch: revision.map { "\"\($0)\"" },
      ifNoneMatch: revision == nil ? "*" : nil, body: body)
  }

  /// Whether a response that has this path, which the server writes with the version of its API in front, is for this
  /// request.
  fileprivate func isAnswered(from path: String) -> Bool {
    func plain(_ path: some StringProtocol) -> Substring {
      let end = path.firstIndex(of: "?") ?? path.endIndex
      return Substring(path[..<end]).trimmingSlashes
    }
    return plain(path).hasSuffix(plain(self.path))
  }

  fileprivate func add(to text: inout [UInt8]) {
    var head = RequestText()
    head.open()
    head.add("method", method)
    head.add("path", path)
    head.open("headers")
    if let ifMatch { head.add("If-Match", ifMatch) }
    if let ifNoneMatch { head.add("If-None-Match", ifNoneMatch) }
    head.close()
    text += head.bytes
    if let body { text += Array(#","body":"#.utf8) + body }
    text.append(UInt8(ascii: "}"))
  }

  static func body(of calls: [KintoCall]) -> Data {
    var text = Array(#"{"requests":["#.utf8)
    for (index, call) in calls.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      call.add(to: &text)
    }
    return Data(text + Array("]}".utf8))
  }
}

/// The answer to a batch.
struct KintoBatch {
  var replies: [KintoReply]
  /// Seconds since 1970, by the server's clock.
  var time: Int

  /// - Throws: ``RemoteError/malformed(_:)``.
  init(_ answer: HTTPAnswer, to calls: [KintoCall], time: Int) throws {
    let (reader, envelope) = try Self.read(answer.body, "the answer to a batch")
    let nodes = try reader.elements(of: "responses")
    guard nodes.count == calls.count else {
      throw reader.malformed("has \(nodes.count) responses for \(calls.count) requests")
    }
    replies = try zip(nodes, calls).map { node, call in
      guard let status = node["status"]?.integer else {
        throw reader.malformed("has no `status` for \(call.path)")
      }
      if let path = node["path"]?.string, !call.isAnswered(from: path) {
        throw reader.malformed("has the response of another request, \(path.prefix(200))")
      }
      return KintoReply(status: status, node: node, path: call.path, envelope: envelope)
    }
    self.time = time
  }

  private static func read(
    _ bytes: [UInt8], _ name: String
  ) throws -> (AnswerReader, KintoEnvelope?) {
    do {
      return (try AnswerReader(bytes, name), nil)
    } catch {
      guard let envelope = KintoEnvelope(bytes),
        let reader = try? AnswerReader(envelope.bytes, name)
      else { throw error }
      return (reader, envelope)
    }
  }
}

/// The answer to one of the requests of a batch.
struct KintoReply {
  var status: Int
  fileprivate var node: JSONMessage.Node
  fileprivate var path: String
  /// Where the records of lists are; nil where they stand in the answer itself.
  fileprivate var envelope: KintoEnvelope?

  private func field(_ name: StaticString) -> String? { node["headers"]?[name]?.string }

  var etag: Int? { field("ETag").flatMap { Self.number($0.filter { $0 != "\"" }) } }
  var totalCount: Int? { field("Total-Records").flatMap { Self.number($0) } }

  /// Nil for what nobody can reckon with.
  private static func number(_ text: String) -> Int? {
    Int(text).flatMap { KintoCursor.numbers.contains($0) ? $0 : nil }
  }

  /// The token of the next page. Of its address nothing else is used: it may lead to another server.
  var nextToken: String? {
    guard let address = field("Next-Page") else { return nil }
    let token = URLComponents(string: address)?.queryItems?.first { $0.name == "_token" }?.value
    // It stands in the cursor, which is kept.
    return token.flatMap { $0.utf8.count <= 4096 ? $0 : nil }
  }

  var hasNextPage: Bool { field("Next-Page") != nil }

  /// The records of a list.
  ///
  /// - Throws: ``RemoteError/malformed(_:)``.
  func records() throws -> [KintoRecord] {
    guard let elements = node["body"]?["data"]?.elements else {
      throw RemoteError.malformed("a list of Kinto's, \(path.prefix(200)), has no `data`")
    }
    return try elements.map { try envelope?.record($0) ?? KintoRecord($0) }
  }

  /// `last_modified` of the one object that was asked for or written; nil where there is none.
  var time: Int? { node["body"]?["data"]?["last_modified"]?.integer }

  /// A member of that object.
  func member(_ name: StaticString) -> JSONMessage.Node? { node["body"]?["data"]?[name] }

  /// Kinto's text for an error.
  var text: String {
    let body = node["body"]
    let text = body?["message"]?.string ?? body?["error"]?.string ?? ""
    return text.isEmpty ? "status \(status)" : String(text.prefix(500))
  }

  private var pause: Duration? {
    field("Retry-After").flatMap { Int($0) }.map { .seconds(max(0, min($0, 86_400))) }
  }

  /// What a status means that none of the callers has expected.
  var error: RemoteError {
    switch status {
    case 401: .needsSignIn(text)
    case 403: .forbidden(text)
    case 410: .gone(text)
    case 413: .tooLarge(text)
    case 408, 409, 425, 429, 500...599:
      .unavailable(text, retryAfter: pause)
    default: .malformed("Kinto answers \(status) to \(path.prefix(200)): \(text)")
    }
  }
}

extension Substring {
  /// Without slashes at the end.
  fileprivate var trimmingSlashes: Substring {
    var text = self
    while text.last == "/" { text.removeLast() }
    return text
  }
}
