internal import Larder
internal import LarderLMDB

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

// What streams ask a limiter: when to refresh again, and how fresh the data are.

extension FetchLimiter {
  /// How fresh the data are. Where the store cannot be read, as while it is suspended, what was known last.
  public var refreshState: RefreshState {
    state.withLock { state in
      if let standing = try? state.interval.standing() { state.shown = standing }
      let standing = state.shown
      return RefreshState(
        lastRefreshed: standing.success.map { Date(timeIntervalSinceReferenceDate: $0) },
        isRefreshing: state.line.flight != nil, lastFailure: standing.failure?.error)
    }
  }

  /// How fresh the data are: now, and after every change that this limiter has a part in. Whoever is
  /// slow gets the latest. Each call begins an observation of its own, which ends with its task.
  public func refreshStates() -> some AsyncSequence<RefreshState, Never> & Sendable {
    news(startingAtOnce: true).map { [self] _ in refreshState }
  }

  /// Returns when a stream should sync: when the interval after the last success has ended, or the pause
  /// after the last failure, or a ``RefreshTrigger`` has fired; or when there is a flight to join.
  ///
  /// - Parameter joining: Whether a flight is to be joined; otherwise this waits for its end.
  /// - Throws: `CancellationError` when the task is cancelled.
  package func waitUntilDue(joining: Bool) async throws {
    while true {
      try Task.checkCancellation()
      let news = news()
      let (pause, clock) = state.withLock { state in
        let canJoin = joining && state.line.flight?.isJoinable == true
        return (canJoin ? .zero : state.pause, state.interval.clock)
      }
      if pause == .zero { return }
      await withTaskGroup(of: Void.self) { group in
        if let pause { group.addTask { try? await clock.sleep(for: pause) } }
        group.addTask { for await _ in news { return } }
        await group.next()
        group.cancelAll()
      }
    }
  }

  /// How many callers have come.
  var arrivalCount: FlightLine.Waiter { state.withLock { $0.waiterCount } }

  /// How many flights are over.
  var landingCount: UInt64 { state.withLock { $0.line.landingCount } }

  /// Whether a failure is shown by somebody who asked for the refresh after so many callers had come.
  ///
  /// - Parameter landingCount: How many flights were over before the stream asked for the outcome.
  func isLeft(
    _ text: String, after arrivalCount: FlightLine.Waiter, since landingCount: UInt64
  ) -> Bool {
    state.withLock { $0.askers.isLeft(text, after: arrivalCount, since: landingCount) }
  }

  /// The time of day.
  package var date: Date { state.withLock { $0.interval.clock.date } }

  /// - Throws: `CancellationError` when the task is cancelled first.
  package func sleep(for pause: Duration) async throws {
    try await state.withLock { $0.interval.clock }.sleep(for: pause)
  }

  /// Lets what has failed be tried again at once, and the interval be looked at again.
  ///
  /// - Parameter endsInterval: Whether the interval counts as over, until a fetch has succeeded that begins
  ///   from now on.
  package func wake(endingInterval endsInterval: Bool = false) {
    state.withLock { state in
      if endsInterval {
        state.interval.isEnded = true
        state.line.forget()
      }
      state.interval.lift()
      state.wake()
    }
    tellObservers()
  }

  /// Whether it has nothing to remember and nothing under way.
  var isIdle: Bool {
    state.withLock { state in
      guard state.line.flight == nil, state.waiters.isEmpty else { return false }
      // What cannot be read says nothing.
      guard let standing = try? state.interval.standing() else { return true }
      return standing.remaining <= .zero && standing.failureRemaining <= .zero
    }
  }

  // MARK: Observers

  func tellObservers() {
    let observers = state.withLock { Array($0.observers.values) }
    for observer in observers { observer.yield() }
  }

  /// An element after each change; those that were not taken count as one.
  ///
  /// - Parameter startingAtOnce: Whether how things stand now is news, too.
  private func news(startingAtOnce: Bool = false) -> AsyncStream<Void> {
    let (stream, observer) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.observerCount += 1
      state.observers[state.observerCount] = observer
      return state.observerCount
    }
    observer.onTermination = { [state] _ in
      let last = state.withLock { $0.observers.removeValue(forKey: number) }
      withExtendedLifetime(last) {}
    }
    if startingAtOnce { observer.yield() }
    return stream
  }
}

extension FetchLimiter.State {
  /// Somebody says that it is worth a try.
  ///
  /// - Parameter isBySomebody: False where the limiter itself says so.
  mutating func wake(isBySomebody: Bool = true) {
    if isBySomebody { interval.suspension = nil }
    rest.wake(isFlying: line.flight != nil, hasInterval: interval.minimum > .zero)
  }

  /// Whether a caller begins a flight where none is under way.
  ///
  /// - Throws: The failure that is not to be tried again yet; `StoreError`.
  func isDue(_ timing: SyncTiming) throws -> Bool {
    guard line.flight == nil else { return false }
    let isDue = try timing.isAnew || interval.isDue()
    return timing == .scheduled ? isDue && pause == .zero : isDue
  }

  /// How long it is until a flight begins by itself; nil where none will before there is news.
  fileprivate var pause: Duration? {
    ownPause.map { max($0, interval.suspensionRemaining) }
  }

  private var ownPause: Duration? {
    if line.flight != nil || rest.isOver { return nil }
    let standing: FetchInterval.Standing
    do {
      standing = try interval.standing()
    } catch StoreError.suspended {
      return .seconds(1)  // It costs nothing to look, and once it is resumed data are wanted.
    } catch {
      return .seconds(60)  // It may be readable later.
    }
    // Clocks count no further than some years from now.
    func pause(_ remaining: Duration) -> Duration {
      min(max(remaining, interval.skippedRemaining), .seconds(86_400))
    }
    if interval.backoff != nil, standing.failure != nil { return pause(standing.failureRemaining) }
    if interval.minimum > .zero { return pause(standing.remaining) }
    return rest.isAwaited ? .zero : nil
  }
}
