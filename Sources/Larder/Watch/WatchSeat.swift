internal import Dispatch
internal import LarderLMDB

/// Where a watcher waits for news. News that nobody has taken yet are one mark, however many they
/// are: the change log has the rest.
final class WatchSeat: Sendable {
  struct State {
    var isPending = false
    var isClosed = false
    /// Changes up to this one do not concern the watcher.
    var skipped: UInt64 = 0
    /// One, unless somebody lets two tasks wait at one watcher.
    var waiting: [UnsafeContinuation<Void, Never>] = []
  }

  let state = Locked(State())

  /// Tells the watcher that there is something behind `position`.
  func signal(after position: UInt64) {
    wake { state in
      if state.isPending { return }
      state.isPending = true
      state.skipped = max(state.skipped, position)
    }
  }

  /// Has the watcher look once more, behind a read that keeps it from looking now.
  func signalSoon() {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(500)) { [weak self] in
      self?.signal(after: 0)
    }
  }

  /// Tells the watcher that nothing comes any more.
  func close() { wake { $0.isClosed = true } }

  private func wake(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      let waiting = state.waiting
      state.waiting = []
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Takes the mark away. Whoever then looks at the store sees what it was made for; what comes
  /// later makes a new one. Where that look fails, later marks say too much of what nothing concerns:
  /// what this one was made for is not to be skipped.
  ///
  /// - Returns: The change up to which nothing concerns the watcher; nil when it is closed.
  func take() -> UInt64? {
    state.withLock { state in
      state.isPending = false
      return state.isClosed ? nil : state.skipped
    }
  }

  /// Returns when there is a mark, when the seat is closed, or when the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isOver = state.withLock { state in
          // The cancellation handler has run already, or will find the continuation.
          if state.isPending || state.isClosed || Task.isCancelled { return true }
          state.waiting.append(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      wake { _ in }
    }
  }
}
