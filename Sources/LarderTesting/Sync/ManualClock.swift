internal import LarderLMDB
public import LarderSync

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A clock that stands still until a test turns it.
public final class ManualClock: SyncClock {
  private struct Sleeper {
    let number: Int
    let until: Duration
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var elapsed: Duration
    var date: Date
    var number = 0
    var sleepers: [Sleeper] = []
    /// How long each sleep was to last: noted with its sleeper, so that who sees the one sees the other.
    var durations: [Duration] = []
  }

  private let state: Locked<State>
  private let sleeps = Tally<Void>()

  /// - Parameters:
  ///   - date: The time of day, which starts at the reference date.
  ///   - elapsed: What the other clock shows, as after a restart it may be anything.
  public init(
    date: Date = Date(timeIntervalSinceReferenceDate: 0), elapsed: Duration = .zero
  ) {
    state = Locked(State(elapsed: elapsed, date: date))
  }

  public var elapsed: Duration { state.withLock { $0.elapsed } }

  /// The time of day. Setting it is what a user does, and lets no time pass.
  public var date: Date {
    get { state.withLock { $0.date } }
    set { state.withLock { $0.date = newValue } }
  }

  /// How long each sleep was to last, in the order in which they began.
  public var sleepDurations: [Duration] { state.withLock { $0.durations } }
  /// How many sleep now.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Lets time pass, by both clocks, and wakes whose time has come, the earliest first.
  public func advance(by duration: Duration) {
    let woken = state.withLock { state in
      state.elapsed += duration
      state.date += duration / .seconds(1)
      let now = state.elapsed
      let woken = state.sleepers.filter { $0.until <= now }.sorted { $0.until < $1.until }
      state.sleepers.removeAll { $0.until <= now }
      return woken
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Returns when there were so many sleeps.
  public func waitForSleeps(_ count: Int) async { await sleeps.wait(for: count) }

  /// Returns when the clock was turned so far; at once where there is nothing to wait for.
  ///
  /// - Throws: `CancellationError` when the task is cancelled first.
  public func sleep(for duration: Duration) async throws {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let end: Result<Void, any Error>? = state.withLock { state in
          state.durations.append(duration)
          if Task.isCancelled { return .failure(CancellationError()) }
          // Nobody turns a clock by nothing.
          if duration <= .zero { return .success(()) }
          let until = state.elapsed + duration
          state.sleepers.append(
            Sleeper(number: number, until: until, continuation: continuation))
          return nil
        }
        sleeps.append(())
        if let end { continuation.resume(with: end) }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}
