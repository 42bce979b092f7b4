internal import LarderLMDB

/// Owns one watcher: its seat, and the work that is done when there is news. The work is done
/// where ``next()`` runs, which is the concurrent pool and never an actor of the caller.
final class Watcher<Element: Sendable>: Sendable {
  private struct State {
    var work: any WatchWork<Element>
    var isFinished = false
    /// Whether a suspension has refused the last look: what its mark was made for is still to be seen, and
    /// nothing may be skipped.
    var isLookOwed = false
    /// Whether that look was for what is ignored, too.
    var isIgnoredOwed = false
  }

  private let seat: WatchSeat
  private let state: Locked<State>
  private let leave: @Sendable () -> Void
  /// The limit that it looks at, and the number to leave it by.
  private let followed = Locked<(limit: GrowingLimit, number: Int)?>(nil)

  /// - Parameter leave: Called when nobody can ask for elements any more.
  init(
    _ work: sending any WatchWork<Element>, at seat: WatchSeat,
    leave: @escaping @Sendable () -> Void
  ) {
    self.seat = seat
    self.leave = leave
    state = Locked(State(work: work))
  }

  deinit {
    leave()
    if let (limit, number) = followed.withLock({ $0 }) { limit.leave(number) }
  }

  /// Looks again when a limit has grown. To be called once.
  func follow(_ limit: GrowingLimit?) {
    guard let limit else { return }
    let number = limit.follow { [weak seat] in
      seat?.signal(after: 0)
      return seat != nil
    }
    followed.withLock { $0 = (limit, number) }
  }

  /// The next element; nil once the task is cancelled, or after an error.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/closed``.
  @concurrent func next() async throws -> Element? {
    WatchClosing.note(seat)
    while !Task.isCancelled {
      if let element = try look() { return element }
      if state.withLock({ $0.isFinished }) { return nil }
      await seat.wait()
    }
    state.withLock { $0.isFinished = true }
    return nil
  }

  /// Returns when there may be something new, or the task is cancelled.
  func wait() async { await seat.wait() }

  /// What is new at once; nil where nothing is.
  ///
  /// - Parameter withIgnored: Whether that which is ignored is new, too.
  func look(withIgnored: Bool = false) throws -> Element? {
    try state.withLock { state in
      if state.isFinished { return nil }
      // Taken before the store is looked at, so that nothing falls in between; and by whoever looks, so
      // that no other task looks by a later mark before.
      let skipped = seat.take()
      let withIgnored = withIgnored || state.isIgnoredOwed
      do {
        guard let skipped else { throw StoreError.closed }
        let element =
          withIgnored
          ? try state.work.nextWithIgnored()
          : try state.work.next(skippingTo: state.isLookOwed ? 0 : skipped)
        (state.isLookOwed, state.isIgnoredOwed) = (false, false)
        return element
      } catch let error as StoreError where error.isSuspended || error.isOutgrown {
        // It is signalled when the store is resumed, or is not suspended after all.
        if error.isOutgrown { seat.signalSoon() }
        (state.isLookOwed, state.isIgnoredOwed) = (true, withIgnored)
        return nil
      } catch {
        state.isFinished = true
        throw error
      }
    }
  }
}
