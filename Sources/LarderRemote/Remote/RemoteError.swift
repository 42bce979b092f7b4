#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why a remote gave no answer, as far as the engine treats it.
public enum RemoteError: Error, Sendable, Equatable {
  /// It cannot be reached, or cannot answer now. The engine tries again, not before `retryAfter` if the remote
  /// says so.
  case unavailable(String, retryAfter: Duration? = nil)
  /// It wants a (new) token. Edits are kept.
  case needsSignIn(String)
  /// This user may not use this scope. Edits are kept.
  case forbidden(String)
  /// It can no longer tell what was deleted behind the cursor: the engine begins anew, and keeps its edits.
  case cursorExpired
  /// The request was too large, or the answer to it: the engine sends, or asks for, less at once.
  case tooLarge(String)
  /// The remote does not exist any more, or not for this version of the app.
  case gone(String)
  /// The request or the answer is against the protocol: a fault in a program.
  case malformed(String)
}

extension RemoteError: CustomStringConvertible, LocalizedError {
  public var description: String {
    switch self {
    case .unavailable(let text, let pause):
      pause.map { "the server has no answer now: \(text); it asks to wait \($0)" }
        ?? "the server cannot be reached or has no answer: \(text)"
    case .needsSignIn(let text): "the server asks for a sign-in: \(text)"
    case .forbidden(let text): "the server does not allow this: \(text)"
    case .cursorExpired: "the server no longer knows the cursor; everything is loaded anew"
    case .tooLarge(let text): "too much at once: \(text)"
    case .gone(let text): "the server is no longer there: \(text)"
    case .malformed(let text): "the server and this program do not understand each other: \(text)"
    }
  }

  public var errorDescription: String? { description }
}
