import Synchronization

/// Counts the transactions of an environment that run, and keeps new ones out while it closes
/// or takes on another map size.
///
/// Threads count in places of their own, so that those which read side by side change nothing in
/// common. A transaction may end on another thread than it began on: only the sum says something,
/// and only while new ones are kept out. It is never too small then: it has whoever was let in, and
/// may still have one who leaves.
struct Gate: ~Copyable, Sendable {
  private static let shut = 1
  private static let paused = 2
  private static let placeCount = 32

  private let counts = PaddedAtomics(count: placeCount)
  /// Read by all who enter, and hardly ever written; behind it nothing else in its line.
  private let marks = PaddedAtomics(count: 1)

  private var mark: UnsafeMutablePointer<Atomic<Int>> { @inline(__always) get { marks[0] } }

  /// False when the gate is shut; waits while it is paused.
  @inline(__always)
  func enter() -> Bool { isLetIn() || enterLater() }

  /// Counts first and looks then, while those who keep others out mark first and count then: one of
  /// the two sees the other.
  @inline(__always)
  private func isLetIn() -> Bool {
    counts[PaddedAtomics.placeOfThread % Self.placeCount].pointee
      .add(1, ordering: .sequentiallyConsistent)
    return mark.pointee.load(ordering: .sequentiallyConsistent) == 0
  }

  @inline(never)
  private func enterLater() -> Bool {
    while true {
      leave()
      guard !isShut else { return false }
      SystemCall.sleep(microseconds: 50)
      if isLetIn() { return true }
    }
  }

  @inline(__always)
  func leave() {
    counts[PaddedAtomics.placeOfThread % Self.placeCount].pointee.subtract(1, ordering: .releasing)
  }

  var isShut: Bool { mark.pointee.load(ordering: .acquiring) & Self.shut != 0 }

  private var isPaused: Bool { mark.pointee.load(ordering: .acquiring) & Self.paused != 0 }

  /// How many are inside, while new ones are kept out; about as many otherwise.
  var runningCount: Int {
    (0..<Self.placeCount).reduce(0) {
      $0 + counts[$1].pointee.load(ordering: .sequentiallyConsistent)
    }
  }

  func shut() { mark.pointee.bitwiseOr(Self.shut, ordering: .sequentiallyConsistent) }

  func reopen() { mark.pointee.bitwiseAnd(~Self.shut, ordering: .sequentiallyConsistent) }

  /// Keeps new ones out, waits until nobody else is inside, and runs `body`; false, without running
  /// it, when somebody is still there at `deadline`, in seconds of ``SystemCall/seconds``. The
  /// caller is inside itself and counts as one.
  func alone(until deadline: Double, _ body: () -> Void) -> Bool {
    while mark.pointee.bitwiseOr(Self.paused, ordering: .sequentiallyConsistent).oldValue
      & Self.paused != 0
    {
      // Another one wants the same, and waits for us to leave.
      leave()
      while isPaused { SystemCall.sleep(microseconds: 50) }
      _ = isLetIn()
      guard SystemCall.seconds < deadline else { return false }
    }
    defer { mark.pointee.bitwiseAnd(~Self.paused, ordering: .sequentiallyConsistent) }
    while runningCount > 1 {
      guard SystemCall.seconds < deadline else { return false }
      SystemCall.sleep(microseconds: 50)
    }
    body()
    return true
  }
}
