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
