internal import LarderLMDB

/// Makes things on a thread of its own while the caller uses those that it has made before.
package final class WorkAhead<Element>: @unchecked Sendable {  // Guard: `condition`.
  private let condition = Condition()
  private var made: [Element] = []
  private var failure: (any Error)?
  /// Whether no more will be made.
  private var isAtEnd = false
  /// Whether no more are wanted.
  private var isStopped = false

  private init() {}

  /// Uses all that is made, in order.
  ///
  /// When it returns, nothing is being made any more.
  ///
  /// - Parameters:
  ///   - most: How many may wait to be used, of those that `counts` is true for.
  ///   - make: Makes the next one; nil behind the last. Called by one other thread.
  /// - Throws: What `use` throws; what `make` throws, once all that was made before is used.
  package static func run(
    most: Int, counts: @escaping @Sendable (Element) -> Bool,
    make: @escaping () throws -> Element?, use: (Element) throws -> Void
  ) throws {
    let ahead = WorkAhead()
    // Guard: called by the other thread alone, which has ended before this returns.
    nonisolated(unsafe) let make = make
    WorkQueue("larder.ahead").async { ahead.makeAll(most, counts, make) }
    defer { ahead.stop() }
    while let element = try ahead.next() { try use(element) }
  }

  private func makeAll(
    _ most: Int, _ counts: (Element) -> Bool, _ make: () throws -> Element?
  ) {
    do {
      while let element = try make() {
        let isWanted: Bool = condition.withLock {
          made.append(element)
          condition.broadcast()
          while !self.isStopped, made.count(where: counts) >= most { condition.wait() }
          return !self.isStopped
        }
        if !isWanted { break }
      }
      end(nil)
    } catch {
      end(error)
    }
  }

  private func end(_ failure: (any Error)?) {
    condition.withLock {
      self.failure = failure
      isAtEnd = true
      condition.broadcast()
    }
  }

  private func next() throws -> Element? {
    condition.lock()
    defer { condition.unlock() }
    while made.isEmpty, !isAtEnd { condition.wait() }
    guard made.isEmpty else {
      condition.broadcast()
      return made.removeFirst()
    }
    if let failure { throw failure }
    return nil
  }

  private func stop() {
    condition.withLock {
      isStopped = true
      condition.broadcast()
      while !isAtEnd { condition.wait() }
    }
  }
}
