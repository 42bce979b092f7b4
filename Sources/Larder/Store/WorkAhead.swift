internal import LarderLMDB

/// Makes things on other threads while the caller uses those that were made before.
package final class WorkAhead<Element>: @unchecked Sendable {  // Guard: `condition`.
  private let condition = Condition()
  /// What waits to be used, by its number.
  private var made: [Int: Result<Element, any Error>] = [:]
  private var makingCount = 0
  private var nextUsed = 0
  private var threadCount: Int
  /// Whether no more will be begun.
  private var isAtEnd = false

  private init(threadCount: Int) { self.threadCount = threadCount }

  /// Uses all that one other thread makes, in order.
  ///
  /// When it returns, nothing is being made any more.
  ///
  /// - Parameters:
  ///   - most: How many may wait to be used, of those that `counts` is true for.
  ///   - make: Makes the next one; nil behind the last.
  /// - Throws: What `use` throws; what `make` throws, once all that was made before is used.
  package static func run(
    most: Int, counts: @escaping @Sendable (Element) -> Bool,
    make: @escaping () throws -> Element?, use: (Element) throws -> Void
  ) throws {
    try run(most: most, counts: counts, take: make, makers: [{ $0 }], use: use)
  }

  /// Uses all that several threads make, in the order in which they took what it is made of.
  ///
  /// When it returns, nothing is being made any more.
  ///
  /// - Parameters:
  ///   - most: How many may be made or wait to be used, of those that `counts` is true for.
  ///   - take: Gives what the next one is made of; nil behind the last. Called by one thread at a time, and
  ///     never again once it has given nil or thrown.
  ///   - makers: One for each thread.
  /// - Throws: What `use` throws; what `take` or a maker throws, once all that comes before is used.
  package static func run<Input>(
    most: Int, counts: @escaping @Sendable (Element) -> Bool = { _ in true },
    take: @escaping () throws -> Input?, makers: [(Input) throws -> Element],
    use: (Element) throws -> Void
  ) throws {
    let ahead = WorkAhead(threadCount: makers.count)
    let turns = Turns(take)
    for make in makers {
      // Guard: called by one other thread, which has ended before this returns.
      nonisolated(unsafe) let make = make
      WorkQueue("larder.ahead").async { ahead.makeAll(most, counts, turns, make) }
    }
    defer { ahead.stop() }
    while let element = try ahead.next() { try use(element) }
  }

  private func makeAll<Input>(
    _ most: Int, _ counts: (Element) -> Bool, _ turns: Turns<Input>,
    _ make: (Input) throws -> Element
  ) {
    while begin(most, counts) {
      let turn = turns.next()
      let result = turn.map { turn in Result { try make(turn.input.get()) } }
      condition.withLock {
        makingCount -= 1
        if let turn { made[turn.number] = result }
        if case .success? = result {} else { isAtEnd = true }
        condition.broadcast()
      }
    }
    condition.withLock {
      threadCount -= 1
      condition.broadcast()
    }
  }

  /// Waits for room for one more; false where none is wanted.
  private func begin(_ most: Int, _ counts: (Element) -> Bool) -> Bool {
    condition.withLock {
      while !isAtEnd, makingCount + waitingCount(counts) >= most { condition.wait() }
      if !isAtEnd { makingCount += 1 }
      return !isAtEnd
    }
  }

  private func waitingCount(_ counts: (Element) -> Bool) -> Int {
    made.values.count { if case .success(let element) = $0 { counts(element) } else { true } }
  }

  private func next() throws -> Element? {
    let result: Result<Element, any Error>? = condition.withLock {
      while made[nextUsed] == nil, threadCount > 0 { condition.wait() }
      let result = made.removeValue(forKey: nextUsed)
      nextUsed += 1
      condition.broadcast()
      return result
    }
    return try result?.get()
  }

  private func stop() {
    condition.withLock {
      isAtEnd = true
      condition.broadcast()
      while threadCount > 0 { condition.wait() }
    }
  }
}

/// What things are made of, numbered as it is taken.
private final class Turns<Input>: @unchecked Sendable {  // Guard: `lock`.
  private let lock = Locked(())
  private let take: () throws -> Input?
  private var number = 0
  private var isAtEnd = false

  init(_ take: @escaping () throws -> Input?) { self.take = take }

  /// Nil behind the last.
  func next() -> (number: Int, input: Result<Input, any Error>)? {
    nonisolated(unsafe) var next: (number: Int, input: Result<Input, any Error>)?
    lock.withLock { _ in
      guard !isAtEnd else { return }
      do {
        next = try take().map { (number, .success($0)) }
      } catch {
        next = (number, .failure(error))
      }
      number += 1
      if case .success? = next?.input {} else { isAtEnd = true }
    }
    return next
  }
}
