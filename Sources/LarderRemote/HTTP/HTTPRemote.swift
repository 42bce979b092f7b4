internal import LarderLMDB

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A remote that speaks the sync protocol over HTTP: any server that follows <doc:SyncProtocol>.
///
/// ```swift
/// let remote = HTTPRemote(url: URL(string: "https://sync.example.org/v1")!) { refused in
///   try await session.token(insteadOf: refused)
/// }
/// ```
/// Cookies and caches are not used. The token goes to the origin of the address and to no other: redirects
/// elsewhere are not followed. Answers are taken in gzip where the server offers it, and read up to
/// ``HTTPRemoteOptions/maximumAnswerByteCount``.
///
/// Every call throws ``RemoteError``, or what the closure for tokens throws, or `CancellationError`.
///
/// - Note: On Linux, Foundation of Swift 6 ends the process where a server closes the connection within the head
///   of an answer, before the empty line, where trailers stand behind a chunked answer, and where `Content-Length` is
///   within 512 of 2⁶³. Nothing above a `URLSession` can keep it from that. It decompresses faster than it hands on:
///   13 MB of gzip that are 3 GB of text took 2.5 GB of memory and 18 seconds until they were broken off. Where a server
///   closes a connection that was used before instead of answering a POST, Foundation sends the head of the request again
///   and not its body, so that the request ends with ``HTTPRemoteOptions/deadline``. A `URLSession` there also polls whether it
///   may write, which keeps about 0.7 of a processor busy, while it waits for the answer to the first request of a connection, or to a body of 64 KiB
///   or more. ``push(_:)`` therefore sends smaller ones there, and ``hints(_:)`` asks for ``facts()`` first. Where
///   another request takes the connection from a stream of hints, that polls for as long as it is open:
///   ``HTTPRemoteOptions/takesHints`` turns it off.
public final class HTTPRemote: Remote {
  /// The token for the next request; nil where nobody is signed in. The argument is the token that the server
  /// has just refused, so that an app does not give it again; else nil.
  ///
  /// It is called by each request, and several may be under way: when a token expires, it may be called several times
  /// at once with the same refused one.
  public typealias Credentials = @Sendable (_ refused: String?) async throws -> String?

  let url: URL
  let options: HTTPRemoteOptions
  let transport: HTTPTransport
  private let credentials: Credentials
  /// The scheme in front of the token in `Authorization`, with its space; nil where the credentials are the whole value.
  private let scheme: String?
  let knownFacts = Locked<HTTPFacts?>(nil)

  /// A remote at the base address of the protocol. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - url: The address that `pull` and `push` stand under, with `https` or `http`.
  ///   - options: Limits and choices.
  ///   - credentials: Gives the token of each request. After a 401 it is asked once more.
  public convenience init(
    url: URL, options: HTTPRemoteOptions = HTTPRemoteOptions(),
    credentials: @escaping Credentials
  ) {
    self.init(url: url, options: options, scheme: "Bearer ", credentials: credentials)
  }

  /// - Parameter scheme: Nil where the credentials are all of `Authorization`.
  init(
    url: URL, options: HTTPRemoteOptions, scheme: String?, credentials: @escaping Credentials
  ) {
    self.scheme = scheme
    self.url = url.withSmallScheme
    self.options = options
    self.credentials = credentials
    transport = HTTPTransport()
  }

  deinit { transport.end() }

  /// Sends a request with a token, and once more with another one after a 401; the answer of status 200.
  ///
  /// - Parameter receive: Gets the bytes of the answer as they come, if it is a stream of events.
  func send(
    _ request: HTTPRequest, _ receive: HTTPExchange.Receiver? = nil
  ) async throws -> HTTPAnswer {
    let answer = try await send(request, try await token(insteadOf: nil), receive)
    guard answer.status == 401 else { return try answer.accepted(as: request.accepts) }
    let refused = answer.token
    let token = try await token(insteadOf: refused)
    // The same one would be refused again.
    guard token != refused else { throw answer.error }
    return try await send(request, token, receive).accepted(as: request.accepts)
  }

