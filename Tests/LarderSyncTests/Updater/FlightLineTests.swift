import Foundation
import LarderTestKit
import Testing

@testable import LarderSync

/// The machine behind the limiter, alone: random callers against what its rules say of each.
@Suite struct FlightLineTests {
  /// What is expected of one who waits.
  private struct Expectation {
    /// The first flight whose outcome may be shared, and the last.
    let flights: ClosedRange<UInt64>
  }

  @Test("whoever waits hears of exactly one landing, and of the right one")
  func random() throws {
    var random = RandomSource()
    for _ in 0..<300 { try scene(&random) }
  }

  private func scene(_ random: inout RandomSource) throws {
    var line = FlightLine()
    var expected: [UInt64: Expectation] = [:]
    var flightCount: UInt64 = 0
    var isCancelled = false
    var nextWaiter: UInt64 = 0
    let hint = Comment(rawValue: random.hint)

    for _ in 0..<60 {
      let isFlying = line.flight != nil
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6:
        nextWaiter += 1
        let timing = SyncTiming.allCases.randomElement(using: &random) ?? .ifDue
        let isDue = Bool.random(using: &random)
        let arrival = line.arrive(nextWaiter, timing, { .updated }, isDue: { isDue })
        switch (arrival, timing) {
        case (.skipped, .ifDue): #expect(isFlying || !isDue, hint)
        case (.skipped, .joining): #expect(!isFlying && !isDue, hint)
        case (.skipped, .scheduled): #expect(isFlying ? isCancelled : !isDue, hint)
        case (.skipped, .afterNow), (.skipped, .afterChange): Issue.record("skipped: \(hint)")
        case (.takesOff(let number), _):
          #expect(!isFlying && (isDue || timing.isAnew), hint)
          #expect(number == flightCount + 1, hint)
          flightCount = number
          isCancelled = false
          expected[nextWaiter] = Expectation(flights: number...number)
        case (.waits, .ifDue): Issue.record("waits: \(hint)")
        case (.waits, .scheduled):
          #expect(isFlying && !isCancelled, hint)
          expected[nextWaiter] = Expectation(flights: flightCount...flightCount)
        case (.waits, .joining):
          #expect(isFlying, hint)
          let number = flightCount + (isCancelled ? 1 : 0)
          expected[nextWaiter] = Expectation(flights: number...number)
        case (.waits, .afterNow), (.waits, .afterChange):
          #expect(isFlying, hint)
          expected[nextWaiter] = Expectation(flights: flightCount + 1...flightCount + 1)
        }
      case 6, 7:
        guard isFlying else { continue }
        let landing = line.land()
        let due = expected.filter { $0.value.flights.contains(flightCount) }
        #expect(landing.waiters == Set(due.keys), hint)
        for waiter in landing.waiters { expected[waiter] = nil }
        #expect((landing.next != nil) == !expected.isEmpty, hint)
        #expect((line.flight != nil) == (landing.next != nil), hint)
        if let next = landing.next {
          #expect(next.number == flightCount + 1, hint)
          flightCount = next.number
        }
        isCancelled = false
      case 8:
        guard let waiter = expected.keys.sorted().randomElement(using: &random) else { continue }
        line.leave(waiter)
        expected[waiter] = nil
      default:
        #expect(line.cancel() == Set(expected.keys), hint)
        expected = [:]
        isCancelled = isFlying
        #expect((line.flight != nil) == isFlying, hint)
      }
    }
  }
}
