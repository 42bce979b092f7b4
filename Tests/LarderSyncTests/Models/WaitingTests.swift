import Larder
import LarderSync
import LarderTesting
import Testing

/// What a test waits for that does not happen: the wait ends with the test.
@Suite(.timeLimit(.minutes(20))) struct WaitingTests {
  @Test(
    "a wait that is cancelled ends, before it began or while it lasts", arguments: [false, true])
  func cancelled(isBegun: Bool) async {
    let recorder = EventRecorder(InMemoryRepository(of: Seller.self).stream(Seller.byOrder))
    let clock = ManualClock()
    let (remote, updater) = (ScriptedRemote<[Seller]>(), RecordingUpdater())
    let waits: [@Sendable () async -> Void] = [
      { await recorder.waitForEvents(1_000) },
      { await recorder.waitForValues(1_000) },
      { await recorder.waitForErrors(1_000) },
      { await recorder.waitForEvent { _ in false } },
      { await recorder.waitForEnd() },
      { await clock.waitForSleeps(1) },
      { await remote.waitForRequests(1) },
      { await remote.waitForEnds(1) },
      { await updater.waitForCalls(1) },
      { await settle { false } },
    ]

    await withDiscardingTaskGroup { group in
      if !isBegun { group.cancelAll() }
      for wait in waits { group.addTask { await wait() } }
      if isBegun {
        for _ in 0..<100 { await Task.yield() }
        group.cancelAll()
      }
    }

    #expect(!recorder.isFinished)
  }

  @Test(
    "a sleep of no time, or of less, ends although nobody turns the clock",
    arguments: [Duration.zero, .seconds(-1)])
  func noTime(_ duration: Duration) async throws {
    let clock = ManualClock()

    try await clock.sleep(for: duration)

    #expect(clock.sleepDurations == [duration])
    #expect(clock.sleeperCount == 0)
  }

  @Test(
    "one that waits for less than another ends first, and neither is lost when a third is cancelled"
  )
  func others() async throws {
    let clock = ManualClock()
    let ended = Log()
    func wait(_ count: Int) -> Task<Void, Never> {
      Task {
        await clock.waitForSleeps(count)
        ended.add("\(count)")
      }
    }
    let (first, second, third) = (wait(1), wait(2), wait(3))
    third.cancel()
    await third.value
    #expect(ended.lines == ["3"])

    for task in [first, second] {
      let sleep = Task { try await clock.sleep(for: .seconds(1)) }
      await task.value
      clock.advance(by: .seconds(1))
      try await sleep.value
    }

    #expect(ended.lines == ["3", "1", "2"])
  }
}
