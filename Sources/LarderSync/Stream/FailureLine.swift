/// Which failure a handler has in hand, and which one comes next: a state machine that is told what
/// happened and says what is to be done. It knows no lock, task or clock.
///
/// One failure at a time. Of those that come meanwhile the latest is kept, except for those that say
/// what the one in hand says already: who has just read "offline" need not read it again.
struct FailureLine {
  typealias Leaver = UnsafeContinuation<Void, Never>

  private var inHand: (any Error)?
  private var next: (any Error)?
  private var leaver: Leaver?
  private(set) var isClosed = false

  /// A failure comes.
  ///
  /// - Returns: Whether it is to be handled now.
  mutating func take(_ error: any Error) -> Bool {
    if isClosed { return false }
    guard let inHand else {
      inHand = error
      return true
    }
    if "\(error)" != "\(inHand)" { next = error }
    return false
  }

  /// The failure in hand was handled.
  ///
  /// - Returns: The one that is to be handled now, or else who has waited for the last one.
  mutating func finish() -> (next: (any Error)?, leaver: Leaver?) {
    inHand = next
    next = nil
    if inHand != nil { return (inHand, nil) }
    defer { leaver = nil }
    return (nil, leaver)
  }

  /// Somebody waits until all failures were handled.
  ///
  /// - Returns: Whether there is nothing to wait for.
  mutating func leave(_ leaver: Leaver) -> Bool {
    if inHand == nil || isClosed { return true }
    self.leaver = leaver
    return false
  }

  /// Nobody wants anything to be handled any more.
  ///
  /// - Returns: Who need not wait any more.
  mutating func close() -> Leaver? {
    isClosed = true
    next = nil
    defer { leaver = nil }
    return leaver
  }
}
