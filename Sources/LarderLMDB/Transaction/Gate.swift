import Synchronization

/// Counts the transactions of an environment that run, and keeps new ones out while it closes
/// or takes on another map size.
struct Gate: ~Copyable, Sendable {
  private static let shut = 1 << 62
  private static let paused = 1 << 61

  /// The number of transactions that run, plus one of the two marks above.
  private let state = Atomic<Int>(0)

  /// False when the gate is shut; waits while it is paused.
  @inline(__always)
  func enter() -> Bool {
    let count = state.add(1, ordering: .acquiring).newValue
    return count < Self.paused || enterLater()
  }

  @inline(never)
  private func enterLater() -> Bool {
    while true {
      leave()
      guard !isShut else { return false }
      SystemCall.sleep(microseconds: 50)
      if state.add(1, ordering: .acquiring).newValue < Self.paused { return true }
    }
  }

  @inline(__always)
  func leave() { state.subtract(1, ordering: .releasing) }

  var isShut: Bool { state.load(ordering: .acquiring) & Self.shut != 0 }

  var runningCount: Int { state.load(ordering: .acquiring) & (Self.paused - 1) }

  func shut() { state.bitwiseOr(Self.shut, ordering: .acquiringAndReleasing) }

  func reopen() { state.bitwiseAnd(~Self.shut, ordering: .acquiringAndReleasing) }

  /// Keeps new ones out, waits until nobody else is inside, and runs `body`; false, without running
  /// it, when somebody is still there at `deadline`, in seconds of ``SystemCall/seconds``. The
  /// caller is inside itself and counts as one.
  func alone(until deadline: Double, _ body: () -> Void) -> Bool {
    while state.bitwiseOr(Self.paused, ordering: .acquiringAndReleasing).oldValue & Self.paused != 0
    {
      // Another one wants the same, and waits for us to leave.
      leave()
      while state.load(ordering: .acquiring) & Self.paused != 0 {
        SystemCall.sleep(microseconds: 50)
      }
      state.add(1, ordering: .acquiring)
      guard SystemCall.seconds < deadline else { return false }
    }
    defer { state.bitwiseAnd(~Self.paused, ordering: .releasing) }
    while runningCount > 1 {
      guard SystemCall.seconds < deadline else { return false }
      SystemCall.sleep(microseconds: 50)
    }
    body()
    return true
  }
}
