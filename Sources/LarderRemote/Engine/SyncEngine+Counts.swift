internal import Larder
internal import LarderLMDB

// How much waits to be sent.

extension SyncEngine {
  /// What was found when all edits were last looked at.
  struct Counted {
    /// Edits of collections of others.
    var others = 0
    /// The last change of the store by then.
    var sequence: UInt64?
  }

  /// Counts what is pending. Costs what the outbox costs.
  func renewCounts() throws {
    try counted.withLock { counted in
      var counts: [PendingEdit.Status: Int] = [:]
      let (sequence, allCount, refusedCount) = try store.read { snapshot in
        for name in tables.collections.keys where snapshot.outline(of: name) != nil {
          try snapshot.forEachOutboxEntry(name) { _, entry in
            counts[entry.status, default: 0] += 1
            return true
          }
        }
        return (
          snapshot.sequence, try snapshot.outboxCount(),
          try snapshot.syncNoteCount(withPrefix: RefusedNote.prefix)
        )
      }
      let count = counts.values.reduce(0, +)
      counted = Counted(others: allCount - count, sequence: sequence)
      change { [counts] state in
        state.pendingCount = count
        state.conflictCount = counts[.conflict, default: 0]
        state.rejectedCount = counts[.rejected, default: 0]
        state.refusedCount = refusedCount
      }
    }
  }

  /// Renews the number of edits. An edit must not cost what all others cost: they are looked at one by one only where some
  /// are of collections of others, and only if the store has changed since. One that is suspended or closed just now is
  /// left to the next sync.
  func renewPendingCount() {
    let isKnown = counted.withLock { counted in
      do {
        let (sequence, count) = try store.read { snapshot in
          let isOwn =
            try counted.others == 0 && !snapshot.hasEdits(besides: tables.collections.keys)
          return (snapshot.sequence, isOwn ? try snapshot.outboxCount() : nil)
        }
        guard let count else { return counted.sequence == sequence }
        change { $0.pendingCount = count }
      } catch {
        // It is told later.
      }
      return true
    }
    if !isKnown { try? renewCounts() }
  }

  /// Collections whose edits are sent.
  var sentCollections: Set<String> {
    Set(tables.collections.values.filter { $0.direction == .both }.map(\.name))
  }

  /// Has edits counted as they are made, from now on, also where nobody syncs.
  func followEdits() {
    following.withLock { following in
      guard following == nil else { return }
      // From now on, so that no edit is missed that is made before the task first looks.
      let start = try? store.changeToken()
      let changes = store.changes(
        after: start, in: sentCollections, origins: [.local, .imported])
      following = Task { [weak self] in
        do {
          for try await _ in changes { self?.renewPendingCount() }
        } catch {
          // The store is closed, or there is no log of a collection: syncs count.
        }
      }
    }
    renewPendingCount()
  }
}
