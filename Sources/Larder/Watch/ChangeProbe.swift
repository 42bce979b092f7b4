internal import LarderLMDB

/// Asks changes in the log whether they are about what a watcher is interested in, as the hub does before it
/// wakes anybody: documents that match before a change or after it.
struct ChangeProbe {
  enum Finding {
    /// Nothing has changed in any of the collections, or nothing that could concern anybody.
    case nothing
    /// Nothing but what is ignored may concern anybody.
    case ignored
    case news
    /// The log does not reach back that far, or is damaged.
    case unknown
  }

  private let ignored: Set<ChangeOrigin>
  private var groups: [String: WatchGroup] = [:]
  private let seat = WatchSeat()
  private var round: UInt64 = 0

  init(_ interests: [WatchInterest], ignoring ignored: Set<ChangeOrigin>) {
    self.ignored = ignored
    for interest in interests {
      let group = groups[interest.collection] ?? WatchGroup(interest.collection)
      groups[interest.collection] = group
      _ = group.add(seat, interest, isExact: true)
    }
  }

  /// What has happened behind a change. As many changes are looked at as the hub looks at; more of them are
  /// news. Of other collections only the heads of the packs are looked at, and of what is ignored no document:
  /// there may be millions.
  mutating func look(
    after position: UInt64, in log: Database, _ snapshot: borrowing Snapshot
  ) -> Finding {
    round += 1
    let (groups, ignored, seat, round) = (groups, ignored, seat, round)
    var (hasIgnored, isNews, left) = (false, false, WatchHub.patience)
    // A damaged log is as good as one that was pruned.
    let isWhole = try? snapshot.transaction.forEachPack(
      after: position, head: snapshot.sequence, in: log
    ) { pack in
      guard let group = groups[pack.header.collection] else { return true }
      let isIgnored = ignored.contains(pack.header.origin)
      if isIgnored { hasIgnored = true }
      return try pack.forEachLogged(after: position) { change in
        if isIgnored {
          isNews = change.isUnlogged
        } else {
          group.tell(pack.header, change, snapshot, after: 0, round: round)
          isNews = seat.isMarked || left == 0
          if left > 0 { left -= 1 }
        }
        return !isNews
      }
    }
    _ = seat.take()
    if isWhole != true { return .unknown }
    return isNews ? .news : hasIgnored ? .ignored : .nothing
  }
}

extension WatchSeat {
  fileprivate var isMarked: Bool { state.withLock { $0.isPending } }
}
