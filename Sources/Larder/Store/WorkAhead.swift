internal import LarderLMDB

/// Makes things on other threads while the caller uses those that were made before.
package final class WorkAhead<Input, Element>: @unchecked Sendable {
  // Guard: `takenCount` for what is taken, `condition` for all else.
  private let takenCount = Locked(0)
  private var take: (() throws -> Input?)?
  private let condition = Condition()
  private let most: Int
  private var weigh: ((Input) -> Int)?
  /// Results that wait to be used, with their weights, by their numbers.
  private var made: [Int: (result: Result<Element, any Error>, weight: Int)] = [:]
  /// The weights of all that is being made or waits to be used.
  private var waitingWeight = 0
  private var nextUsed = 0
  private var threadCount: Int
  /// Whether no more will be begun.
  private var isAtEnd = false

  private init(
    _ most: Int, _ weight: @escaping (Input) -> Int, _ take: @escaping () throws -> Input?,
    threadCount: Int
  ) {
    self.most = most
    weigh = weight
    self.take = take
    self.threadCount = threadCount
  }

  /// Uses all that several threads make, in the order in which they took what it is made of.
  ///
  /// When it returns, nothing is being made any more.
  ///
  /// - Parameters:
  ///   - most: How much may be made or wait to be used, and one thing more.
  ///   - weight: How much one thing counts.
  ///   - take: Gives what the next one is made of; nil behind the last. Called by one thread at a time, and
  ///     never again once it has given nil or thrown.
  ///   - makers: One for each thread.
  /// - Throws: What `use` throws; what `take` or a maker throws, once all that comes before is used.
  package static func run(
    most: Int, weight: @escaping (Input) -> Int = { _ in 1 },
    take: @escaping () throws -> Input?, makers: [(Input) throws -> Element],
    use: (Element) throws -> Void
  ) throws {
    let ahead = WorkAhead(max(most, 1), weight, take, threadCount: makers.count)
    let boxes = makers.map { Box($0) }
    for box in boxes { WorkQueue("larder.ahead").async { ahead.makeAll(box) } }
    defer {
      ahead.stop()
      // Frees unused results, and what the closures hold, before this returns. Otherwise they would live until the
      // other threads let go of this object.
      ahead.made = [:]
      ahead.take = nil
      ahead.weigh = nil
      for box in boxes { box.make = nil }
    }
    while let element = try ahead.next() { try use(element) }
  }

  /// The maker of one thread.
  private final class Box: @unchecked Sendable {
    // Guard: used by that thread, and by the caller once the thread has ended.
    var make: ((Input) throws -> Element)?

    init(_ make: @escaping (Input) throws -> Element) { self.make = make }
  }

  private func makeAll(_ box: Box) {
    while let (number, input, weight) = begin() {
      let result = Result { () throws -> Element in
        guard let make = box.make else { preconditionFailure("the caller waits for its threads") }
        return try make(input.get())
      }
      condition.withLock {
        made[number] = (result, weight)
        if case .failure = result { isAtEnd = true }
        condition.broadcast()
      }
    }
    condition.withLock {
      threadCount -= 1
      condition.broadcast()
    }
  }

  /// Takes what the next one is made of, once there is room for it; nil where there is none.
  private func begin() -> (number: Int, input: Result<Input, any Error>, weight: Int)? {
    nonisolated(unsafe) var begun: (number: Int, input: Result<Input, any Error>, weight: Int)?
    takenCount.withLock { count in
      let isWanted: Bool = condition.withLock {
        while !isAtEnd, waitingWeight >= most { condition.wait() }
        return !isAtEnd
      }
      guard isWanted, let take else { return }
      let input: Result<Input, any Error>
      do {
        guard let taken = try take() else { return end() }
        input = .success(taken)
      } catch {
        input = .failure(error)
        end()
      }
      let weight = (try? input.get()).flatMap { weigh?($0) } ?? 0
      condition.withLock { waitingWeight += weight }
      begun = (count, input, weight)
      count += 1
    }
    return begun
  }

  private func end() {
    condition.withLock {
      isAtEnd = true
      condition.broadcast()
    }
  }

  private func next() throws -> Element? {
    let result: Result<Element, any Error>? = condition.withLock {
      while made[nextUsed] == nil, threadCount > 0 { condition.wait() }
      guard let (result, weight) = made.removeValue(forKey: nextUsed) else { return nil }
      nextUsed += 1
      waitingWeight -= weight
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

extension WorkAhead where Input == Element {
  /// Uses all that one other thread makes, in order.
  ///
  /// When it returns, nothing is being made any more.
  ///
  /// - Parameters:
  ///   - most: How many may wait to be used, of those that `counts` is true for.
  ///   - make: Makes the next one; nil behind the last.
  /// - Throws: What `use` throws; what `make` throws, once all that was made before is used.
  package static func run(
    most: Int, counts: @escaping (Element) -> Bool, make: @escaping () throws -> Element?,
    use: (Element) throws -> Void
  ) throws {
    try run(
      most: most, weight: { counts($0) ? 1 : 0 }, take: make, makers: [{ $0 }], use: use)
  }
}
