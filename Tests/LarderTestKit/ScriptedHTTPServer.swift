package import Foundation
import LarderLMDB

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A server on this machine's loopback that answers in the bytes that a test says, be they HTTP or not.
///
/// Each connection has a thread of its own and serves one request. Port and threads go when the server goes.
package final class ScriptedHTTPServer: Sendable {
  /// What came.
  package struct Request: Sendable {
    package var method = ""
    package var target = ""
    /// Names in small letters.
    package var headers: [String: String] = [:]
    package var body = Data()
  }

  /// One step of an answer.
  package enum Step: Sendable {
    case send(Data)
    /// Waits until the flag is set, or the client has gone.
    case wait(Flag)
    /// Waits until the client has gone, which sets the flag.
    case waitForEnd(Flag)
    /// Sends the same piece again and again until the client has gone, and then sets the flag.
    case sendWithoutEnd(Data, Flag)
  }

  package typealias Script = @Sendable (Request, _ number: Int) -> [Step]

  package let port: UInt16
  private let socket: Int32
  private let script: Script
  private let received = Locked<[Request]>([])

  /// Listens, at a port that was free.
  package init(_ script: @escaping Script) throws {
    self.script = script
    signal(SIGPIPE, SIG_IGN)
    (socket, port) = try boundSocket()
    let socket = socket
    guard listen(socket, 64) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    let thread = Thread { [weak self] in
      while true {
        let connection = accept(socket, nil, nil)
        guard connection >= 0 else {
          if errno == EINTR || errno == ECONNABORTED { continue }
          // Here and nowhere else: a number that is free is given to the next server at once, whose
          // connections this thread would take.
          close(socket)
          return
        }
        guard let self else {
          close(connection)
          return
        }
        let server = self
        Thread { server.serve(connection) }.start()
      }
    }
    thread.start()
  }

  deinit { shutdown(socket, Int32(SHUT_RDWR)) }

  package var url: URL { URL(string: "http://127.0.0.1:\(port)/v1")! }

  /// What has come so far.
  package var requests: [Request] { received.withLock { $0 } }

  /// An answer of status 200 in JSON, with a length.
  package static func answer(_ body: String) -> [Step] { answer(200, body) }

  /// An answer with a length.
  package static func answer(
    _ status: Int, _ body: String, type: String? = "application/json",
    headers: [String: String] = [:]
  ) -> [Step] {
    answer(status, Data(body.utf8), type: type, headers: headers)
  }

  /// An answer with a length.
  package static func answer(
    _ status: Int, _ body: Data, type: String? = "application/json",
    headers: [String: String] = [:]
  ) -> [Step] {
    var head = "HTTP/1.1 \(status) Said\r\nConnection: close\r\n"
    if let type { head += "Content-Type: \(type)\r\n" }
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if headers["Content-Length"] == nil { head += "Content-Length: \(body.count)\r\n" }
    return [.send(Data((head + "\r\n").utf8) + body)]
  }

  private func serve(_ connection: Int32) {
    defer { close(connection) }
    guard let request = read(connection) else { return }
    let number = received.withLock { received in
      received.append(request)
      return received.count
    }
    for step in script(request, number) {
      switch step {
      case .send(let data): guard write(data, connection) else { return }
      case .wait(let flag): while !flag.isSet, !hasGone(connection) { usleep(1_000) }
      case .waitForEnd(let flag):
        while !hasGone(connection) { usleep(1_000) }
        flag.set()
      case .sendWithoutEnd(let data, let flag):
        // At the speed of a network. Over loopback, Foundation on Linux reads faster than it hands on what it
        // has read: gigabytes would be queued before the client can cancel.
        while write(data, connection) { usleep(1_000) }
        flag.set()
      }
    }
  }

  private func hasGone(_ connection: Int32) -> Bool {
    var byte: UInt8 = 0
    let count = recv(connection, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count == 0 || count < 0 && errno != EAGAIN
  }

  private func write(_ data: Data, _ connection: Int32) -> Bool {
    var rest = data[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, 0) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private func read(_ connection: Int32) -> Request? {
    var bytes = Data()
    var request: Request?
    var length = 0
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      if request == nil, let end = bytes.range(of: Data("\r\n\r\n".utf8)) {
        let head = parse(String(decoding: bytes[..<end.lowerBound], as: UTF8.self))
        length = head.headers["content-length"].flatMap { Int($0) } ?? 0
        request = head
        bytes = Data(bytes[end.upperBound...])
        if head.headers["expect"] != nil {
          _ = write(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8), connection)
        }
      }
      if var request, bytes.count >= length {
        request.body = bytes
        return request
      }
      let count = recv(connection, &piece, piece.count, 0)
      guard count > 0 else { return nil }
      bytes.append(contentsOf: piece[..<count])
    }
  }

  private func parse(_ head: String) -> Request {
    let lines = head.components(separatedBy: "\r\n")
    let words = (lines.first ?? "").split(separator: " ").map(String.init)
    var request = Request()
    if words.count > 1 { (request.method, request.target) = (words[0], words[1]) }
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      request.headers[line[..<colon].lowercased()] = line[line.index(after: colon)...]
        .trimmingCharacters(in: .whitespaces)
    }
    return request
  }
}
