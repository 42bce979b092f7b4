/// Which fetch is under way and who waits for it: a state machine that is told what happened and
/// says what is to be done. It knows no lock, task or clock.
///
/// One flight at a time. Those who join it share its outcome. Those who need an answer from now on
/// wait for the trailing flight, which takes off when the one under way has landed.
struct FlightLine {
  typealias Fetch = @Sendable () async throws -> UpdateStatus
  /// A caller, in the order in which they came.
  typealias Waiter = UInt64

  struct Flight {
    let number: UInt64
    var waiters: Set<Waiter> = []
    /// Told to stop; it is on its way until it has.
    var isCancelled = false
    /// What it brings does not count any more.
    var isForgotten = false
    /// Whether its outcome can be shared by those who come from now on.
    var isJoinable: Bool { !isCancelled && !isForgotten }
  }

  enum Arrival {
    /// The caller is not needed.
    case skipped
    /// The caller is told when a flight has landed.
    case waits
    /// The caller is told when this flight has landed, which is to begin now.
    case takesOff(number: UInt64)
  }

  struct Landing {
    /// Who shares the outcome.
    var waiters: Set<Waiter> = []
    /// The flight that is to begin now.
    var next: (number: UInt64, fetch: Fetch)?
  }

  private(set) var flight: Flight?
  private var trailing: [Waiter: Fetch] = [:]
  private var flightCount: UInt64 = 0
  /// How many flights are over.
  private(set) var landingCount: UInt64 = 0

  /// A caller comes.
  ///
  /// - Parameter isDue: Whether it is time for one; asked only where it matters.
  mutating func arrive(
    _ waiter: Waiter, _ timing: SyncTiming, _ fetch: @escaping Fetch, isDue: () throws -> Bool
  ) rethrows -> Arrival {
    if let flight {
      switch timing {
      case .ifDue: return .skipped
      case .joining where flight.isJoinable, .scheduled where flight.isJoinable:
        self.flight?.waiters.insert(waiter)
      // What is being cancelled, or was forgotten, has no outcome that could be shared.
      case .joining, .afterNow, .afterChange: trailing[waiter] = fetch
      case .scheduled: return .skipped
      }
      return .waits
    }
    guard try timing.isAnew || isDue() else { return .skipped }
    return .takesOff(number: takeOff([waiter]))
  }

  /// The flight under way is over.
  mutating func land() -> Landing {
    var landing = Landing(waiters: flight?.waiters ?? [])
    flight = nil
    landingCount += 1
    // The closure of the one who came first, as all ask for the same thing.
    if let first = trailing.min(by: { $0.key < $1.key }) {
      landing.next = (takeOff(Set(trailing.keys)), first.value)
      trailing = [:]
    }
    return landing
  }

  /// A caller does not wait any more. The flight goes on, as its outcome is of use to the next
  /// one who looks; a trailing one that nobody waits for does not begin.
  mutating func leave(_ waiter: Waiter) {
    flight?.waiters.remove(waiter)
    trailing[waiter] = nil
  }

  /// Everything is called off.
  ///
  /// - Returns: Who need not wait any more.
  mutating func cancel() -> Set<Waiter> {
    let waiters = (flight?.waiters ?? []).union(trailing.keys)
    flight?.isCancelled = true
    flight?.waiters = []
    trailing = [:]
    return waiters
  }

  /// The outcome of the flight under way counts for nobody but those who wait for it already.
  mutating func forget() { flight?.isForgotten = true }

  private mutating func takeOff(_ waiters: Set<Waiter>) -> UInt64 {
    flightCount += 1
    flight = Flight(number: flightCount, waiters: waiters)
    return flightCount
  }
}
