import Foundation
import Larder
import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct FetchIntervalTests {
  private let quarter = Duration.seconds(900)

  @Test("within the interval after a success callers are skipped, and from its end on not")
  func interval() async throws {
    let clock = ManualClock()
    let limiter = FetchLimiter(minimumInterval: quarter, clock: clock)
    #expect(try limiter.lastSuccess() == nil)
    #expect(try await limiter.run { .updated } == .updated)
    #expect(try limiter.lastSuccess() == clock.date)

    #expect(try await limiter.run { .updated } == .skipped)
    clock.advance(by: .milliseconds(899_999))
    #expect(try await limiter.run(.joining) { .updated } == .skipped)
    clock.advance(by: .milliseconds(1))

    #expect(try await limiter.run { .alreadyCurrent } == .alreadyCurrent)
    // Nothing new is a success, too.
    #expect(try await limiter.run { .updated } == .skipped)
  }

  @Test("a failure, a cancelled fetch and one that skips do not use up the interval")
  func failure() async throws {
    let limiter = FetchLimiter(minimumInterval: quarter, retrying: nil, clock: ManualClock())

    await #expect(throws: Offline()) { try await limiter.run { throw Offline() } }
    await #expect(throws: FetchInterrupted()) {
      try await limiter.run { throw CancellationError() }
    }
    #expect(try await limiter.run { .skipped } == .skipped)

    #expect(try limiter.lastSuccess() == nil)
    #expect(try await limiter.run { .updated } == .updated)
  }

  @Test("behind a fetch that was not needed streams wait for an interval, and go on")
  func skippedByItself() async throws {
    let clock = ManualClock()
    let limiter = FetchLimiter(minimumInterval: quarter, clock: clock)
    #expect(try await limiter.run { .skipped } == .skipped)

    for number in 1...3 {
      let waiting = Task { try await limiter.waitUntilDue(joining: false) }
      await clock.waitForSleeps(number)
      #expect(clock.sleepDurations[number - 1] == quarter)
      clock.advance(by: quarter)
      try await waiting.value
      #expect(try await limiter.run { .skipped } == .skipped)
    }
    // Who says that it is worth a try is heard.
    limiter.wake()
    try await limiter.waitUntilDue(joining: false)
    #expect(try await limiter.run { .skipped } == .skipped)
    try await limiter.forgetLastSuccess()
    try await limiter.waitUntilDue(joining: false)
    #expect(try await limiter.run { .updated } == .updated)
  }

  @Test("a failure after the interval leaves the last success as it was")
  func failureLater() async throws {
    let clock = ManualClock()
    let limiter = FetchLimiter(minimumInterval: quarter, retrying: nil, clock: clock)
    _ = try await limiter.run { .updated }
    let first = clock.date
    clock.advance(by: quarter)

    await #expect(throws: Offline()) { try await limiter.run { throw Offline() } }

    #expect(try limiter.lastSuccess() == first)
    #expect(try await limiter.run { .updated } == .updated)
  }

  @Test("who needs it from now on does not heed the interval, and begins another")
  func afterNow() async throws {
    let clock = ManualClock()
    let limiter = FetchLimiter(minimumInterval: quarter, clock: clock)
    _ = try await limiter.run { .updated }
    clock.advance(by: .seconds(600))

    #expect(try await limiter.run(.afterNow) { .updated } == .updated)

    clock.advance(by: .seconds(600))
    #expect(try await limiter.run { .updated } == .skipped)
  }

  @Test("setting the time of day does not move the end of an interval that began here")
  func clockSet() async throws {
    for (offset, elapsed) in [(1e9, 899), (-1e9, 899), (1e9, 900), (-1e9, 900)] {
      try await withTemporaryStore { store in
        let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 5e8))
        for limiter in [
          FetchLimiter(minimumInterval: quarter, clock: clock),
          FetchLimiter(minimumInterval: quarter, named: "sellers", in: store, clock: clock),
        ] {
          _ = try await limiter.run { .updated }

          clock.date += offset
          clock.advance(by: .seconds(elapsed))

          #expect(
            try await limiter.run { .updated } == (elapsed == 900 ? .updated : .skipped),
            "\(offset), \(elapsed)")
        }
      }
    }
  }

  // MARK: Across restarts

  @Test("the last success is stored, and counts after a restart, whatever the other clock shows")
  func restart() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let start = Date(timeIntervalSinceReferenceDate: 8e8)
    do {
      let store = try Store(at: folder)
      let clock = ManualClock(date: start, elapsed: .seconds(123_456))
      let limiter = FetchLimiter(
        minimumInterval: quarter, named: "sellers", in: store, clock: clock)
      #expect(try await limiter.run { .updated } == .updated)
      try store.close()
    }

    for (later, isSkipped) in [(0.0, true), (899.9, true), (900, false), (-1, false)] {
      let store = try Store(at: folder)
      let clock = ManualClock(date: start + later)
      let limiter = FetchLimiter(
        minimumInterval: quarter, named: "sellers", in: store, clock: clock)
      let other = FetchLimiter(minimumInterval: quarter, named: "other", in: store, clock: clock)

      #expect(try limiter.lastSuccess() == start)
      #expect(try other.lastSuccess() == nil)
      // One that fails is asked for, and leaves the time as it was.
      if isSkipped {
        #expect(try await limiter.run { throw Offline() } == .skipped)
      } else {
        await #expect(throws: Offline()) { try await limiter.run { throw Offline() } }
      }
      try verifyAndClose(store)
    }
  }

  @Test("a success of another limiter of the same name counts here")
  func shared() async throws {
    try await withTemporaryStore { store in
      let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))
      func limiter() -> FetchLimiter {
        FetchLimiter(minimumInterval: quarter, named: "sellers", in: store, clock: clock)
      }
      let (app, widget) = (limiter(), limiter())
      _ = try await app.run { .updated }
      clock.advance(by: .seconds(600))
      #expect(try await widget.run { .updated } == .skipped)
      #expect(try await widget.run(.afterNow) { .updated } == .updated)

      clock.advance(by: .seconds(600))

      #expect(try await app.run { .updated } == .skipped)
      clock.advance(by: .seconds(300))
      #expect(try await app.run { .updated } == .updated)
    }
  }

  @Test("a success is stored without a change that anybody is told of")
  func quiet() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(1))
      let recorder = EventRecorder(sellers.stream(Seller.all))
      await recorder.waitForEvents(1)
      let limiter = FetchLimiter(minimumInterval: quarter, named: "sellers", in: store)
      let before = try store.statistics()

      _ = try await limiter.run { .updated }

      let after = try store.statistics()
      #expect(after.sequence == before.sequence)
      #expect(after.collections == before.collections)
      try await sellers.save(Seller.many(2))
      await recorder.waitForEvents(2)
      #expect(recorder.values.map(\.count) == [1, 2])
    }
  }

  @Test("a success that found nothing is not stored, and gives way to a later one of others")
  func unstored() async throws {
    try await withTemporaryStore { store in
      let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))
      func limiter() -> FetchLimiter {
        FetchLimiter(minimumInterval: quarter, named: "sellers", in: store, clock: clock)
      }
      let (app, widget) = (limiter(), limiter())
      let before = try store.lastTransaction()

      #expect(try await app.run { .alreadyCurrent } == .alreadyCurrent)

      #expect(try store.lastTransaction() == before)
      #expect(try app.lastSuccess() == clock.date)
      #expect(try await app.run { .updated } == .skipped)
      #expect(try widget.lastSuccess() == nil)
      clock.advance(by: .seconds(600))
      #expect(try await widget.run { .updated } == .updated)
      clock.advance(by: .seconds(600))
      #expect(try app.lastSuccess() == widget.lastSuccess())
      #expect(try await app.run { .updated } == .skipped)
      clock.advance(by: .seconds(300))
      #expect(try await app.run { .updated } == .updated)
    }
  }

  @Test("without an interval nothing is stored")
  func nothingStored() async throws {
    try await withTemporaryStore { store in
      let before = try store.lastTransaction()
      let limiter = FetchLimiter()
      _ = try await limiter.run { .alreadyCurrent }

      #expect(try store.lastTransaction() == before)
      #expect(try await limiter.run { .alreadyCurrent } == .alreadyCurrent)
    }
  }

  @Test("a last success that was forgotten counts no more, here and in others")
  func forgetting() async throws {
    try await withTemporaryStore { store in
      let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))
      let limiter = FetchLimiter(
        minimumInterval: quarter, named: "sellers", in: store, clock: clock)
      let other = FetchLimiter(
        minimumInterval: quarter, named: "sellers", in: store, clock: clock)
      for one in [limiter, other] { _ = try await one.run(.afterNow) { .updated } }

      try await limiter.forgetLastSuccess()

      #expect(try limiter.lastSuccess() == nil)
      #expect(try other.lastSuccess() == nil)
      #expect(try await other.run { .updated } == .updated)
    }
    let alone = FetchLimiter(minimumInterval: quarter, clock: ManualClock())
    _ = try await alone.run { .updated }
    try await alone.forgetLastSuccess()
    #expect(try await alone.run { .updated } == .updated)
  }

  @Test("a success that cannot be stored counts all the same in this process")
  func unstorable() async throws {
    let store = try Store.temporary()
    let clock = ManualClock()
    let limiter = FetchLimiter(
      minimumInterval: quarter, named: "sellers", in: store, clock: clock)

    #expect(
      try await limiter.run {
        try store.close()
        return .updated
      } == .updated)

    #expect(try limiter.lastSuccess() == clock.date)
    #expect(try await limiter.run { .updated } == .skipped)
  }

  @Test("where the store cannot be read a caller is told so, and nothing is fetched")
  func unreadable() async throws {
    let store = try Store.temporary()
    let limiter = FetchLimiter(minimumInterval: quarter, named: "sellers", in: store)
    try store.close()

    await #expect(throws: StoreError.closed) {
      try await limiter.run {
        Issue.record("fetched")
        return .updated
      }
    }
    #expect(!limiter.isFetching)
  }
}
