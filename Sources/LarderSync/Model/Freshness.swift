#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension QueryModel {
  /// When the rows were last refreshed, by the time of day; nil for never, and for an updater without a
  /// limiter.
  public var lastRefreshed: Date? { refreshState.lastRefreshed }

  /// Why the last refresh failed; nil if it succeeded. In contrast to ``lastError`` it stays when the
  /// user has dismissed the message, for a mark that says "offline".
  public var lastFailure: (any Error)? { refreshState.lastFailure }
}

extension StreamModel {
  /// When the data were last refreshed, by the time of day; nil for never, and for an updater without a
  /// limiter.
  public var lastRefreshed: Date? { refreshState.lastRefreshed }

  /// Why the last refresh failed; nil if it succeeded. In contrast to ``lastError`` it stays when the
  /// user has dismissed the message, for a mark that says "offline".
  public var lastFailure: (any Error)? { refreshState.lastFailure }
}
