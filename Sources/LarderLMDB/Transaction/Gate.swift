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
  private static let ended = 4
  private static let resting = 8
  private static let placeCount = 32

  private let counts = PaddedAtomics(count: placeCount)
  /// Read by all who enter, and hardly ever written; behind it nothing else in its line.
  private let marks = PaddedAtomics(count: 1)
  /// Those inside who wait for another one who is alone.
  private let waiters = PaddedAtomics(count: 1)

  /// Held while it is decided whether one more comes in, or nobody any more.
  private let deciding = Locked(false)

  private var mark: UnsafeMutablePointer<Atomic<Int>> { @inline(__always) get { marks[0] } }

  private var waitingCount: UnsafeMutablePointer<Atomic<Int>> { waiters[0] }

  /// Counts one more for a caller who is inside already, and leaves after it. Never waits: whoever keeps others out
  /// waits for the caller anyway.
  func enterAgain() {
    counts[PaddedAtomics.placeOfThread % Self.placeCount].pointee
      .add(1, ordering: .sequentiallyConsistent)
  }

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

  /// Shuts it until ``reopen()``, and to those who came before as well: they are to be told, and not to
  /// wait.
  func rest() {
    mark.pointee.bitwiseOr(Self.shut | Self.resting, ordering: .sequentiallyConsistent)
  }

  /// Why nobody new is let in.
  enum Closure {
    /// Somebody shuts it, and may open it again.
    case closing
    case resting
    case ended
  }

  /// Nil where it is open. By one look: between two it may have been opened again.
  var closure: Closure? {
    // In one order with what is counted before it is asked for.
    let mark = mark.pointee.load(ordering: .sequentiallyConsistent)
    if mark & Self.ended != 0 { return .ended }
    if mark & Self.resting != 0 { return .resting }
    return mark & Self.shut != 0 ? .closing : nil
  }

  private var isResting: Bool { mark.pointee.load(ordering: .acquiring) & Self.resting != 0 }

  func shut() { mark.pointee.bitwiseOr(Self.shut, ordering: .sequentiallyConsistent) }

  /// Shuts it for good.
  func end() {
    mark.pointee.bitwiseOr(Self.shut | Self.ended, ordering: .sequentiallyConsistent)
  }

  /// Shuts it for good if nobody is inside; it is shut already.
  func endIfEmpty() -> Bool {
    deciding.withLock { _ in
      guard runningCount == 0 else { return false }
      end()
      return true
    }
  }

  var hasEnded: Bool { mark.pointee.load(ordering: .acquiring) & Self.ended != 0 }

  /// Lets in who came before the gate was shut, and had to wait for something else until now: it may
  /// be opened again, as if nothing had been. False once it has ended, and while it rests.
  @inline(never)
  func enterLate() -> Bool {
    while true {
      let isIn = deciding.withLock { _ -> Bool? in
        if hasEnded || isResting { return false }
        counts[PaddedAtomics.placeOfThread % Self.placeCount].pointee
          .add(1, ordering: .sequentiallyConsistent)
        if mark.pointee.load(ordering: .sequentiallyConsistent) & ~Self.shut == 0 { return true }
        leave()
        return nil
      }
      if let isIn { return isIn }
      SystemCall.sleep(microseconds: 50)
    }
  }

  /// Opens it again, unless it has ended.
  func reopen() {
    let old = mark.pointee.bitwiseAnd(
      ~(Self.shut | Self.resting), ordering: .sequentiallyConsistent
    ).oldValue
    if old & Self.ended != 0 { end() }
  }

  /// How an attempt to be alone ended.
  enum Attempt {
    case ran
    /// Somebody was still inside at the deadline.
    case late
    /// The gate rests, or has ended.
    case shut
    /// Somebody else is trying, and waits for the caller.
    case other
  }

  /// Keeps new ones out, waits until nobody else is inside, and runs `body`; false, without running
  /// it, when somebody is still there at `deadline`, in seconds of ``SystemCall/seconds``, or when
  /// the gate rests or has ended. The caller is inside itself and counts as one. It holds nothing that another
  /// one who is alone may take away.
  func alone(until deadline: Double, _ body: () -> Void) -> Bool {
    while true {
      switch tryAlone(until: deadline, body) {
      case .ran: return true
      case .late, .shut: return false
      case .other: guard waitForOther(until: deadline) else { return false }
      }
    }
  }

  /// The same for a caller who may hold something: it does not wait where another one tries to be
  /// alone.
  func tryAlone(until deadline: Double, _ body: () -> Void) -> Attempt {
    let old = mark.pointee.bitwiseOr(Self.paused, ordering: .sequentiallyConsistent).oldValue
    guard old & Self.paused == 0 else { return .other }
    defer { mark.pointee.bitwiseAnd(~Self.paused, ordering: .sequentiallyConsistent) }
    // Whoever closes waits for us, so that what is inside is still there; but there may be nothing
    // inside any more where the one before us has failed.
    guard old & (Self.resting | Self.ended) == 0 else { return .shut }
    while busyCount > 1 {
      guard SystemCall.seconds < deadline else { return .late }
      SystemCall.sleep(microseconds: 50)
    }
    body()
    return .ran
  }

  /// Waits until the one who tries to be alone has done so, or has given up; false where it has not
  /// at `deadline`.
  ///
  /// The caller stays inside, so that nobody closes, and makes way for those who want to be alone. It
  /// must hold nothing meanwhile that they may take away. Where this returns false it may only leave.
  func waitForOther(until deadline: Double) -> Bool {
    repeat {
      waitingCount.pointee.add(1, ordering: .sequentiallyConsistent)
      while isPaused {
        guard SystemCall.seconds < deadline else {
          waitingCount.pointee.subtract(1, ordering: .sequentiallyConsistent)
          return false
        }
        SystemCall.sleep(microseconds: 50)
      }
      waitingCount.pointee.subtract(1, ordering: .sequentiallyConsistent)
      // As in `isLetIn`: whoever has paused the gate in between has counted us, or is seen here.
    } while mark.pointee.load(ordering: .sequentiallyConsistent) & Self.paused != 0
    return true
  }

  /// Whether somebody inside waits for another one who is alone.
  var hasWaiter: Bool { waitingCount.pointee.load(ordering: .sequentiallyConsistent) > 0 }

  /// How many are inside and do not wait for one who is alone.
  private var busyCount: Int {
    // In this order: one who gives up waiting in between, and leaves, makes it too large, not too small.
    let running = runningCount
    return running - waitingCount.pointee.load(ordering: .sequentiallyConsistent)
  }
}
