#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How fresh the stored data are.
public struct RefreshState: Sendable {
  /// When a refresh last succeeded, by the time of day; nil for never.
  public var lastRefreshed: Date?
  /// Whether a refresh is under way, whoever asked for it.
  public var isRefreshing: Bool
  /// Why the last refresh failed; nil if it succeeded.
  public var lastFailure: (any Error)?

  /// A state, such as a preview or a test shows.
  public init(
    lastRefreshed: Date? = nil, isRefreshing: Bool = false, lastFailure: (any Error)? = nil
  ) {
    self.lastRefreshed = lastRefreshed
    self.isRefreshing = isRefreshing
    self.lastFailure = lastFailure
  }
}

extension RefreshState: Equatable {
  /// Failures are equal when they say the same.
  public static func == (left: Self, right: Self) -> Bool {
    left.lastRefreshed == right.lastRefreshed && left.isRefreshing == right.isRefreshing
      && left.lastFailure.map { "\($0)" } == right.lastFailure.map { "\($0)" }
  }
}
