/// Who asked for a refresh and shows its failure, so that streams need not: a state machine that knows
/// no lock, task or clock.
///
/// A caller of ``SyncTiming/afterNow`` shows what it is thrown. The streams that were open when it called
/// leave the failure to it, for as long as it waits. A stream that was opened later shows the failure
/// itself, as its screen was not there when somebody asked.
struct FetchAskers {
  typealias Waiter = FlightLine.Waiter

  /// Those who still wait.
  private var waiting: Set<Waiter> = []
  /// The last failure, if it was left to an asker and none has said anything else since.
  private var left: LeftFailure?
  /// The last failures that were left to askers, for streams that share an outcome and get to look at it
  /// only after the next flight has landed.
  private var recent: [LeftFailure] = []

  private struct LeftFailure {
    let text: String
    let asker: Waiter
    let landing: UInt64
  }

  /// A stream would have to sleep through as many flights to show what an asker shows already.
  private static let recentCount = 8

  /// A caller has come and waits.
  mutating func arrive(_ waiter: Waiter, _ timing: SyncTiming) {
    if timing == .afterNow { waiting.insert(waiter) }
  }

  /// A caller does not wait any more. What was left to it may never be shown.
  mutating func leave(_ waiter: Waiter) {
    waiting.remove(waiter)
    if left?.asker == waiter { left = nil }
    recent.removeAll { $0.asker == waiter }
  }

  /// A flight is over.
  ///
  /// - Parameters:
  ///   - landing: How many flights have landed, with this one.
  ///   - waiters: Who has its outcome; those of a flight that follows wait on.
  mutating func land(
    _ result: Result<UpdateStatus, any Error>, landing: UInt64, waiters: Set<Waiter>
  ) {
    switch result {
    case .success(.skipped), .failure(is CancellationError): break
    case .success: left = nil
    case .failure(let error):
      // Failures are the same when they say the same.
      let text = "\(error)"
      if let asker = waiting.max() {
        let failure = LeftFailure(text: text, asker: asker, landing: landing)
        left = failure
        recent = recent.suffix(Self.recentCount - 1) + [failure]
      } else if left?.text != text {
        left = nil
      }
    }
    waiting.subtract(waiters)
  }

  /// What has failed does not count any more.
  mutating func forget() {
    left = nil
    recent = []
  }

  /// Nobody waits any more.
  mutating func cancel() { self = FetchAskers() }

  /// Whether a failure was left to somebody who asked after so many callers had come.
  ///
  /// - Parameter landing: How many flights had landed before the stream asked. What landed since may be
  ///   what it shares, even if something else has landed behind it.
  func isLeft(_ text: String, after waiterCount: Waiter, since landing: UInt64) -> Bool {
    func matches(_ failure: LeftFailure) -> Bool {
      failure.text == text && failure.asker > waiterCount
    }
    return left.map(matches) == true
      || recent.contains { $0.landing > landing && matches($0) }
  }
}
