import Foundation
import LarderLMDB

/// Work on a thread of its own, whose result is asked for later: what blocks must not take one of the
/// few threads that tasks share, or the task that would end the waiting may never run.
package final class OnThread<Value: Sendable>: Sendable {
  private let result = Locked<Result<Value, any Error>?>(nil)
  private let isDone = DispatchSemaphore(value: 0)

  package struct Stuck: Error {}

  package init(_ body: @escaping @Sendable () throws -> Value) {
    let thread = Thread { [result, isDone] in
      let outcome = Result { try body() }
      result.withLock { $0 = outcome }
      isDone.signal()
    }
    thread.stackSize = 1 << 20
    thread.start()
  }

  /// Waits for it; whatever the work throws.
  package func value(timeoutSeconds: Double = 300) throws -> Value {
    guard isDone.wait(timeout: .now() + timeoutSeconds) == .success,
      let result = result.withLock({ $0 })
    else { throw Stuck() }
    isDone.signal()
    return try result.get()
  }
}
