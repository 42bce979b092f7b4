#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A request before it has a token.
struct HTTPRequest: Sendable {
  var url: URL
  /// Nil for GET.
  var body: Data?
  var accepts = "application/json"
  /// The scheme in front of the token in `Authorization`, with its space.
  var scheme = "Bearer "

  /// What errors call it.
  var name: String { (body == nil ? "GET " : "POST ") + url.lastPathComponent }
}

/// An answer of any status, whole.
struct HTTPAnswer: Sendable {
  var status: Int
  /// Without parameters, in small letters.
  var contentType: String
  var retryAfter: String?
  /// How many seconds a Kinto server asks to be left alone for, although it has answered.
  var backoff: String?
  /// When it was made, by the server's clock: the header field `Date`.
  var date: String?
  var location: String?
  var body: [UInt8]
  /// What the request was sent with.
  var token: String
}

extension HTTPAnswer {
  /// Where a redirect leads; nil where there is none.
  ///
  /// - Throws: ``RemoteError/unavailable(_:retryAfter:)`` for one that leads to another origin, as where a
  ///   network asks for a sign-in of its own, and for one that makes another request of this one.
  func redirect(of request: HTTPRequest) throws -> URL? {
    guard (300..<400).contains(status), status != 304 else { return nil }
    guard let location,
      let target = URL(string: location, relativeTo: request.url)?.absoluteURL.withSmallScheme
    else { throw RemoteError.malformed("\(request.name) was answered with \(status) to nowhere") }
    guard target.origin == request.url.origin else {
      throw RemoteError.unavailable(
        "it sends to another address, \(target.origin), where the token does not go")
    }
    guard status == 307 || status == 308 || request.body == nil else {
      throw RemoteError.malformed(
        "\(request.name) was answered with \(status), which loses the request; 307 and 308 keep it")
    }
    return target
  }
}

extension URL {
  /// The same address with the letters of its scheme small: `HTTP:` is the same, and Foundation on Linux knows no such
  /// scheme.
  var withSmallScheme: URL {
    guard let scheme, scheme != scheme.lowercased(),
      var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
    else { return self }
    parts.scheme = scheme.lowercased()
    return parts.url ?? self
  }

  /// Scheme, host and port: who would see a token.
  var origin: String {
    let scheme = self.scheme?.lowercased() ?? ""
    let port = self.port ?? (scheme == "https" ? 443 : 80)
    return "\(scheme)://\(host()?.lowercased() ?? ""):\(port)"
  }
}
