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

extension EarlierFailure: LocalizedError {
  public var errorDescription: String? { description }
}
