internal import LarderLMDB
public import Larder

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Sees to it that however many ask, one request is made: not two at a time, not two within an interval,
/// and after a failure none until it is time to try again.
///
/// ```swift
/// let limiter = FetchLimiter(minimumInterval: .seconds(900), named: "contacts", in: store)
/// ```
/// After a failure the ``Backoff`` says how long nobody tries again. Whoever calls meanwhile is told of
/// the failure, and makes no request; ``SyncTiming/afterNow`` does not wait. Streams try again by
/// themselves when that time is over, and sooner when a ``RefreshTrigger`` says so. An error that is
/// ``RetryAdvising`` may say itself when to try again, or that this is of no use.
///
/// A limiter with a name remembers in the store when it last succeeded, and how it has failed since. A
/// ``RemoteUpdater`` notes a success in the transaction of its save. A fetch that found nothing writes
/// nothing, unless a failure is noted, which it takes back: this process remembers it, and others, or
/// this one after a restart, count from the success before.
///
/// Safe to use from any thread. A caller whose task is cancelled stops waiting; the fetch goes on, as
/// what it brings is of use to whoever looks next, and ``cancel()`` stops it. A fetch that was
/// to follow is not begun when nobody waits for it any more. Several processes may each have a fetch
/// under way; interval and backoff count for all of them, if the limiter has a name.
public final class FetchLimiter: Sendable {
  struct State {
    var line = FlightLine()
    var interval: FetchInterval
    var waiters: [FlightLine.Waiter: CheckedContinuation<UpdateStatus, any Error>] = [:]
    var waiterCount: UInt64 = 0
    /// Of the flight under way.
    var task: Task<Void, Never>?
    /// How often the last success had been forgotten when the flight under way took off.
    var forgetCount: UInt64 = 0
    /// Noted by the save of the flight under way, in its own transaction.
    var noted: FetchInterval.Moment?
    var rest = FetchRest()
    /// How things stood when the store could be read last.
    var shown = FetchInterval.Standing()
    var askers = FetchAskers()
    var observers: [UInt64: AsyncStream<Void>.Continuation] = [:]
    var observerCount: UInt64 = 0
  }

  let state: Locked<State>
  /// How often the last success was forgotten. Transactions look at it, which must not wait for `state`: whoever
  /// holds that may read the store.
  let forgetCount = Locked<UInt64>(0)
  private let trigger: RefreshTrigger?

  /// A limiter that forgets with the process.
  ///
  /// - Parameters:
  ///   - minimumInterval: How long after a success the next caller is skipped, and how often a stream
  ///     refreshes; zero for no interval.
  ///   - retrying: How long after a failure the next request is made; nil lets every caller try at
  ///     once, and streams not by themselves.
  ///   - trigger: Ends the wait after a failure, unless the remote has asked for it.
  public convenience init(
    minimumInterval: Duration = .zero, retrying: Backoff? = Backoff(),
    trigger: RefreshTrigger? = nil, clock: any SyncClock = SystemClock()
  ) {
    self.init(
      FetchInterval(minimum: minimumInterval, backoff: retrying, memory: nil, clock: clock), trigger
    )
  }

  /// A limiter that remembers, in a store, when it last brought something new and how it has failed
  /// since: across restarts, and for every limiter of the same name in other processes. A fetch after
  /// which nothing had changed is remembered by this limiter alone, as it writes nothing.
  ///
  /// Within a process times are measured by a clock that nobody can set. Across processes only the time
  /// of day is left; what would lie in the future counts for nothing.
  ///
  /// - Parameters:
  ///   - minimumInterval: How long after a success the next caller is skipped, and how often a stream
  ///     refreshes; zero for no interval.
  ///   - name: What is fetched, 1 to 100 bytes of UTF-8.
  ///   - retrying: How long after a failure the next request is made; nil lets every caller try at
  ///     once, and streams not by themselves.
  ///   - trigger: Ends the wait after a failure, unless the remote has asked for it.
  public convenience init(
    minimumInterval: Duration, named name: String, in store: Store, retrying: Backoff? = Backoff(),
    trigger: RefreshTrigger? = nil, clock: any SyncClock = SystemClock()
  ) {
    precondition((1...100).contains(name.utf8.count), "a limiter's name has 1 to 100 bytes")
    let memory = FetchMemory(store: store, name: name)
    self.init(
      FetchInterval(minimum: minimumInterval, backoff: retrying, memory: memory, clock: clock),
      trigger)
  }

  private init(_ interval: FetchInterval, _ trigger: RefreshTrigger?) {
    state = Locked(State(interval: interval))
    self.trigger = trigger
    trigger?.add(self)
  }

  deinit { trigger?.remove(self) }

