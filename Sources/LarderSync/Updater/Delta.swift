#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A page of what has changed at a remote since a moment.
public struct Delta<Content: Sendable>: Sendable {
  /// What is to be saved, and what is to be deleted if the remote says so.
  public var content: Content
  /// Stands for the moment up to which this page goes, in the remote's own terms, such as an ETag or a
  /// cursor; 256 bytes of UTF-8 at most.
  public var token: String
  /// Whether the remote has no further page.
  public var isLast: Bool

  /// What a remote has answered, and the token to ask with the next time.
  public init(_ content: Content, token: String, isLast: Bool = true) {
    self.content = content
    self.token = token
    self.isLast = isLast
  }
}

extension Delta: Equatable where Content: Equatable {}

/// What is wrong with the tokens of a remote.
public enum DeltaError: Error, Equatable {
  /// To be thrown by a fetch: the remote knows nothing of the token any more. The updater forgets it and
  /// asks again, once, with none.
  case tokenExpired
  /// A token is longer than 256 bytes, or than 255 if it begins with U+0000 or U+0001; nothing of its page was saved.
  case tokenTooLong(byteCount: Int)
  /// A page that is not the last one has the token with which it was asked for; it was saved, but there
  /// is no way on.
  case noProgress(token: String)
}

extension DeltaError: LocalizedError, CustomStringConvertible {
  public var description: String {
    switch self {
    case .tokenExpired: "the server no longer knows up to where data were fetched"
    case .tokenTooLong(let byteCount):
      "the server's token has \(byteCount) bytes; at most 256 can be kept"
    case .noProgress(let token):
      "the server says that more follows after \(token), and gives the same page again"
    }
  }

  public var errorDescription: String? { description }
}
