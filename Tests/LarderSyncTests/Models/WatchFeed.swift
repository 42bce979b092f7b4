import Larder
import LarderLMDB

@testable import LarderTesting

/// A watch that a test feeds, in place of a repository's: each look at it is held until the test
/// says what it finds.
final class WatchFeed<Value: Sendable>: Sendable {
  private let looks = Tally<Void>()
  private let held = HeldCalls<Value?>()
  private let living = Locked(0)

  var sequence: WatchSequence<Value> {
    WatchSequence { [self] in
      let iteration = Iteration(self)
      return {
        defer { withExtendedLifetime(iteration) {} }
        return try await self.held.hold { self.looks.append(()) }
      }
    }
  }

  var lookCount: Int { looks.elements.count }
  /// Iterations that were begun and not let go of.
  var iterationCount: Int { living.withLock { $0 } }

  func waitForLooks(_ count: Int) async { await looks.wait(for: count) }

  /// Ends the look that has waited longest; nil is the end of the watch.
  func give(_ result: Result<Value?, any Error>) { held.endFirst(result) }

  private final class Iteration: Sendable {
    private let feed: WatchFeed

    init(_ feed: WatchFeed) {
      self.feed = feed
      feed.living.withLock { $0 += 1 }
    }

    deinit { feed.living.withLock { $0 -= 1 } }
  }
}
