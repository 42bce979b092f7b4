import Foundation
import Larder
import LarderTesting
import Testing

@testable import LarderSync

/// An error that says when to try again.
private struct Refusal: RetryAdvising, Equatable, CustomStringConvertible {
  var retryAdvice: RetryAdvice
  var description: String { "refused" }
}

@Suite(.timeLimit(.minutes(20))) struct RetryAdviceTests {
  private let page = Seller.many(3)

  // MARK: HTTP

  @Test(
    "an HTTP answer says when to try again",
    arguments: [
      (429, "120", .after(.seconds(120))), (503, " 7 ", .after(.seconds(7))),
      (503, "0", .after(.zero)), (429, "99999999", .after(.seconds(86_400))),
      (429, "99999999999999999999999", .after(.seconds(86_400))), (429, "-1", .backoff),
      (429, "1.5", .backoff),
      (429, "soon", .backoff), (429, "", .backoff), (429, nil, .backoff), (500, nil, .backoff),
      (502, "3", .after(.seconds(3))),
      (503, "Sun, 06 Nov 1994 08:49:37 GMT", .after(.seconds(37))),
      (503, "Sun, 06 Nov 1994 08:48:59 GMT", .after(.zero)),
      (503, "Mon, 07 Nov 1994 08:49:37 GMT", .after(.seconds(86_400))),
      (503, "Sun, 06 Nov 1994 08:49:37 CET", .backoff),
      (503, "Sun, 06 Nuv 1994 08:49:37 GMT", .backoff),
      (503, "Sun, 06 Nov 1994 8:49 GMT", .backoff),
      (503, "Sunday, 06-Nov-94 08:49:37 GMT", .backoff),
      (400, nil, .whenTriggered), (401, "5", .whenTriggered), (404, nil, .whenTriggered),
      (408, nil, .backoff), (425, nil, .backoff), (408, "5", .after(.seconds(5))),
      (425, "Sun, 06 Nov 1994 08:49:37 GMT", .after(.seconds(37))), (408, "soon", .backoff),
      (301, nil, .backoff), (0, nil, .backoff),
    ] as [(Int, String?, RetryAdvice)])
  func http(status: Int, retryAfter: String?, advice: RetryAdvice) {
    // Sunday, 6 November 1994, 08:49:00.
    let now = Date(timeIntervalSince1970: 784_111_740)
    #expect(RetryAdvice(httpStatus: status, retryAfter: retryAfter, now: now) == advice)
  }

  @Test("dates of HTTP are those of the calendar, in all months and leap years")
  func dates() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    for year in [1970, 1999, 2000, 2024, 2026, 2100] {
      for month in 1...12 {
        for day in [1, 28] {
          let components = DateComponents(
            year: year, month: month, day: day, hour: 23, minute: 5, second: 9)
          let date = try #require(calendar.date(from: components))
          let text = "Xxx, \(day < 10 ? "0" : "")\(day) \(months[month - 1]) \(year) 23:05:09 GMT"
          #expect(
            RetryAdvice(httpStatus: 503, retryAfter: text, now: date - 60) == .after(.seconds(60)),
            "\(text)")
        }
      }
    }
  }

  // MARK: Later

  @Test(
    "a remote says how long to wait: not less than the backoff, and not more than a day",
    arguments: [(10, 10), (0, 1), (-5, 1), (100_000, 86_400)])
  func after(advised: Int, pause: Int) async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      let screen = scene.screen()

      await scene.answer(1, .failure(Refusal(retryAdvice: .after(.seconds(advised)))))
      await scene.clock.waitForSleeps(1)

      #expect(scene.clock.sleepDurations == [.seconds(pause)])
      scene.clock.advance(by: .seconds(pause - 1))
      await #expect(throws: Refusal.self) { try await scene.updater.sync() }
      scene.clock.advance(by: .seconds(1))
      await scene.answer(2, .success(.fromRemote(page)))
      await screen.waitForValues(2)
    }
  }

  @Test("a trigger does not end a wait that the remote has asked for; who asks does not wait")
  func afterAndTrigger() async throws {
    try await withTemporaryStore { store in
      let trigger = RefreshTrigger()
      let scene = RefreshScene(store, trigger: trigger)
      let screen = scene.screen()
      await scene.remote.waitForRequests(1)
      // Before and after the failure.
      trigger.fire()
      await scene.answer(1, .failure(Refusal(retryAdvice: .after(.seconds(60)))))
      await scene.clock.waitForSleeps(1)
      scene.clock.advance(by: .seconds(20))

      trigger.fire()
      await scene.clock.waitForSleeps(2)
      #expect(scene.clock.sleepDurations == [.seconds(60), .seconds(40)])
      #expect(scene.remote.requestCount == 1)
      let status = try await scene.sync(.success(.fromRemote(page)), .afterNow)

      #expect(status == .updated)
      await screen.waitForValues(2)
    }
  }

  @Test("other processes, and this one after a restart, wait too, whatever their triggers say")
  func afterIsNoted() async throws {
    try await withTemporaryStore { store in
      let trigger = RefreshTrigger()
      let scene = RefreshScene(store)
      let other = RefreshScene(store, trigger: trigger, clock: scene.clock)
      await #expect(throws: Refusal.self) {
        try await scene.sync(.failure(Refusal(retryAdvice: .after(.seconds(60)))))
      }

      trigger.fire()
      scene.clock.advance(by: .seconds(59))
      await #expect(throws: EarlierFailure.self) { try await other.updater.sync() }
      #expect(other.remote.requestCount == 0)
      scene.clock.advance(by: .seconds(1))

      let status = try await other.sync(.success(.prefetched))
      #expect(status == .alreadyCurrent)
    }
  }

  // MARK: Not by itself

  @Test("what is of no use to try again is not, until a trigger fires", arguments: [false, true])
  func whenTriggered(isTriggeredBefore: Bool) async throws {
    try await withTemporaryStore { store in
      let trigger = RefreshTrigger()
      let scene = RefreshScene(store, trigger: trigger)
      let screen = scene.screen()
      await scene.answer(1, .failure(Refusal(retryAdvice: .whenTriggered)))
      await scene.clock.waitForSleeps(1)
      #expect(scene.clock.sleepDurations == [.seconds(86_400)])
      scene.clock.advance(by: .seconds(86_399))
      // A screen that opens is told, and makes no request either.
      let late = scene.screen()
      await late.waitForErrors(1)
      #expect(scene.remote.requestCount == 1)

      trigger.fire()
      if isTriggeredBefore {
        await scene.remote.waitForRequests(2)
        trigger.fire()
        await scene.answer(.failure(Refusal(retryAdvice: .whenTriggered)))
        await scene.remote.waitForRequests(3)
      }
      await scene.answer(.success(.fromRemote(page)))
      await screen.waitForValues(2)

      #expect(screen.errors as? [Refusal] == [Refusal(retryAdvice: .whenTriggered)])
    }
  }

  @Test("what is of no use to try again is tried for who asks")
  func whenAsked() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store)
      await #expect(throws: Refusal.self) {
        try await scene.sync(.failure(Refusal(retryAdvice: .whenTriggered)))
      }
      scene.clock.advance(by: .seconds(3600))

      let status = try await scene.sync(.success(.fromRemote(page)), .afterNow)

      #expect(status == .updated)
      #expect(scene.limiter.refreshState.lastFailure == nil)
    }
  }

  @Test("without a backoff every caller tries at once, whatever the error says")
  func noBackoff() async throws {
    try await withTemporaryStore { store in
      let scene = RefreshScene(store, retrying: nil)
      for advice in [RetryAdvice.after(.seconds(60)), .whenTriggered, .backoff] {
        await #expect(throws: Refusal(retryAdvice: advice)) {
          try await scene.sync(.failure(Refusal(retryAdvice: advice)))
        }
      }
      #expect(scene.remote.requestCount == 3)
    }
  }
}
