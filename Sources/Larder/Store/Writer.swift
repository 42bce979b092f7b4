internal import Dispatch
internal import LarderLMDB
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// The one line that all writes of a process stand in.
///
/// A serial queue: a transaction runs from begin to commit inside one block, so on one thread,
/// and neither fsync nor another process's lock ever blocks the cooperative pool.
final class Writer: Sendable {
  private let queue = DispatchQueue(label: "larder.writer")
  /// The thread that runs in the line, else zero. Dispatch cannot be asked: inside the line of
  /// another store it does not see this one.
  private let runningThread = Atomic<UInt>(0)

  /// Runs `body` in its turn and waits for it.
  ///
  /// - Throws: ``StoreError/nestedWrite`` from within the line itself, where waiting would be
  ///   for ever; whatever `body` throws.
  func run<Result>(_ body: () throws -> Result) throws -> Result {
    if isInLine { throw StoreError.nestedWrite }
    return try queue.sync { try running(body) }
  }

  /// Runs `body` in its turn. A task that is cancelled before its turn comes never runs.
  func run<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    let isCancelled = Locked(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [self] in
          continuation.resume(
            with: Swift.Result {
              if isCancelled.withLock({ $0 }) { throw CancellationError() }
              return try running(body)
            })
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }

  /// Runs `body` in its turn, some time.
  func enqueue(_ body: @escaping @Sendable () -> Void) {
    queue.async { [self] in running(body) }
  }

  private func running<Result>(_ body: () throws -> Result) rethrows -> Result {
    runningThread.store(Self.thisThread, ordering: .relaxed)
    defer { runningThread.store(0, ordering: .relaxed) }
    return try body()
  }

  /// Whether the caller stands in the line: it runs inside a write. Only a thread itself can
  /// have stored its own number, so that no order is needed.
  var isInLine: Bool { runningThread.load(ordering: .relaxed) == Self.thisThread }

  private static var thisThread: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}
