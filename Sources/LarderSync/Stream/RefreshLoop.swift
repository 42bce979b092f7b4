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
      repeat {
        hasSynced = true
        do {
          hasSynced = try await updater.sync(timing) != .skipped
          if hasSynced { told = nil }
        } catch is CancellationError {
          // Nobody waits any more, or somebody has stopped it on purpose.
        } catch {
          // The same again would be news to nobody.
          if told != "\(error)" { onFailure(error) }
          told = "\(error)"
        }
        timing = .scheduled
      } while await isDueAgain(schedule, joining: hasSynced, before: end)
      group.cancelAll()
    }
  }

  /// - Parameter joining: Whether to join a flight of others; not after a sync that was skipped, perhaps
  ///   beside that flight.
  private func isDueAgain(
    _ schedule: FetchLimiter?, joining: Bool, before end: WatchEnd
  ) async -> Bool {
    guard let schedule else { return false }
    return await end.isAfter { try await schedule.waitUntilDue(joining: joining) }
  }
}
