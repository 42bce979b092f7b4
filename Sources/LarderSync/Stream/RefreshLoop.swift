/// How one iteration of a stream keeps its data fresh: syncs, and again each time that the updater's
/// limiter says that it is due.
struct RefreshLoop: Sendable {
  let updater: any Updater
  /// Of the first sync; later ones are scheduled.
  let timing: SyncTiming

  /// Returns when the task is cancelled, or nothing more is due: then the sync that runs is over.
  func run(
    until end: WatchEnd, onFailure: @escaping @Sendable (any Error) -> Void,
    onState: @escaping @Sendable (RefreshState) -> Void
  ) async {
    await withDiscardingTaskGroup { group in
      let schedule = updater.schedule
      // Of failures that are asked for from now on, the caller tells.
      let arrivalCount = schedule?.arrivalCount ?? 0
      if let schedule {
        group.addTask {
          var told: RefreshState?
          for await state in schedule.refreshStates() where state != told {
            told = state
            onState(state)
          }
        }
      }
      var timing = timing
      var told: String?
      var hasSynced: Bool
      // Syncs in a row during which no flight of the limiter has landed.
      var strayCount = 0
      repeat {
        let landingCount = schedule?.landingCount
        hasSynced = true
        do {
          hasSynced = try await updater.sync(timing) != .skipped
          if hasSynced { told = nil }
        } catch is CancellationError {
          // Nobody waits any more, or somebody has stopped it on purpose.
        } catch let error where error.isSuspension && schedule != nil {
          // It goes on once the store is resumed.
        } catch {
          let text = "\(error)"
          if let schedule, let landingCount,
            schedule.isLeft(text, after: arrivalCount, since: landingCount)
          {
            told = nil
          } else {
            // The same again would be news to nobody.
            if told != text { onFailure(error) }
            told = text
          }
        }
        timing = .scheduled
        strayCount = schedule?.landingCount == landingCount ? strayCount + 1 : 0
      } while await isDueAgain(
        schedule, joining: hasSynced, strayCount: strayCount, before: end)
      group.cancelAll()
    }
  }

  /// - Parameters:
  ///   - joining: Whether to join a flight of others; not after a sync that was skipped, perhaps beside
  ///     that flight.
  ///   - strayCount: Syncs in a row without a landing. One may have come too early, or another process
  ///     may have been faster; an updater that goes past its limiter is due for ever.
  private func isDueAgain(
    _ schedule: FetchLimiter?, joining: Bool, strayCount: Int, before end: WatchEnd
  ) async -> Bool {
    guard let schedule else { return false }
    return await end.isAfter {
      try await schedule.waitUntilDue(joining: joining)
      if strayCount > 1 {
        try await schedule.sleep(for: Self.strayPauses.pause(after: strayCount - 1))
      }
    }
  }

  private static let strayPauses = Backoff(longest: .seconds(60), random: { 1 })
}
