internal import Dispatch
internal import LarderLMDB

/// Work that waits for the disk for long, which the threads of tasks should not.
enum DiskWork {
  /// Runs `body` on another thread. It is given `progress`, which throws a `CancellationError` once the
  /// task was cancelled.
  ///
  /// - Throws: Whatever `body` throws.
  static func run<Result: Sendable>(
    _ progress: @escaping @Sendable (StoreProgress) throws -> Void,
    _ body: @escaping @Sendable (_ progress: (StoreProgress) throws -> Void) throws -> Result
  ) async throws -> Result {
    let isCancelled = Locked(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            with: Swift.Result {
              try body { news in
                try progress(news)
                if isCancelled.withLock({ $0 }) { throw CancellationError() }
              }
            })
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }
}
