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
  private var left: (text: String, asker: Waiter)?

  /// A caller has come and waits.
  mutating func arrive(_ waiter: Waiter, _ timing: SyncTiming) {
    if timing == .afterNow { waiting.insert(waiter) }
  }

  /// A caller does not wait any more. What was left to it may never be shown.
  mutating func leave(_ waiter: Waiter) {
    waiting.remove(waiter)
    if left?.asker == waiter { left = nil }
  }

  /// A flight is over.
  ///
  /// - Parameter waiters: Who has its outcome; those of a flight that follows wait on.
  mutating func land(_ result: Result<UpdateStatus, any Error>, waiters: Set<Waiter>) {
    switch result {
    case .success(.skipped), .failure(is CancellationError): break
    case .success: left = nil
    case .failure(let error):
      // Failures are the same when they say the same.
      let text = "\(error)"
      if let asker = waiting.max() {
        left = (text, asker)
      } else if left?.text != text {
        left = nil
      }
    }
    waiting.subtract(waiters)
  }

  /// What has failed does not count any more.
  mutating func forget() { left = nil }

  /// Nobody waits any more.
  mutating func cancel() { self = FetchAskers() }

  /// Whether a failure was left to somebody who asked after so many callers had come.
  func isLeft(_ text: String, after waiterCount: Waiter) -> Bool {
    left.map { $0.text == text && $0.asker > waiterCount } ?? false
  }
}
