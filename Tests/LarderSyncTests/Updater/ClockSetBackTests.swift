import Foundation
import LarderTesting
import Testing

@testable import Larder
@testable import LarderSync

/// What a limiter with a name makes of failures, whatever clocks say and others write.
@Suite(.timeLimit(.minutes(20))) struct ClockSetBackTests {
  private struct Refusal: RetryAdvising {
    var retryAdvice: RetryAdvice { .after(.seconds(3600)) }
  }
  private struct Offline: Error {}

  private func limiter(
    _ store: Store, _ clock: ManualClock, interval: Duration = .seconds(900)
  ) -> FetchLimiter {
    FetchLimiter(minimumInterval: interval, named: "x", in: store, clock: clock)
  }

  private let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))

  @Test(
    "a refusal counts, also where the clock was set back between the success before it and itself",
    arguments: [0.0, -60])
  func setBack(_ offset: Double) async throws {
    let store = try Store.temporary()
    let limiter = limiter(store, clock, interval: .seconds(10))
    #expect(try await limiter.run { .updated } == .updated)
    clock.advance(by: .seconds(10))
    clock.date += offset
    await #expect(throws: Refusal.self) { try await limiter.run { throw Refusal() } }

    clock.advance(by: .seconds(120))

    await #expect(throws: Refusal.self) {
      try await limiter.run {
        Issue.record("the remote was asked")
        return .updated
      }
    }
  }

  @Test(
    "a clock that was ahead and is set right does not hide what others note afterwards",
    arguments: ["triggered", "succeeded"])
  func setRight(_ before: String) async throws {
    let store = try Store.temporary()
    let other = ManualClock(date: clock.date)
    let (app, widget) = (limiter(store, clock), limiter(store, other, interval: .seconds(10)))
    clock.date += 3600
    if before == "triggered" { app.wake() } else { _ = try await app.run { .alreadyCurrent } }
    clock.date -= 3600
    for clock in [clock, other] { clock.advance(by: .seconds(1000)) }
    await #expect(throws: Refusal.self) { try await widget.run { throw Refusal() } }
    for clock in [clock, other] { clock.advance(by: .seconds(1)) }

    await #expect(throws: EarlierFailure.self) {
      try await app.run {
        Issue.record("the remote was asked")
        return .updated
      }
    }
  }

  @Test("a success of others ends a failure from when the clock was ahead")
  func failedAhead() async throws {
    let store = try Store.temporary()
    let other = ManualClock(date: clock.date)
    let (app, widget) = (limiter(store, clock), limiter(store, other))
    clock.date += 3600
    await #expect(throws: Refusal.self) { try await app.run { throw Refusal() } }
    clock.date -= 3600
    for clock in [clock, other] { clock.advance(by: .seconds(5)) }
    #expect(try await widget.run { .updated } == .updated)
    for clock in [clock, other] { clock.advance(by: .seconds(1)) }

    #expect(try await app.run { .updated } == .skipped)
    #expect(app.refreshState.lastFailure == nil)
  }

  @Test("a stream that waits while the store is suspended looks again soon behind that")
  func suspended() async throws {
    let store = try Store.temporary()
    let limiter = limiter(store, clock)
    #expect(try await limiter.run { .updated } == .updated)
    try store.suspend()

    let waiting = Task { try await limiter.waitUntilDue(joining: false) }
    await clock.waitForSleeps(1)

    #expect(clock.sleepDurations == [.seconds(1)])
    try store.resume()
    clock.advance(by: .seconds(900))
    try await waiting.value
    try verifyAndClose(store)
  }

  @Test("a success is not overwritten by a failure elsewhere that was written behind it")
  func laterSuccess() async throws {
    let store = try Store.temporary()
    let (app, widget) = (limiter(store, clock), limiter(store, clock))
    let (isHeld, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      _ = try? store.write { _ in
        isHeld.signal()
        mayEnd.wait()
      }
    }
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        isHeld.wait()
        continuation.resume()
      }
    }
    async let success = app.run { .updated }
    await settle { store.engine.writer.waitingCount == 1 }
    let failure = Task { try await widget.run { throw Offline() } }
    await settle { store.engine.writer.waitingCount == 2 }

    mayEnd.signal()
    #expect(try await success == .updated)
    _ = await failure.result

    #expect(try app.lastSuccess() != nil)
    #expect(try widget.lastSuccess() != nil)
  }

  @Test("a success that cannot be forgotten in the store does not have the next caller skipped")
  func forgottenInVain() async throws {
    let store = try Store.temporary()
    let limiter = limiter(store, clock)
    #expect(try await limiter.run { .updated } == .updated)
    try store.suspend()
    await #expect(throws: StoreError.self) { try await limiter.forgetLastSuccess() }
    try store.resume()

    #expect(try await limiter.run { .updated } == .updated)
    #expect(try await limiter.run { .updated } == .skipped)
  }
}
