import Dispatch
import Foundation
import LarderLMDB

/// Work on a thread of its own: what blocks must not take one of the few threads that tasks
/// share, or the task that would end the waiting may never run.
final class OnThread<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, any Error>?>(nil)
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () throws -> Value) {
    Thread.detachNewThread { [result, done] in
      let outcome = Result { try body() }
      result.withLock { $0 = outcome }
      done.signal()
    }
  }

  struct NoResult: Error {}

  /// Waits for the end of the work; may be asked once.
  func value() throws -> Value {
    done.wait()
    guard let result = result.withLock({ $0 }) else { throw NoResult() }
    return try result.get()
  }
}
