internal import Foundation
internal import LarderLMDB

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One request and what has come of its answer so far.
final class HTTPExchange: Sendable {
  typealias Receiver = @Sendable (Data) throws -> Void

  private struct State {
    var answer: HTTPAnswer?
    var token = ""
    var continuation: CheckedContinuation<HTTPAnswer, any Error>?
    /// What to say in place of what the session will say.
    var failure: (any Error)?
    var isOver = false
    var expiry: ContinuousClock.Instant
  }

  private let name: String
  private let maximumByteCount: Int
  private let patience: Duration
  /// Gets the bytes of an answer that is a stream of events.
  private let receive: Receiver?
  private let state: Locked<State>

  init(
    name: String, maximumByteCount: Int, patience: Duration,
    receive: Receiver?
  ) {
    self.name = name
    self.maximumByteCount = maximumByteCount
    // Behind a century no clock is reckoned with.
    self.patience = min(patience, .seconds(3_155_760_000))
    self.receive = receive
    state = Locked(State(expiry: .now + self.patience))
  }

  func begin(token: String, _ continuation: CheckedContinuation<HTTPAnswer, any Error>) {
    let failure = state.withLock { state -> (any Error)? in
      state.token = token
      if let failure = state.failure {
        state.isOver = true
        return failure
      }
      state.continuation = continuation
      return nil
    }
    if let failure { continuation.resume(throwing: failure) }
  }

  /// Notes the head of an answer; false where the rest need not come.
  @discardableResult
  func take(_ response: URLResponse) -> Bool {
    guard let response = response as? HTTPURLResponse else {
      fail(RemoteError.malformed("\(name) was answered, but not in HTTP"))
      return false
    }
    let type = response.value(forHTTPHeaderField: "Content-Type") ?? ""
    state.withLock { state in
      state.answer = HTTPAnswer(
        status: response.statusCode,
        contentType: String(type.prefix { $0 != ";" }).trimmed.lowercased(),
        retryAfter: response.value(forHTTPHeaderField: "Retry-After"),
        backoff: response.value(forHTTPHeaderField: "Backoff"),
        date: response.value(forHTTPHeaderField: "Date"),
        location: response.value(forHTTPHeaderField: "Location"), body: [], token: state.token)
    }
    if response.expectedContentLength > Int64(maximumByteCount), !isStream {
      failTooLarge()
      return false
    }
    return true
  }

  /// Takes bytes of an answer. Returns false once, with the bytes that make the exchange fail.
  func take(_ data: Data) -> Bool {
    // Data that the session has queued for its delegate still arrives. Cancelling again for each piece is slow.
    if state.withLock({ $0.failure != nil }) { return true }
    if isStream, let receive {
      state.withLock { $0.expiry = .now + patience }
      do {
        try receive(data)
        return true
      } catch {
        fail(error)
        return false
      }
    }
    let fits = state.withLock { state in
      guard state.failure == nil, let count = state.answer?.body.count,
        count + data.count <= maximumByteCount
      else { return false }
      state.answer?.body.append(contentsOf: data)
      return true
    }
    if !fits { failTooLarge() }
    return fits
  }

  /// Ends it, as the session says.
  func end(_ error: (any Error)?) {
    let (continuation, result) = state.withLock {
      state -> (CheckedContinuation<HTTPAnswer, any Error>?, Result<HTTPAnswer, any Error>) in
      state.isOver = true
      defer { state.continuation = nil }
      if let failure = state.failure { return (state.continuation, .failure(failure)) }
      // A redirect that is not followed ends as the session likes, and so does a challenge.
      if let answer = state.answer,
        error == nil || (300..<400).contains(answer.status) || answer.status == 401
      {
        return (state.continuation, .success(answer))
      }
      return (state.continuation, .failure(Self.unavailable(error, hasBegun: state.answer != nil)))
    }
    continuation?.resume(with: result)
  }

  /// Says why it ends, which the session then does; the first reason counts.
  func fail(_ error: any Error) {
    state.withLock { if $0.failure == nil, !$0.isOver { $0.failure = error } }
  }

  /// Returns when it is over, or calls `cancel` when its time is.
  func waitForExpiry(_ cancel: () -> Void) async {
    while true {
      let (expiry, isOver) = state.withLock { ($0.expiry, $0.isOver) }
      if isOver { return }
      if expiry <= .now {
        fail(RemoteError.unavailable("\(name) had no whole answer within \(patience)"))
        cancel()
        return
      }
      // Cancelled when the exchange is over.
      do { try await Task.sleep(until: expiry) } catch { return }
    }
  }

  private var isStream: Bool {
    guard receive != nil, let answer = state.withLock({ $0.answer }) else { return false }
    return answer.status == 200 && answer.contentType == "text/event-stream"
  }

  private func failTooLarge() {
    fail(
      RemoteError.tooLarge(
        "the answer to \(name) has more than the \(maximumByteCount) bytes of `maximumAnswerByteCount`"
      )
    )
  }

  private static func unavailable(_ error: (any Error)?, hasBegun: Bool) -> RemoteError {
    guard let error = error as? URLError else {
      return .unavailable(error.map { "\($0)" } ?? "there was no answer")
    }
    return switch error.code {
    case .timedOut: .unavailable("it does not answer")
    case .cannotConnectToHost: .unavailable("nobody accepts a connection there")
    case .cannotFindHost, .dnsLookupFailed: .unavailable("its name is not known")
    case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff:
      .unavailable("this device is offline")
    case .badServerResponse, .cannotParseResponse:
      .unavailable("it closed the connection, or what it answers is not HTTP")
    case .appTransportSecurityRequiresSecureConnection:
      .unavailable("App Transport Security allows only https; its exceptions are in Info.plist")
    case .networkConnectionLost where hasBegun: .unavailable("the connection broke in the answer")
    case .networkConnectionLost: .unavailable("the connection broke")
    case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      .unavailable("there is no safe connection: its certificate is not good")
    case let code:
      .unavailable(hasBegun ? "its answer breaks off (\(code.rawValue))" : "error \(code.rawValue)")
    }
  }
}

extension String {
  /// Without white space around it.
  var trimmed: String {
    var text = self[...]
    while text.first?.isWhitespace == true { text.removeFirst() }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
