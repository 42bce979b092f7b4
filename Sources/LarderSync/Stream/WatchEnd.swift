internal import LarderLMDB

/// The end of a watch that may come while somebody waits for something else.
final class WatchEnd: Sendable {
  private struct State {
    var hasCome = false
    var waiting: Task<Void, any Error>?
  }

  private let state = Locked(State())

  /// It has come; whoever waits need not.
  func come() {
    let waiting = state.withLock { state in
      state.hasCome = true
      return state.waiting
    }
    waiting?.cancel()
  }

  /// Whether `wait` was over before it; cancels `wait` otherwise, and with the task. For one at a time.
  func isAfter(_ wait: @escaping @Sendable () async throws -> Void) async -> Bool {
    let task = Task { try await wait() }
    let hasCome = state.withLock { state in
      state.waiting = task
      return state.hasCome
    }
    if hasCome { task.cancel() }
    // It throws when it is cancelled only.
    return await withTaskCancellationHandler {
      (try? await task.value) != nil
    } onCancel: {
      task.cancel()
    }
  }
}
