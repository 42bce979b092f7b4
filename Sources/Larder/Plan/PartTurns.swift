internal import LarderLMDB

/// Turns of parts that several threads work on at once, in the order of the parts.
///
/// A part that waits never waits for itself: parts are begun in their order, so that the first of those that
/// are not done is being worked on, and its turn has come.
final class PartTurns: @unchecked Sendable {
  private let condition = Condition()
  /// The part whose turn it is, and the first that has failed. Behind the lock.
  private var current = 0
  private var firstFailed = Int.max

  /// A part before has failed, and its error is the one that counts.
  private struct OtherFailed: Error {}

  /// Does the work of a part; its turn ends with it.
  ///
  /// - Throws: What `body` throws.
  func take<Result>(_ number: Int, _ body: () throws -> Result) throws -> Result {
    do {
      let result = try body()
      try wait(for: number)
      condition.withLock {
        current = number + 1
        condition.broadcast()
      }
      return result
    } catch {
      condition.withLock {
        firstFailed = min(firstFailed, number)
        condition.broadcast()
      }
      throw error
    }
  }

  /// Waits until all parts before are done.
  ///
  /// - Throws: An error without meaning where one of them has failed.
  func wait(for number: Int) throws {
    try condition.withLock {
      while current < number {
        if firstFailed < number { throw OtherFailed() }
        condition.wait()
      }
    }
  }
}
