internal import LarderLMDB
public import Larder

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Sees to it that however many ask, one request is made: not two at a time, and not two within an
/// interval.
///
/// ```swift
/// let limiter = FetchLimiter(minimumInterval: .seconds(900), named: "contacts", in: store)
/// ```
/// A limiter with a name remembers in the store when it last succeeded. A ``RemoteUpdater`` notes it in
/// the transaction of its save. A fetch that found nothing writes nothing: this process remembers it,
/// and others, or this one after a restart, count from the success before.
///
/// Safe to use from any thread. A fetch that fails leaves the interval as it was, so that the next
/// caller may try again at once. A caller whose task is cancelled stops waiting; the fetch goes on,
/// as what it brings is of use to whoever looks next, and ``cancel()`` stops it. A fetch that was
/// to follow is not begun when nobody waits for it any more. Several processes may each have a fetch
/// under way; the interval counts for all of them, if the limiter has a name.
public final class FetchLimiter: Sendable {
  private struct State {
    var line = FlightLine()
    var interval: FetchInterval
    var waiters: [FlightLine.Waiter: CheckedContinuation<UpdateStatus, any Error>] = [:]
    var waiterCount: UInt64 = 0
    /// Of the flight under way.
    var task: Task<Void, Never>?
    /// Noted by the save of the flight under way, in its own transaction.
    var noted: FetchInterval.Success?
  }

  private let state: Locked<State>

  /// A limiter that forgets with the process.
  ///
  /// - Parameter minimumInterval: How long after a success the next caller is skipped.
  public init(minimumInterval: Duration = .zero, clock: any SyncClock = SystemClock()) {
    state = Locked(
      State(interval: FetchInterval(minimum: minimumInterval, memory: nil, clock: clock)))
  }

  /// A limiter that remembers, in a store, when it last brought something new: across restarts, and
  /// for every limiter of the same name in other processes. A fetch after which nothing had changed is
  /// remembered by this limiter alone, as it writes nothing.
  ///
  /// Within a process the interval is measured by a clock that nobody can set. Across processes
  /// only the time of day is left; a success that would lie in the future counts for none.
  ///
  /// - Parameters:
  ///   - minimumInterval: How long after a success the next caller is skipped.
  ///   - name: What is fetched, 1 to 100 bytes of UTF-8.
  public init(
    minimumInterval: Duration, named name: String, in store: Store,
    clock: any SyncClock = SystemClock()
  ) {
    precondition((1...100).contains(name.utf8.count), "a limiter's name has 1 to 100 bytes")
    let memory = FetchInterval.Memory(store: store, name: name)
    state = Locked(
      State(interval: FetchInterval(minimum: minimumInterval, memory: memory, clock: clock)))
  }

  /// Whether a fetch is under way.
  public var isFetching: Bool { state.withLock { $0.line.flight != nil } }

