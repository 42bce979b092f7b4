import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct FetchLimiterTests {
  private let limiter = FetchLimiter()
  private let remote = ScriptedRemote<Int>()
  private let new = ScriptedRemote<Int>.Answer.success(.fromRemote(1))

  /// A call that makes one request.
  private func call(_ timing: SyncTiming) async throws -> UpdateStatus {
    try await limiter.run(timing) { [remote] in
      switch try await remote.fetch() {
      case .fromRemote: .updated
      case .prefetched: .alreadyCurrent
      }
    }
  }

  private func calls(_ timing: SyncTiming, _ count: Int) -> [Task<UpdateStatus, any Error>] {
    (0..<count).map { _ in Task { try await call(timing) } }
  }

  private func statuses(_ tasks: [Task<UpdateStatus, any Error>]) async throws -> [UpdateStatus] {
    var statuses: [UpdateStatus] = []
    for task in tasks { statuses.append(try await task.value) }
    return statuses
  }

  // MARK: Many at once

  @Test("10,000 callers at once make one request, and the others are skipped")
  func skipping() async throws {
    let log = Log()
    let tasks = (0..<10_000).map { _ in
      Task {
        let status = try await call(.ifDue)
        log.add("\(status)")
      }
    }

    await log.waitForLines(9_999)
    #expect(Set(log.lines) == ["skipped"])
    await remote.waitForRequests(1)
    #expect(remote.requestCount == 1)
    remote.answer(new)
    for task in tasks { try await task.value }

    #expect(log.lines.last == "updated")
    #expect(remote.requestCount == 1)
  }

  @Test("10,000 callers that join make one request, and all have its outcome")
  func joining() async throws {
    let tasks = calls(.joining, 10_000)
    await settle { limiter.waiterCount == 10_000 }
    await remote.waitForRequests(1)

    remote.answer(new)

    #expect(try await statuses(tasks) == Array(repeating: .updated, count: 10_000))
    #expect(remote.requestCount == 1)
    #expect(!limiter.isFetching)
  }

  @Test("10,000 callers that need it from now on make two requests, one after the other")
  func afterNow() async throws {
    let tasks = calls(.afterNow, 10_000)
    await settle { limiter.waiterCount == 10_000 }
    await remote.waitForRequests(1)
    #expect(remote.requestCount == 1)

    remote.answer(new)
    await remote.waitForRequests(2)
    #expect(remote.openRequestCount == 1)
    remote.answer(.success(.prefetched))

    let statuses = try await statuses(tasks)
    #expect(statuses.count { $0 == .updated } == 1)
    #expect(statuses.count { $0 == .alreadyCurrent } == 9_999)
    #expect(remote.requestCount == 2)
    #expect(!limiter.isFetching)
  }

  @Test("callers of all kinds at once make two requests, of which the later ones share the second")
  func mixed() async throws {
    let first = Task { try await call(.ifDue) }
    await remote.waitForRequests(1)
    let joining = calls(.joining, 100)
    let later = calls(.afterNow, 100)
    let skipped = calls(.ifDue, 100)
    #expect(try await statuses(skipped) == Array(repeating: .skipped, count: 100))
    await settle { limiter.waiterCount == 201 }

    remote.answer(new)
    #expect(try await first.value == .updated)
    #expect(try await statuses(joining) == Array(repeating: .updated, count: 100))
    await remote.waitForRequests(2)
    remote.answer(.success(.prefetched))

    #expect(try await statuses(later) == Array(repeating: .alreadyCurrent, count: 100))
    #expect(remote.requestCount == 2)
  }

  // MARK: Failures

  @Test("a failure is shared by those who joined, and not by those who need a later answer")
  func failing() async throws {
    let joined = calls(.joining, 3)
    await settle { limiter.waiterCount == 3 }
    let later = calls(.afterNow, 3)
    await settle { limiter.waiterCount == 6 }
    await remote.waitForRequests(1)

    remote.answer(.failure(Offline()))
    for task in joined {
      await #expect(throws: Offline()) { try await task.value }
    }
    await remote.waitForRequests(2)
    remote.answer(new)

    #expect(try await statuses(later) == [.updated, .updated, .updated])
  }

  // MARK: Cancelling

  @Test("cancelling one who waits does not cancel the fetch, not even who began it")
  func oneCancelled() async throws {
    let beginner = Task { try await call(.joining) }
    await remote.waitForRequests(1)
    let joined = calls(.joining, 3)
    await settle { limiter.waiterCount == 4 }

    beginner.cancel()
    joined[1].cancel()
    await #expect(throws: CancellationError.self) { try await beginner.value }
    await #expect(throws: CancellationError.self) { try await joined[1].value }
    #expect(limiter.waiterCount == 2)
    #expect(remote.openRequestCount == 1)
    remote.answer(new)

    #expect(try await joined[0].value == .updated)
    #expect(try await joined[2].value == .updated)
  }

  @Test("a fetch that nobody waits for any more goes on, and counts")
  func allCancelled() async throws {
    let clock = ManualClock()
    let limiter = FetchLimiter(minimumInterval: .seconds(60), clock: clock)
    let alone = Task { [remote] in
      try await limiter.run {
        _ = try await remote.fetch()
        return .updated
      }
    }
    await remote.waitForRequests(1)

    alone.cancel()
    await #expect(throws: CancellationError.self) { try await alone.value }
    #expect(limiter.isFetching)
    remote.answer(new)
    await settle { !limiter.isFetching }

    #expect(try limiter.lastSuccess() == clock.date)
    #expect(try await limiter.run { .updated } == .skipped)
  }

  @Test("a fetch that was to follow is not begun when nobody waits for it any more")
  func trailingCancelled() async throws {
    let first = Task { try await call(.ifDue) }
    await remote.waitForRequests(1)
    let later = calls(.afterNow, 2)
    await settle { limiter.waiterCount == 3 }

    for task in later {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    remote.answer(new)

    #expect(try await first.value == .updated)
    #expect(!limiter.isFetching)
    #expect(remote.requestCount == 1)
  }

  @Test("one who is cancelled before it came makes no request")
  func cancelledBefore() async throws {
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await call(.afterNow)
    }

    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(remote.requestCount == 0)
    #expect(!limiter.isFetching)
  }

  @Test("cancel() ends all who wait and the fetch, and nothing follows")
  func cancelling() async throws {
    let waiting = calls(.joining, 2)
    await settle { limiter.waiterCount == 2 }
    let later = calls(.afterNow, 2)
    await settle { limiter.waiterCount == 4 }

    limiter.cancel()

    for task in waiting + later {
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    await remote.waitForEnds(1)
    await settle { !limiter.isFetching }
    #expect(remote.requestCount == 1)
    #expect(limiter.waiterCount == 0)
  }

  @Test("until a cancelled fetch has stopped it is under way; who joins waits for the next one")
  func cancellingDeaf() async throws {
    let deaf = Task {
      try await limiter.run { [remote] in
        // A task of its own hears of no cancellation.
        _ = try await Task { try await remote.fetch() }.value
        return .updated
      }
    }
    await remote.waitForRequests(1)
    limiter.cancel()
    await #expect(throws: CancellationError.self) { try await deaf.value }

    #expect(try await call(.ifDue) == .skipped)
    let joined = Task { try await call(.joining) }
    await settle { limiter.waiterCount == 1 }
    #expect(remote.requestCount == 1)
    remote.answer(new)
    await remote.waitForRequests(2)
    remote.answer(.success(.prefetched))

    #expect(try await joined.value == .alreadyCurrent)
  }

  @Test("a fetch runs in no caller's task: it has none of its cancellation")
  func ownTask() async throws {
    let log = Log()
    let caller = Task { [remote] in
      try await limiter.run {
        _ = try await remote.fetch()
        log.add(Task.isCancelled ? "cancelled" : "going on")
        return .updated
      }
    }
    await remote.waitForRequests(1)
    caller.cancel()
    _ = await caller.result

    remote.answer(new)
    await log.waitForLines(1)

    #expect(log.lines == ["going on"])
  }
}
