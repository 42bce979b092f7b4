internal import LarderLMDB

/// Says when the store is closed that a watch looks at, for whoever waits for something else after the watch
/// has failed: that it was closed would show with the next look only.
package final class WatchClosing: Sendable {
  @TaskLocal private static var current: WatchClosing?

  private let seat = Locked<WatchSeat?>(nil)

  /// Knows of no store.
  package init() {}

  /// Runs a step of a watch, whose store is waited for from then on.
  ///
  /// - Throws: What `step` throws.
  package func noting<Result>(_ step: () async throws -> Result) async rethrows -> Result {
    try await Self.$current.withValue(self, operation: step)
  }

  /// A watcher of the current task sits here.
  static func note(_ seat: WatchSeat) { current?.seat.withLock { $0 = seat } }

  /// Whether there is a store whose end can be waited for: not where the watch is none of a store.
  package var isKnown: Bool { seat.withLock { $0 } != nil }

  /// Returns when the store was closed, or the task is cancelled. The iteration must be kept until then: its
  /// seat is told of nothing once it is released.
  package func wait() async {
    guard let seat = seat.withLock({ $0 }) else { return }
    while !Task.isCancelled, seat.take() != nil { await seat.wait() }
  }
}
