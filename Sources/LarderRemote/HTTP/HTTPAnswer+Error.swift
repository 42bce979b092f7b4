internal import LarderImport
internal import LarderSync

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension HTTPAnswer {
  /// The answer itself, if it has status 200 and the type that was asked for.
  ///
  /// - Throws: ``RemoteError``, as the protocol has it for each status.
  func accepted(as type: String) throws(RemoteError) -> HTTPAnswer {
    guard status == 200 else { throw error }
    guard contentType == type else {
      // Networks that want a sign-in of their own answer everything with a page.
      if contentType == "text/html" {
        throw .unavailable(
          "a web page came in place of an answer, as from a network that asks to sign in")
      }
      let found = contentType.isEmpty ? "no type" : "the type \(contentType.prefix(100))"
      throw .malformed("an answer has \(found), not \(type)")
    }
    return self
  }

  /// What a status other than 200 means.
  var error: RemoteError {
    let (code, text) = message
    return switch status {
    case 401: .needsSignIn(text)
    case 403: .forbidden(text)
    case 410: code == "cursor-expired" ? .cursorExpired : .gone(text)
    case 413: .tooLarge(text)
    // The server has no such thing, and will not have it when it is asked again.
    case 501: .malformed(text)
    case 408, 425, 429, 500...599: .unavailable(text, retryAfter: pause)
    default: .malformed(text)
    }
  }

  private var pause: Duration? {
    // Both dates are by the server's clock. That of a device may be days behind or ahead.
    let now = date.flatMap { RetryAdvice.httpDate($0) } ?? .now
    let advice = RetryAdvice(httpStatus: status, retryAfter: retryAfter, now: now)
    guard case .after(let pause) = advice else { return nil }
    return pause
  }

  /// The code and the text of an error of the protocol; of another body, such as a proxy's page, the status.
  ///
  /// PostgREST, which can serve the functions of the reference server, has the code as `message`.
  private var message: (code: String?, text: String) {
    guard contentType == "application/json",
      let root = try? JSONMessage(body, name: "the answer").root
    else { return (nil, "status \(status)") }
    let text = root["message"]?.string ?? ""
    let code = root["error"]?.string ?? text
    return (code, text.isEmpty ? "status \(status)" : String(text.prefix(500)))
  }
}
