#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What time it is, for limiters and streams; `ManualClock` in `LarderTesting` is one that tests
/// turn.
public protocol SyncClock: Sendable {
  /// How long the clock has been running: never turned back, and going on while the system sleeps.
  var elapsed: Duration { get }
  /// The time of day, which users and networks set as they like.
  var date: Date { get }

  /// Returns when the time has passed.
  ///
  /// - Throws: `CancellationError` when the task is cancelled first.
  func sleep(for duration: Duration) async throws
}

/// The system's time.
public struct SystemClock: SyncClock {
  private static let start = ContinuousClock.now

  /// The clock of the system.
  public init() {}

  public var elapsed: Duration { ContinuousClock.now - Self.start }
  public var date: Date { .now }

  /// - Throws: `CancellationError` when the task is cancelled first.
  public func sleep(for duration: Duration) async throws {
    try await ContinuousClock().sleep(for: duration)
  }
}
