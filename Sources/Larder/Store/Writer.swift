internal import Dispatch
internal import LarderLMDB

/// The one line that all writes of a process stand in.
///
/// A serial queue: a transaction runs from begin to commit inside one block, so on one thread,
/// and neither fsync nor another process's lock ever blocks the cooperative pool.
final class Writer: Sendable {
  private let queue = DispatchQueue(label: "larder.writer")
  private let isCurrent: Locked<DispatchSpecificKey<Bool>>

  init() {
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    isCurrent = Locked(key)
  }

  /// Runs `body` in its turn and waits for it.
  ///
  /// - Throws: ``StoreError/nestedWrite`` from within the line itself, where waiting would be
  ///   for ever; whatever `body` throws.
  func run<Result>(_ body: () throws -> Result) throws -> Result {
    if isInLine { throw StoreError.nestedWrite }
    return try queue.sync(execute: body)
  }

  /// Runs `body` in its turn. A task that is cancelled before its turn comes never runs.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let isCancelled = Locked(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async {
          continuation.resume(
            with: Swift.Result {
              if isCancelled.withLock({ $0 }) { throw CancellationError() }
              return try body()
            })
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }

  /// Whether the caller stands in the line: it runs inside a write.
  var isInLine: Bool {
    isCurrent.withLock { DispatchQueue.getSpecific(key: $0) } == true
  }
}
