#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How long it is since a fetch has succeeded or failed: by the clock that nobody can set where this
/// process saw it, by the time of day where it was another one, before a restart or beside this one.
struct FetchInterval {
  /// A moment by both clocks.
  struct Moment {
    let elapsed: Duration
    /// Seconds since the reference date, of the time of day.
    let seconds: Double
  }

  struct Success {
    let moment: Moment
    /// Whether others can read it.
    var isKept = false
  }

  struct Failure {
    let error: any Error
    let moment: Moment
    /// In a row, this one among them.
    var count: Int
    /// How long after it nobody tries again.
    var pause: Duration
    /// Whether the remote has asked for the pause.
    var isAdvised = false
  }

  /// How things stand, by what was seen here and by what others have noted.
  struct Standing {
    /// Seconds since the reference date; nil for never.
    var success: Double?
    /// Since the last success.
    var failure: (error: any Error, count: Int)?
    /// How long callers are told of the failure and make no request.
    var failureRemaining = Duration.zero
    /// How long callers are skipped.
    var remaining = Duration.zero
  }

  let minimum: Duration
  /// Nil for limiters that keep nobody from trying again at once.
  let backoff: Backoff?
  let memory: FetchMemory?
  let clock: any SyncClock
  /// The last success that was seen here.
  var success: Success?
  /// Whether callers are needed however lately that was: until the next success.
  var isEnded = false
  /// What was seen here to fail since.
  var failure: Failure?
  /// When the last fetch found that it was not needed, by the clock that nobody can set; nil where it was another
  /// outcome.
  var skipped: Duration?
  /// How often in a row the store was suspended before a fetch could be saved, and when that was last, by the clock
  /// that nobody can set.
  var suspension: (count: Int, elapsed: Duration)?
  /// Failures of others up to this moment keep nobody waiting any more.
  private var lifted: Moment?

  init(minimum: Duration, backoff: Backoff?, memory: FetchMemory?, clock: any SyncClock) {
    self.minimum = minimum
    self.backoff = backoff
    self.memory = memory
    self.clock = clock
  }

  var now: Moment {
    Moment(elapsed: clock.elapsed, seconds: clock.date.timeIntervalSinceReferenceDate)
  }

  /// - Throws: `StoreError` where the store cannot be read and nothing was seen here.
  func standing() throws -> Standing {
    let now = now
    let kept = try record()
    var standing = Standing()
    let keptSuccess = kept?.success.flatMap { counts($0, now) ? $0 : nil }
    // One that others could read, and that is noted no more, was forgotten.
    standing.success = keptSuccess ?? (success?.isKept == false ? success?.moment.seconds : nil)
    standing.remaining = remaining(of: standing.success, now)
    fail(&standing, keptSuccess, kept?.failure, now)
    return standing
  }

  /// Whether a caller is needed.
  ///
  /// - Throws: The failure that is not to be tried again yet; `StoreError`.
  func isDue() throws -> Bool {
    let standing = try standing()
    guard backoff != nil, let failure = standing.failure else { return standing.remaining <= .zero }
    if standing.failureRemaining > .zero { throw failure.error }
    // Who asked before has not got what there is at the remote, however lately that was asked.
    return true
  }

  /// A failure of this moment.
  ///
  /// - Parameter isOutdated: Whether it is worth trying again at once.
  mutating func fail(_ error: any Error, isOutdated: Bool) {
    // If the store cannot be read, nothing was seen to fail before.
    let count = isOutdated ? 0 : ((try? standing())?.failure?.count ?? 0) + 1
    var failure = Failure(error: error, moment: now, count: count, pause: .zero)
    if let backoff {
      if !isOutdated { failure.pause = backoff.pause(after: count) }
      switch (error as? any RetryAdvising)?.retryAdvice ?? .backoff {
      case .backoff: break
      case .after(let pause):
        failure.pause = min(max(pause, failure.pause), .seconds(Self.longestPause))
        failure.isAdvised = true
      case .whenTriggered where isOutdated: break
      case .whenTriggered: failure.pause = .seconds(Self.longestPause)
      }
    }
    self.failure = failure
  }

  /// Lets what has failed be tried again at once, and the pauses begin anew, except where the remote has
  /// asked for one.
  mutating func lift() {
    lifted = now
    skipped = nil
    if failure?.isAdvised == true { return }
    failure?.pause = .zero
    failure?.count = 0
  }

