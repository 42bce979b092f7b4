import Foundation
import Testing

@testable import LarderCLI
@testable import LarderRemote

@Suite("the lines of larder sync --watch")
struct SyncStateLinesTests {
  private func state(
    _ phase: SyncState.Phase, pending: Int = 0, conflicts: Int = 0, synced: Bool = true
  ) -> SyncState {
    var state = SyncState()
    state.phase = phase
    state.pendingCount = pending
    state.conflictCount = conflicts
    state.lastSynced = synced ? Date(timeIntervalSince1970: 0) : nil
    return state
  }

  @Test("a line says something new, and what was done since the last one")
  func news() {
    var lines = SyncStateLines()
    let some = SyncCounts(pulled: 2, pushed: 1, merged: 0)
    let more = SyncCounts(pulled: 2, pushed: 4, merged: 1)

    let found = [
      lines.line(for: state(.idle, synced: false), SyncCounts()),
      lines.line(for: state(.pulling(7)), SyncCounts()),
      lines.line(for: state(.idle), some), lines.line(for: state(.idle), some),
      lines.line(for: state(.idle, pending: 1), more),
      lines.line(for: state(.offline("no network"), pending: 1), more),
      lines.line(for: state(.offline("no network"), pending: 1), more),
      lines.line(for: state(.idle), more), lines.line(for: state(.idle), more),
      lines.line(for: state(.idle, pending: 1, conflicts: 1), more),
    ]

    #expect(
      found == [
        nil, nil, "in step, 2 pulled, 1 pushed", nil, "waiting, 1 pending",
        "offline (no network); it tries again by itself, 1 pending", nil,
        "in step, 3 pushed, 1 merged", nil, "in step, 1 pending, 1 in conflict",
      ])
  }
}
