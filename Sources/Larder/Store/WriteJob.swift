internal import LarderLMDB

/// A write that waits for its turn.
final class WriteJob: Sendable {
  private enum Phase { case waiting, running, ended }

  private struct State {
    var phase = Phase.waiting
    /// Whether it waits for no other process any more where it has to begin once more.
    var isGivenUp = false
    var number: UInt64?
    var since = Double.infinity
  }

  let engine: Engine
  /// Runs the caller's body; its result stays with the caller.
  let run: @Sendable (inout WriteScope) throws -> Void
  /// Resumes the caller, once what it did is durable or undone.
  let finish: @Sendable ((any Error)?) -> Void
  /// Whether it is so large that it should have a transaction of its own.
  let isLarge: Bool
  /// Whether it is the write of the thread that was lent the line, and no task's.
  let isLender: Bool
  private let state = Locked(State())

  init(
    _ engine: Engine, isLarge: Bool, isLender: Bool = false,
    run: @escaping @Sendable (inout WriteScope) throws -> Void,
    finish: @escaping @Sendable ((any Error)?) -> Void
  ) {
    self.engine = engine
    self.run = run
    self.finish = finish
    self.isLarge = isLarge
    self.isLender = isLender
  }

  /// Whether it has not begun yet.
  var isWaiting: Bool { state.withLock { $0.phase == .waiting } }
  /// Whether it has begun and not ended; it may have to begin again.
  var isRunning: Bool { state.withLock { $0.phase == .running } }
  /// Whether whoever waits for it has heard of its end, or is about to.
  var isEnded: Bool { state.withLock { $0.phase == .ended } }
  /// Says the same, and does not keep it.
  var hasEnded: @Sendable () -> Bool { { [state] in state.withLock { $0.phase == .ended } } }
  /// Whether it waits for other processes before it begins, or begins again.
  var isWanted: Bool { state.withLock { $0.phase != .ended && !$0.isGivenUp } }
  /// Where it stands in the line; nil before it does.
  var number: UInt64? { state.withLock { $0.number } }
  /// Since when it stands there, in seconds of ``WriteWait/now``; infinite before it does.
  var since: Double { state.withLock { $0.since } }

  func stand(at number: UInt64, since start: Double) {
    state.withLock { state in
      state.number = number
      state.since = start
    }
  }

  /// Ends it where it has not begun, and returns whether it has not; whoever asked finishes it.
  func endsEarly() -> Bool {
    state.withLock { state in
      defer { if state.phase == .waiting { state.phase = .ended } }
      return state.phase == .waiting
    }
  }

  /// The same; one that has begun runs to its end, but waits for no other process any more where it has
  /// to begin again.
  func endsForGood() -> Bool {
    state.withLock { state in
      defer { if state.phase == .waiting { state.phase = .ended } else { state.isGivenUp = true } }
      return state.phase == .waiting
    }
  }

  /// Begins it, or begins it again; false where it has ended before its turn came.
  func begins() -> Bool {
    state.withLock { state in
      if state.phase == .waiting { state.phase = .running }
      return state.phase == .running
    }
  }

  /// Finishes it, unless that was done before its turn came.
  func end(_ error: (any Error)?) {
    let isOurs = state.withLock { state in
      defer { state.phase = .ended }
      return state.phase != .ended
    }
    if isOurs { finish(error) }
  }
}