  /// What others are to know.
  func record(_ standing: Standing) -> FetchRecord {
    FetchRecord(
      success: standing.success,
      failure: failure.map { failure in
        FetchRecord.Failure(
          seconds: failure.moment.seconds, pause: failure.pause / .seconds(1),
          isAdvised: failure.isAdvised, count: failure.count,
          kind: "\(type(of: failure.error))")
      })
  }

  /// The store was suspended while something was fetched.
  mutating func noteSuspension() { suspension = ((suspension?.count ?? 0) + 1, clock.elapsed) }

  /// How long streams wait behind that: 1 second, then 2, 4 and so on, up to about a minute.
  var suspensionRemaining: Duration {
    guard let suspension else { return .zero }
    let pause = Duration.seconds(1 << min(suspension.count - 1, 6))
    return max(.zero, pause - (clock.elapsed - suspension.elapsed))
  }

  /// How long streams wait behind a fetch that was not needed.
  var skippedRemaining: Duration {
    skipped.map { max(.zero, minimum - (clock.elapsed - $0)) } ?? .zero
  }

  // MARK: Here and elsewhere

  /// When it was by the time of day as it is now, which may have been set since: what others note has that one.
  private func seconds(of moment: Moment, _ now: Moment) -> Double {
    let today = now.seconds - (now.elapsed - moment.elapsed) / .seconds(1)
    // The two clocks do not run equally fast.
    return abs(today - moment.seconds) < 1 ? moment.seconds : today
  }

  private func record() throws -> FetchRecord? {
    guard let memory else { return nil }
    // If the store cannot be read, what was seen here counts.
    if failure != nil || success?.isKept == false { return try? memory.read() }
    return try memory.read()
  }

  /// Whether a success that others have noted counts here: if it is later than the one that was seen
  /// here, unless their clock is another one.
  private func counts(_ seconds: Double, _ now: Moment) -> Bool {
    guard let success, !success.isKept else { return true }
    return seconds > self.seconds(of: success.moment, now) && seconds <= now.seconds
  }

  private func remaining(of last: Double?, _ now: Moment) -> Duration {
    guard minimum > .zero, !isEnded, let last else { return .zero }
    if let success, success.moment.seconds == last {
      return minimum - (now.elapsed - success.moment.elapsed)
    }
    let passed = now.seconds - last
    // A success in the future is of a clock that was turned back since, and says nothing.
    if passed < 0 || passed.isNaN || passed >= minimum / .seconds(1) { return .zero }
    return minimum - .seconds(passed)
  }

  private func fail(
    _ standing: inout Standing, _ keptSuccess: Double?, _ kept: FetchRecord.Failure?, _ now: Moment
  ) {
    // Others may have succeeded since. What has failed here came behind the success here, whatever the time of
    // day said then.
    let own = failure.flatMap { failure in
      if let keptSuccess, keptSuccess != success?.moment.seconds,
        keptSuccess > seconds(of: failure.moment, now), keptSuccess <= now.seconds
      {
        return nil as Failure?
      }
      return failure
    }
    func isBehind(_ moment: Moment?) -> Bool {
      moment.map { kept?.seconds ?? -.infinity >= seconds(of: $0, now) } ?? true
    }
    // Its own note is no news.
    if let kept, kept.seconds <= now.seconds, kept.seconds != own?.moment.seconds,
      isBehind(own?.moment), isBehind(success?.moment)
    {
      let date = Date(timeIntervalSinceReferenceDate: kept.seconds)
      let left = kept.pause - (now.seconds - kept.seconds)
      let isLifted =
        lifted.map { kept.seconds <= seconds(of: $0, now) && !kept.isAdvised } ?? false
      standing.failure = (
        EarlierFailure(kind: kept.kind, date: date), isLifted ? 0 : kept.count
      )
      // Nothing is larger than what is not a number.
      if left > 0, !isLifted {
        standing.failureRemaining = .seconds(min(left, Self.longestPause))
      }
    } else if let own {
      standing.failure = (own.error, own.count)
      standing.failureRemaining = own.pause - (now.elapsed - own.moment.elapsed)
    }
  }

  /// In seconds. A note that says more is of no limiter of ours, or of one with another idea.
  private static var longestPause: Double { 86_400 }
}
