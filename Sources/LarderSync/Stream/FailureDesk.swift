internal import LarderLMDB

/// Owns the handling of the failures of one iteration: a task beside it, cancelled when the iteration
/// is released.
final class FailureDesk: Sendable {
  typealias Handler = @Sendable (any Error) async -> Void

  private struct State {
    var line = FailureLine()
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())
  private let handler: Handler

  init(_ handler: @escaping Handler) { self.handler = handler }

  deinit { close() }

  /// Has a failure handled, and does not wait for that.
  func take(_ error: any Error) {
    guard state.withLock({ $0.line.take(error) }) else { return }
    // It holds the state and not this desk, which could not be let go of otherwise.
    let task = Task { [state, handler] in
      var due = error
      while true {
        await handler(due)
        let (next, leaver) = state.withLock { $0.line.finish() }
        leaver?.resume()
        guard let next else { return }
        due = next
      }
    }
    let isClosed = state.withLock { state in
      state.task = task
      return state.line.isClosed
    }
    if isClosed { task.cancel() }
  }

  /// Returns when all failures were handled, or the task is cancelled.
  func drain() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { leaver in
        if state.withLock({ $0.line.leave(leaver) }) { leaver.resume() }
      }
    } onCancel: {
      close()
    }
  }

  /// Cancels what is being handled, and begins nothing more.
  func close() {
    let (leaver, task) = state.withLock { state in
      defer { state.task = nil }
      return (state.line.close(), state.task)
    }
    task?.cancel()
    leaver?.resume()
  }
}
