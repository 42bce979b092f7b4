internal import Larder
internal import LarderLMDB

// How a limiter's fetch runs, and what is noted of its outcome.

extension FetchLimiter {
  func fly(_ fetch: @escaping FlightLine.Fetch) {
    tellObservers()
    let cancelled = state.withLock { state -> Task<Void, Never>? in
      // Not a child of any caller's task: none of them may stop it. It is kept before it can look here, so that
      // a fetch that has itself called off finds it.
      let refusal = Refusal(forgetCount, since: state.forgetCount)
      let task = Task { [self] in
        let result: Result<UpdateStatus, any Error>
        do {
          let status = try await refusal.permit.required(by: fetch)
          // A save may have been made where the task's permit is not known.
          if status == .updated { try refusal.check() }
          if status != .skipped { await noteSuccess(status) }
          result = .success(status)
        } catch {
          let error = failure(error, refusal)
          if error.isSuspension {
            noteSuspension()
          } else if !(error is CancellationError) {
            await noteFailure(error)
          }
          result = .failure(error)
        }
        land(result)
      }
      state.task = task
      return state.line.flight?.isCancelled == true ? task : nil
    }
    cancelled?.cancel()
  }

  /// A flight takes off.
  func takeOff(_ state: inout State) {
    state.rest.takeOff()
    state.forgetCount = forgetCount.withLock { $0 }
  }

  /// What a flight has failed with, as all are told. `CancellationError` is for what was called off on purpose:
  /// it is no news to anybody, and nothing is tried again for it.
  private func failure(_ error: any Error, _ refusal: Refusal) -> any Error {
    // Whatever the save has made of it.
    if refusal.isMade { return CancellationError() }
    let isCancelled = state.withLock { $0.line.flight?.isCancelled == true }
    return error is CancellationError && !isCancelled ? FetchInterrupted() : error
  }

  private func land(_ result: Result<UpdateStatus, any Error>) {
    let (waiters, next) = state.withLock { state in
      state.task = nil
      state.rest.land(
        result, isRetried: state.interval.backoff != nil,
        hasInterval: state.interval.minimum > .zero, isForgotten: state.isForgotten)
      if case .success(.skipped) = result, !state.isForgotten {
        state.interval.skipped = state.interval.clock.elapsed
      } else {
        state.interval.skipped = nil
      }
      let landing = state.line.land()
      state.askers.land(result, landing: state.line.landingCount, waiters: landing.waiters)
      if landing.next != nil { takeOff(&state) }
      return (landing.waiters.compactMap { state.waiters.removeValue(forKey: $0) }, landing.next)
    }
    if let next { fly(next.fetch) } else { tellObservers() }
    for waiter in waiters { waiter.resume(with: result) }
  }

  /// Runs the save of the fetch under way, which notes in its own transaction that the fetch has
  /// succeeded. Where it finds nothing to change, or the success was forgotten, it writes no note.
  ///
  /// - Throws: What `save` throws; the note is as it was before then.
  func noting<Result>(_ save: () async throws -> Result) async throws -> Result {
    let (memory, moment, counts) = state.withLock { state in
      (state.isForgotten ? nil : state.interval.memory, state.interval.now, unlessForgotten())
    }
    guard let memory else { return try await save() }
    // If it cannot be read nothing is known of a success, and the next caller fetches.
    let before = try? memory.read()
    let note = memory.note(FetchRecord(success: moment.seconds), if: counts)
    do {
      let result = try await note.attached(to: save)
      if note.isKept { state.withLock { $0.noted = moment } }
      return result
    } catch {
      // It has saved something and failed after that. If the note cannot be taken back either, the
      // store cannot be written to, and the next fetch waits for the interval.
      if note.isKept { try? await memory.write(before, if: counts) }
      throw error
    }
  }

  /// Whether nothing was forgotten from now on. To be asked in the transaction of a note: what forgets erases
  /// the note in a later one.
  private func unlessForgotten() -> @Sendable () -> Bool {
    let count = forgetCount.withLock { $0 }
    return { [forgetCount] in forgetCount.withLock { $0 } == count }
  }

  private func noteSuccess(_ status: UpdateStatus) async {
    let (memory, moment, counts) = state.withLock { state in
      let moment = state.noted ?? state.interval.now
      let isKept = state.noted != nil
      state.noted = nil
      if !state.isForgotten {
        state.interval.success = FetchInterval.Success(moment: moment, isKept: isKept)
        state.interval.isEnded = false
        state.interval.failure = nil
        state.shown = FetchInterval.Standing(success: moment.seconds)
      }
      state.interval.suspension = nil
      return (
        isKept || state.isForgotten ? nil : state.interval.memory, moment, unlessForgotten()
      )
    }
    guard let memory else { return }
    do {
      // What a fetch that found nothing is worth to others is not worth a write; but they must not go
      // on waiting for a remote that is back.
      guard try status == .updated || memory.read()?.failure != nil else { return }
      try await memory.write(FetchRecord(success: moment.seconds), if: counts)
      state.withLock { $0.interval.success?.isKept = true }
    } catch {
      // The fetch has succeeded, its data are saved, and this process knows when. Others and later
      // ones fetch once more than they would have to.
    }
  }

  /// The fetched data could not be saved because the store is suspended, which is no failure. The next caller fetches
  /// again; streams do so by themselves after a pause, which grows each time.
  private func noteSuspension() {
    state.withLock { state in
      state.noted = nil
      state.interval.isEnded = true
      state.interval.noteSuspension()
      state.wake(isBySomebody: false)
    }
  }

  private func noteFailure(_ error: any Error) async {
    typealias Note = (
      memory: FetchMemory, record: FetchRecord, before: FetchRecord?, counts: @Sendable () -> Bool
    )
    let note = state.withLock { state -> Note? in
      state.noted = nil
      state.interval.suspension = nil
      state.interval.fail(error, isOutdated: state.rest.isOutdated)
      guard state.interval.backoff != nil, let memory = state.interval.memory,
        let before = try? Optional.some(memory.read()),
        var standing = try? state.interval.standing()
      else { return nil }
      // The note may have it for a moment yet.
      if state.isForgotten { standing.success = nil }
      return (memory, state.interval.record(standing), before, unlessForgotten())
    }
    guard let note else { return }
    // If it cannot be written, others try once more than they would have to.
    try? await note.memory.write(note.record, over: note.before, if: note.counts)
  }
}

/// Refuses what a flight saves when the last success was forgotten after it took off: it may be another
/// user's.
private struct Refusal: Sendable {
  let permit: SyncPermit
  let check: @Sendable () throws -> Void
  private let made: Locked<Bool>

  /// - Parameters:
  ///   - forgetCount: How often the last success was forgotten.
  ///   - count: The same when the flight took off.
  init(_ forgetCount: Locked<UInt64>, since count: UInt64) {
    let made = Locked(false)
    self.made = made
    check = {
      if forgetCount.withLock({ $0 }) == count { return }
      made.withLock { $0 = true }
      throw CancellationError()
    }
    permit = SyncPermit(check)
  }

  /// Whether something was refused.
  var isMade: Bool { made.withLock { $0 } }
}

extension Error {
  /// Whether it says that the store is suspended.
  var isSuspension: Bool { (self as? StoreError)?.isSuspended == true }
}

extension FetchLimiter.State {
  /// Whether what the flight under way brings counts no more.
  var isForgotten: Bool { line.flight?.isForgotten == true }
}