  /// How many callers wait.
  package var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// When a fetch last succeeded, by the time of day; nil for never.
  ///
  /// - Throws: `StoreError` when the store cannot be read.
  public func lastSuccess() throws -> Date? {
    try state.withLock { try $0.interval.lastSuccess() }
      .map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Runs `fetch`, unless another is under way or the interval has not passed; `timing` says what
  /// happens then.
  ///
  /// - Parameter fetch: What returns ``UpdateStatus/skipped`` does not use up the interval. After
  ///   ``UpdateStatus/updated`` a limiter with a name writes when that was, in a transaction of its own
  ///   unless a ``RemoteUpdater`` has done so; after ``UpdateStatus/alreadyCurrent`` it writes nothing.
  /// - Returns: The outcome; ``UpdateStatus/skipped`` when there was no need to wait for one.
  /// - Throws: What `fetch` throws; `StoreError` when the store cannot be read; `CancellationError`
  ///   when the task is cancelled, or the fetch is by ``cancel()``.
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
        let interval = state.interval
        let arrival = try state.line.arrive(waiter, timing, fetch, isDue: interval.isOver)
        if case .skipped = arrival { return arrival }
        state.waiters[waiter] = continuation
        return arrival
      }
    }
    switch arrival {
    case .failure(let error): continuation.resume(throwing: error)
    case .success(.skipped): continuation.resume(returning: .skipped)
    case .success(.waits): break
    case .success(.takesOff(let number)): fly(number, fetch)
    }
  }

  /// Stops the fetch that is under way: all who wait throw `CancellationError` at once. Until the
  /// fetch has stopped itself it counts as under way.
  public func cancel() {
    let (waiters, task) = state.withLock { state in
      let waiters = state.line.cancel().compactMap { state.waiters.removeValue(forKey: $0) }
      return (waiters, state.task)
    }
    task?.cancel()
    for waiter in waiters { waiter.resume(throwing: CancellationError()) }
  }

  /// Forgets the last success, so that the next caller is not skipped: after the data were erased,
  /// or another user has signed in.
  ///
  /// - Throws: `StoreError`; the last success then counts in other processes and after a restart.
  public func forgetLastSuccess() async throws {
    let memory = state.withLock { state in
      state.interval.success = nil
      return state.interval.memory
    }
    try await memory?.write(nil)
  }
}

// MARK: Flying

extension FetchLimiter {
  private func fly(_ number: UInt64, _ fetch: @escaping FlightLine.Fetch) {
    // Not a child of any caller's task: none of them may stop it.
    let task = Task { [self] in
      let result: Result<UpdateStatus, any Error>
      do {
        let status = try await fetch()
        if status != .skipped { await noteSuccess(status) }
        result = .success(status)
      } catch {
        result = .failure(error)
      }
      land(result)
    }
    let isCancelled = state.withLock { state in
      guard state.line.flight?.number == number else { return false }  // It has landed already.
      state.task = task
      return state.line.flight?.isCancelled == true
    }
    if isCancelled { task.cancel() }
  }

  private func land(_ result: Result<UpdateStatus, any Error>) {
    let (waiters, next) = state.withLock { state in
      state.task = nil
      let landing = state.line.land()
      return (landing.waiters.compactMap { state.waiters.removeValue(forKey: $0) }, landing.next)
    }
    if let next { fly(next.number, next.fetch) }
    for waiter in waiters { waiter.resume(with: result) }
  }

  /// Runs the save of the fetch under way, which notes in its own transaction that the fetch has
  /// succeeded. Where it finds nothing to change, it writes no note either.
  ///
  /// - Throws: What `save` throws; the note is as it was before then.
  func noting<Result>(_ save: () async throws -> Result) async throws -> Result {
    let (memory, success) = state.withLock { ($0.interval.memory, $0.interval.now) }
    guard let memory else { return try await save() }
    // If it cannot be read nothing is known of a success, and the next caller fetches.
    let before = try? memory.read()
    let note = memory.note(success.seconds)
    do {
      let result = try await note.attached(to: save)
      if note.isKept { state.withLock { $0.noted = success } }
      return result
    } catch {
      // It has saved something and failed after that. If the note cannot be taken back either, the
      // store cannot be written to, and the next fetch waits for the interval.
      if note.isKept { try? await memory.write(before) }
      throw error
    }
  }

  private func noteSuccess(_ status: UpdateStatus) async {
    let (memory, success) = state.withLock { state in
      var success = state.noted ?? state.interval.now
      success.isKept = state.noted != nil
      state.noted = nil
      state.interval.success = success
      return (state.interval.memory, success)
    }
    // What a fetch that found nothing is worth to others is not worth a write.
    guard let memory, !success.isKept, status == .updated else { return }
    do {
      try await memory.write(success.seconds)
      state.withLock { $0.interval.success?.isKept = true }
    } catch {
      // The fetch has succeeded, its data are saved, and this process knows when. Others and later
      // ones fetch once more than they would have to.
    }
  }
}
