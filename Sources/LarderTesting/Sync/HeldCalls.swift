internal import LarderLMDB

/// Holds calls until a test says how they end. One that is cancelled while it is held ends with
/// `CancellationError`.
final class HeldCalls<Output: Sendable>: Sendable {
  private struct State {
    var number = 0
    var held: [(number: Int, continuation: CheckedContinuation<Output, any Error>)] = []
  }

  private let state = Locked(State())

  /// - Parameter isHeld: Called when the call is among those that can be ended.
  func hold(_ isHeld: () -> Void) async throws -> Output {
    let number = state.withLock { state in
      state.number += 1
      return state.number
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.held.append((number, continuation))
          return false
        }
        isHeld()
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.held.firstIndex { $0.number == number }.map { state.held.remove(at: $0).continuation }
      }
      continuation?.resume(throwing: CancellationError())
    }
  }

  /// Ends the call that has been held longest; false when none is.
  @discardableResult
  func endFirst(_ result: Result<Output, any Error>) -> Bool {
    let continuation = state.withLock { $0.held.isEmpty ? nil : $0.held.removeFirst().continuation }
    continuation?.resume(with: result)
    return continuation != nil
  }
}
