#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A refresh that failed before this process began, or in another process, and that is not tried again
/// yet. The store keeps when that was and what kind of error it was; its text is kept nowhere, as it may
/// hold what the remote sent.
public struct EarlierFailure: Error, Equatable, CustomStringConvertible {
  /// The type of the error, such as `URLError`.
  public let kind: String
  /// When the refresh failed, by the time of day.
  public let date: Date

  /// A failure of which only its kind and its time are known.
  public init(kind: String, date: Date) {
    self.kind = kind
    self.date = date
  }

  public var description: String {
    "the last refresh failed (\(kind)) and is tried again later; pull to refresh to try at once"
  }
}

/// A fetch that has thrown `CancellationError` although nobody has cancelled it by its limiter: something of its
/// own was cancelled, such as a task that it had started, or a connection. It counts as a failure and is tried
/// again.
public struct FetchInterrupted: Error, Equatable, CustomStringConvertible {
  /// An interruption, such as a preview or a test shows.
  public init() {}

  public var description: String { "the refresh was interrupted before it was complete" }
}

extension FetchInterrupted: LocalizedError {
  public var errorDescription: String? { description }
}

extension EarlierFailure: LocalizedError {
  public var errorDescription: String? { description }
}
