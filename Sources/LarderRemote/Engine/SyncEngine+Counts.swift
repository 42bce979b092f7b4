internal import Larder
internal import LarderLMDB

// How much waits to be sent.

extension SyncEngine {
  /// Counts what is pending. Costs what the outbox costs.
  func renewCounts() throws {
    try otherCount.withLock { otherCount in
      var counts: [PendingEdit.Status: Int] = [:]
      let (allCount, refusedCount) = try store.read { snapshot in
        for name in tables.collections.keys where snapshot.outline(of: name) != nil {
          try snapshot.forEachOutboxEntry(name) { _, entry in
            counts[entry.status, default: 0] += 1
            return true
          }
        }
        return (
          try snapshot.outboxCount(), try snapshot.syncNoteCount(withPrefix: RefusedNote.prefix)
        )
      }
      let count = counts.values.reduce(0, +)
      otherCount = allCount - count
      change { [counts] state in
        state.pendingCount = count
        state.conflictCount = counts[.conflict, default: 0]
        state.rejectedCount = counts[.rejected, default: 0]
        state.refusedCount = refusedCount
      }
    }
  }

  /// Renews the number of edits, unless that takes a look at each of them: an edit must not cost what all others cost. A
  /// store that is suspended or closed just now is left to the next sync.
  ///
  /// - Returns: False where it takes one, as others than those of this engine may be among them.
  @discardableResult
  func renewPendingCount() -> Bool {
    otherCount.withLock { otherCount in
      guard otherCount == 0 else { return false }
      do {
        let count: Int? = try store.read { snapshot in
          snapshot.hasSynced(besides: tables.collections.keys) ? nil : try snapshot.outboxCount()
        }
        guard let count else { return false }
        change { $0.pendingCount = count }
      } catch {
        // It is suspended or closed.
      }
      return true
    }
  }

  /// An edit was made.
  func countEdit() { if !renewPendingCount() { try? renewCounts() } }

  /// Collections whose edits are sent.
  var sentCollections: Set<String> {
    Set(tables.collections.values.filter { $0.direction == .both }.map(\.name))
  }

  /// Has edits counted as they are made, from now on, also where nobody syncs.
  func followEdits() {
    following.withLock { following in
      guard following == nil, let start = try? store.changeToken() else { return }
      let changes = store.changes(
        after: start, in: sentCollections, origins: [.local, .imported])
      following = Task { [weak self] in
        do {
          for try await _ in changes { self?.countEdit() }
        } catch {
          // The store is closed, or there is no log of a collection: syncs count.
        }
      }
    }
    renewPendingCount()
  }
}
