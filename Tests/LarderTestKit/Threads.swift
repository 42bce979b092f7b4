import Foundation

/// Something that happened, seen by all threads.
package final class Flag: @unchecked Sendable {  // Guard: `lock`.
  private let lock = NSLock()
  private var value = false

  package init() {}

  package var isSet: Bool { lock.withLock { value } }

  package func set() { lock.withLock { value = true } }
}

/// Threads of their own, off the concurrent pool, which tests may block.
package final class Threads: @unchecked Sendable {  // Guard: `lock`.
  private let lock = NSLock()
  private let group = DispatchGroup()
  private var failure: (any Error)?

  package struct Stuck: Error {}

  package init(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
    for number in 0..<count {
      group.enter()
      let thread = Thread { [self] in
        do {
          try body(number)
        } catch {
          lock.withLock { failure = error }
        }
        group.leave()
      }
      thread.stackSize = 1 << 20
      thread.start()
    }
  }

  /// Waits for all of them, and throws what the last one that failed threw.
  package func join(timeoutSeconds: Double = 300) throws {
    guard group.wait(timeout: .now() + timeoutSeconds) == .success else { throw Stuck() }
    if let failure = lock.withLock({ failure }) { throw failure }
  }
}