  /// Sends a request once more, for an answer that says within its body that the token is refused; nil where there is
  /// no other token.
  func send(_ request: HTTPRequest, insteadOf refused: String) async throws -> HTTPAnswer? {
    let token = try await token(insteadOf: refused)
    guard token != refused else { return nil }
    return try await send(request, token, nil).accepted(as: request.accepts)
  }

  private func token(insteadOf refused: String?) async throws -> String {
    guard let token = try await credentials(refused) else {
      throw RemoteError.needsSignIn("nobody is signed in")
    }
    // What cannot stand in a header field could begin another one.
    let first: UInt8 = scheme == nil ? 0x20 : 0x21
    guard !token.isEmpty, token.utf8.allSatisfy({ $0 >= first && $0 < 0x7F }) else {
      throw RemoteError.needsSignIn("the app's token is empty, or has characters that no token has")
    }
    return token
  }

  /// Follows redirects within the origin that keep the request.
  private func send(
    _ request: HTTPRequest, _ token: String, _ receive: HTTPExchange.Receiver?
  ) async throws -> HTTPAnswer {
    var request = request
    request.scheme = scheme ?? ""
    for _ in 0..<5 {
      let answer = try await transport.send(request, token: token, options, receive)
      guard let target = try answer.redirect(of: request) else { return answer }
      request.url = target
    }
    throw RemoteError.unavailable("the server sends from one address to the next without end")
  }

  /// - Throws: ``RemoteError/malformed(_:)`` for a base address that is not one of HTTP.
  func address(_ name: String, query: [(name: String, value: String)] = []) throws -> URL {
    guard let scheme = url.scheme?.lowercased(), scheme == "https" || scheme == "http",
      url.host() != nil
    else { throw RemoteError.malformed("\(url.absoluteString) is no address of HTTP") }
    let target = name.isEmpty ? url : url.appending(path: name)
    guard !query.isEmpty, var parts = URLComponents(url: target, resolvingAgainstBaseURL: true)
    else { return target }
    // Query items would leave a `+` as it is, which servers read as a space.
    let query = query.map { "\($0.name)=\($0.value.percentEncoded)" }
    parts.percentEncodedQuery = ([parts.percentEncodedQuery].compactMap(\.self) + query)
      .filter { !$0.isEmpty }.joined(separator: "&")
    guard let url = parts.url else {
      throw RemoteError.malformed("\(url.absoluteString) can have no query")
    }
    return url
  }
}

extension String {
  /// With every byte but letters and digits of ASCII as `%XX`.
  var percentEncoded: String {
    utf8.map { byte in
      let scalar = Unicode.Scalar(byte)
      if scalar.isASCII, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
        return String(scalar)
      }
      return (byte < 0x10 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
    }.joined()
  }
}

/// Limits and choices of an ``HTTPRemote``.
public struct HTTPRemoteOptions: Sendable, Equatable {
  /// Bytes of one answer at most, after it was decompressed. A larger one is broken off there, with
  /// ``RemoteError/tooLarge(_:)``.
  public var maximumAnswerByteCount = 32 << 20
  /// How long one request may take, from its first byte to the last byte of its answer.
  public var deadline = Duration.seconds(60)
  /// How long a stream of hints may be silent. Servers give a sign of life more often.
  public var longestSilence = Duration.seconds(90)
  /// Bytes of the body of one push, about. A larger push goes in several requests, one after the other, which are cut
  /// between its edits; one edit is never cut.
  ///
  /// There is a limit on Linux alone. A `URLSession` sends 64 KiB of a body at once there. Only where more is left does
  /// it ask whether it may write, and then goes on asking until it has the answer. Set it to `Int.max` where you want to
  /// see whether a server takes what it says.
  public var maximumPushBodyByteCount = Self.lightBodyByteCount
  /// Whether a stream of hints is opened where the server gives them. Without them the engine hears of news when its
  /// interval has passed.
  public var takesHints = true

  #if canImport(FoundationNetworking)
    private static let lightBodyByteCount = 60_000
  #else
    private static let lightBodyByteCount = Int.max
  #endif

  /// The defaults fit the reference server.
  public init() {}
}
