import Foundation

/// Something that happened, seen by all threads.
final class Flag: @unchecked Sendable {  // Guard: `lock`.
  private let lock = NSLock()
  private var value = false

  var isSet: Bool { lock.withLock { value } }

  func set() { lock.withLock { value = true } }
}

/// Threads of their own, off the concurrent pool, which tests may block.
final class Threads: @unchecked Sendable {  // Guard: `lock`.
  private let lock = NSLock()
  private let group = DispatchGroup()
  private var failure: (any Error)?

  struct Stuck: Error {}

  init(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) {
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
  func join(timeoutSeconds: Double = 60) throws {
    guard group.wait(timeout: .now() + timeoutSeconds) == .success else { throw Stuck() }
    if let failure = lock.withLock({ failure }) { throw failure }
  }
}
