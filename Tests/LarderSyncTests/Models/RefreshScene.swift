import Foundation
import Larder
import LarderSync
import LarderTesting

/// Sellers in a store, a server that a test answers for, and a limiter whose pauses are as long as they
/// may be.
struct RefreshScene {
  let sellers: StoreRepository<Seller>
  let clock: ManualClock
  let remote = ScriptedRemote<[Seller]>()
  let limiter: FetchLimiter
  let updater: RemoteUpdater

  init(
    _ store: Store, interval: Duration = .seconds(900), name: String? = "sellers",
    retrying: Backoff? = .longest, trigger: RefreshTrigger? = nil,
    clock: ManualClock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))
  ) {
    let sellers = store.repository(of: Seller.self)
    self.sellers = sellers
    self.clock = clock
    limiter =
      if let name {
        FetchLimiter(
          minimumInterval: interval, named: name, in: store, retrying: retrying, trigger: trigger,
          clock: clock)
      } else {
        FetchLimiter(minimumInterval: interval, retrying: retrying, trigger: trigger, clock: clock)
      }
    updater = RemoteUpdater(limiter: limiter, fetch: remote.fetch) {
      try await sellers.save($0, as: $1)
    }
  }

  /// A screen that is opened.
  func screen(_ timing: SyncTiming = .joining) -> EventRecorder<Rows<Seller>> {
    EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater, timing: timing))
  }

  /// Answers the next request, the number of which is given.
  func answer(_ request: Int, _ answer: ScriptedRemote<[Seller]>.Answer) async {
    await remote.waitForRequests(request)
    remote.answer(answer)
  }

  /// Answers the request that is open, or will be soon.
  func answer(_ answer: ScriptedRemote<[Seller]>.Answer) async {
    await settle { remote.openRequestCount > 0 }
    remote.answer(answer)
  }

  /// Syncs, and answers the request that this makes.
  @discardableResult
  func sync(
    _ answer: ScriptedRemote<[Seller]>.Answer, _ timing: SyncTiming = .ifDue
  ) async throws -> UpdateStatus {
    let request = remote.requestCount + 1
    async let status = updater.sync(timing)
    await self.answer(request, answer)
    return try await status
  }

  /// Waits until so many streams have begun to wait for time to pass, and lets it.
  func passPause(_ sleeps: Int) async {
    await clock.waitForSleeps(sleeps)
    clock.advance(by: clock.sleepDurations[sleeps - 1])
  }
}

extension Backoff {
  /// Draws the longest pause each time: 1, 2, 4 and so on seconds, up to 300.
  static let longest = Backoff(random: { 1 })
}
