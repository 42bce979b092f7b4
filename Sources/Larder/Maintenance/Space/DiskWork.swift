internal import Dispatch
internal import LarderLMDB

/// Work that waits for the disk for long, which the threads of tasks should not.
enum DiskWork {
  /// Runs `body` on another thread. It is given what says whether the task was cancelled, to be asked
  /// now and then.
  ///
  /// - Throws: Whatever `body` throws.
  static func run<Result: Sendable>(
    _ body: @escaping @Sendable (_ isCancelled: () -> Bool) throws -> Result
  ) async throws -> Result {
    let isCancelled = Locked(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            with: Swift.Result { try body { isCancelled.withLock { $0 } } })
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }
}
