internal import Foundation
internal import LarderLMDB

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Sends requests over a `URLSession` of its own.
struct HTTPTransport: Sendable {
  private let session: URLSession
  private let delegate: HTTPDelegate

  init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    // iOS opens four, which four pushes would take from what else is asked.
    configuration.httpMaximumConnectionsPerHost = 8
    delegate = HTTPDelegate()
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  /// A session keeps itself until it is told to end. Requests that run are cancelled.
  func end() { session.invalidateAndCancel() }

  /// The answer, of any status.
  ///
  /// - Parameter receive: Gets the bytes of a stream of events as they come; the answer is then without them.
  /// - Throws: ``RemoteError``, `CancellationError`, and what `receive` throws.
  func send(
    _ request: HTTPRequest, token: String, _ options: HTTPRemoteOptions,
    _ receive: HTTPExchange.Receiver?
  ) async throws -> HTTPAnswer {
    let exchange = HTTPExchange(
      name: request.name, maximumByteCount: options.maximumAnswerByteCount,
      patience: receive == nil ? options.deadline : options.longestSilence, receive: receive)
    return try await run(exchange, request, token)
  }

  private func run(
    _ exchange: HTTPExchange, _ request: HTTPRequest, _ token: String
  ) async throws -> HTTPAnswer {
    try Task.checkCancellation()
    var plain = URLRequest(url: request.url)
    plain.setValue(request.scheme + token, forHTTPHeaderField: "Authorization")
    plain.setValue(request.accepts, forHTTPHeaderField: "Accept")
    if let body = request.body {
      plain.httpMethod = "POST"
      plain.httpBody = body
      plain.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    // The exchange keeps the time.
    plain.timeoutInterval = 86_400
    let task = session.dataTask(with: plain)
    delegate.add(exchange, for: task)
    let watchman = Task { await exchange.waitForExpiry { task.cancel() } }
    defer { watchman.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        exchange.begin(token: token, continuation)
        task.resume()
      }
    } onCancel: {
      exchange.fail(CancellationError())
      task.cancel()
    }
  }
}

/// Hands what a session says to the exchange that it is about.
private final class HTTPDelegate: NSObject, URLSessionDataDelegate {
  private let exchanges = Locked<[Int: HTTPExchange]>([:])

  func add(_ exchange: HTTPExchange, for task: URLSessionTask) {
    exchanges.withLock { $0[task.taskIdentifier] = exchange }
  }

  private func exchange(of task: URLSessionTask) -> HTTPExchange? {
    exchanges.withLock { $0[task.taskIdentifier] }
  }

  /// Redirects are left to whoever knows where the token may go.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    exchange(of: task)?.take(response)
    completionHandler(nil)
  }

  #if canImport(FoundationNetworking)
    /// A 401 that offers Basic, or another scheme that Foundation knows. Without this, Foundation on Linux begins
    /// the request again with no credentials, and the delegate then hears nothing more of it. Cancelling ends the
    /// request with an error and without a body, so the head is noted here, and the exchange answers with that.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      if let response = task.response { exchange(of: task)?.take(response) }
      completionHandler(.cancelAuthenticationChallenge, nil)
    }
  #endif

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let goesOn = exchange(of: dataTask)?.take(response) ?? false
    completionHandler(goesOn ? .allow : .cancel)
    // On Linux `.cancel` alone does not end the request where bytes of the body have come already.
    if !goesOn { dataTask.cancel() }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if exchange(of: dataTask)?.take(data) != true { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.end(error)
  }
}