  /// Whether a fetch is under way.
  public var isFetching: Bool { state.withLock { $0.line.flight != nil } }

  /// How many callers wait.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// When a fetch last succeeded, by the time of day; nil for never.
  ///
  /// - Throws: `StoreError` when the store cannot be read.
  public func lastSuccess() throws -> Date? {
    try state.withLock { try $0.interval.standing().success }
      .map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Runs `fetch`, unless another is under way, the interval has not passed, or the last one has failed
  /// too lately; `timing` says what happens then.
  ///
  /// A fetch that waits for another one of its own limiter, such as a remote that waits for a sync of the engine that
  /// has called it, waits for itself, until it is cancelled by ``cancel()``.
  ///
  /// - Parameter fetch: What returns ``UpdateStatus/skipped`` does not use up the interval. After
  ///   ``UpdateStatus/updated`` a limiter with a name writes when that was, in a transaction of its own
  ///   unless a ``RemoteUpdater`` has done so; after ``UpdateStatus/alreadyCurrent`` it writes nothing,
  ///   unless a failure is noted.
  /// - Returns: The outcome; ``UpdateStatus/skipped`` when there was no need to wait for one.
  /// - Throws: What `fetch` throws, or what the last one has thrown, where it is not yet to be tried
  ///   again; ``EarlierFailure`` if that was another process's or before a restart; `StoreError` when
  ///   the store cannot be read; `CancellationError` when the task is cancelled, or the fetch is by
  ///   ``cancel()``.
  @discardableResult
  public func run(
    _ timing: SyncTiming = .ifDue, _ fetch: @escaping @Sendable () async throws -> UpdateStatus
  ) async throws -> UpdateStatus {
    let waiter = state.withLock { state in
      state.waiterCount += 1
      return state.waiterCount
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        arrive(waiter, timing, fetch, continuation)
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.line.leave(waiter)
        state.askers.leave(waiter)
        return state.waiters.removeValue(forKey: waiter)
      }
      continuation?.resume(throwing: CancellationError())
    }
  }

  private func arrive(
    _ waiter: FlightLine.Waiter, _ timing: SyncTiming, _ fetch: @escaping FlightLine.Fetch,
    _ continuation: CheckedContinuation<UpdateStatus, any Error>
  ) {
    let arrival = Result {
      try state.withLock { state in
        // The cancellation handler has run already, or will find the continuation.
        try Task.checkCancellation()
        let isDue = Result { try state.isDue(timing) }
        let arrival = try state.line.arrive(waiter, timing, fetch, isDue: isDue.get)
        if case .skipped = arrival { return arrival }
        state.waiters[waiter] = continuation
        state.askers.arrive(waiter, timing)
        if case .takesOff = arrival { takeOff(&state) }
        return arrival
      }
    }
    switch arrival {
    case .failure(let error): continuation.resume(throwing: error)
    case .success(.skipped): continuation.resume(returning: .skipped)
    case .success(.waits): break
    case .success(.takesOff): fly(fetch)
    }
  }

  /// Stops the fetch that is under way: all who wait throw `CancellationError` at once. Until the
  /// fetch has stopped itself it counts as under way. Streams do not try again before somebody asks or
  /// a ``RefreshTrigger`` says so.
  public func cancel() {
    let (waiters, task) = state.withLock { state in
      let waiters = state.line.cancel().compactMap { state.waiters.removeValue(forKey: $0) }
      state.rest.cancel()
      state.askers.cancel()
      return (waiters, state.task)
    }
    task?.cancel()
    for waiter in waiters { waiter.resume(throwing: CancellationError()) }
  }

  /// Forgets the last success and what has failed since, so that the next caller is not skipped, and
  /// streams refresh: before the data are erased, or when another user has signed in. A fetch that is under way
  /// goes on, but saves nothing more as `ChangeOrigin.sync`, in any store, and those who wait for it throw
  /// `CancellationError`: what it brings is of the time before. That holds for saves in the fetch's own task and its
  /// child tasks; one in a detached task, or on a queue of your own, is not held up. Who joins from now on waits
  /// for another fetch behind it.
  ///
  /// - Throws: `StoreError`; the last success then counts in other processes and after a restart. The next
  ///   caller of this limiter is not skipped even then.
  public func forgetLastSuccess() async throws {
    let memory = state.withLock { state in
      state.interval.success = nil
      state.interval.failure = nil
      state.interval.skipped = nil
      state.shown = FetchInterval.Standing()
      state.line.forget()
      forgetCount.withLock { $0 += 1 }
      state.askers.forget()
      state.wake()
      return state.interval.memory
    }
    defer { tellObservers() }
    do {
      try await memory?.write(nil)
    } catch {
      state.withLock { $0.interval.isEnded = true }
      throw error
    }
  }
}
