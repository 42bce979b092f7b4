internal import LarderLMDB

/// Follows the change log of one collection from one snapshot to the next.
struct LogFollower {
  enum News {
    /// Nothing that concerns anybody.
    case nothing
    /// The log does not tell, or would tell too much: the documents themselves are to be read.
    ///
    /// - Parameter isBehind: Whether more has happened than is worth being told one by one.
    case unknown(isBehind: Bool)
    case changes(ChangedDocuments)
  }

  let collection: String
  /// Changes of these origins are no news; they come with the next that are.
  let ignored: Set<ChangeOrigin>
  /// Asks whether others are; nil where nothing is ignored, and a look too many costs less.
  private var probe: ChangeProbe?
  /// The last change that was told of; nil before the first snapshot.
  private(set) var position: UInt64?
  /// Behind the position, and up to this change, there is nothing but what is ignored: it is not looked
  /// at with each wake again.
  private var ignoredEnd: UInt64 = 0
  /// How many changes were looked at, for tests of how it is done.
  private(set) var examinedCount: UInt64 = 0

  /// Changes behind which a follower may be before the documents are read anew.
  static var patience: Int { 1000 }

  init(_ interest: WatchInterest) {
    collection = interest.collection
    ignored = interest.ignored
    probe = ignored.isEmpty ? nil : ChangeProbe([interest], ignoring: ignored)
  }

  /// Goes on from this moment, whatever was before.
  mutating func begin(_ snapshot: borrowing Snapshot) {
    position = snapshot.sequence
    ignoredEnd = 0
  }

  /// What has happened up to a snapshot since the last time.
  ///
  /// - Parameters:
  ///   - skipped: Nothing up to this change concerns the follower.
  ///   - withIgnored: Whether what is ignored is news, too. Nobody tells of it, so that there may be nothing at all.
  ///   - isThere: Whether the collection exists.
  ///   - patience: Changes that are told of at most.
  mutating func news(
    skippingTo skipped: UInt64, withIgnored: Bool = false, isThere: Bool, patience: Int,
    _ snapshot: borrowing Snapshot, _ log: Database?
  ) -> News {
    let head = snapshot.sequence
    let known = position ?? 0
    // What is ignored stays behind the position, and must not be passed over.
    let start = ignored.isEmpty && !withIgnored ? max(known, min(skipped, head)) : known
    let from = withIgnored ? start : max(start, ignoredEnd)
    if from > start, head == from { return .nothing }
    guard head > from, head >= ignoredEnd, let log, isThere else {
      // A store that went back in time was replaced by a copy of an earlier moment.
      let isOlder = head < max(known, ignoredEnd)
      position = head
      ignoredEnd = 0
      return isOlder ? .unknown(isBehind: true) : .nothing
    }
    if !withIgnored, let waiting = waits(from: from, to: head, in: log, snapshot) {
      return waiting ? .nothing : .unknown(isBehind: true)
    }
    position = head
    guard isNear(start, to: head, patience, in: log, snapshot),
      let changes = changes(after: start, to: head, in: log, snapshot)
    else { return .unknown(isBehind: true) }
    if changes.isEmpty { return .nothing }
    return changes.isErased ? .unknown(isBehind: false) : .changes(changes)
  }

  /// Whether a follower that ignores something goes on waiting: where nothing behind a change is news. Nil where
  /// there is some, and false where the log does not tell.
  private mutating func waits(
    from start: UInt64, to head: UInt64, in log: Database, _ snapshot: borrowing Snapshot
  ) -> Bool? {
    guard let finding = probe?.look(after: start, in: log, snapshot) else { return nil }
    examinedCount += head - start
    switch finding {
    case .news: return nil
    case .unknown:
      position = head
      return false
    case .nothing where start == position: position = head
    // What is ignored waits in the log for other news.
    case .nothing, .ignored: ignoredEnd = head
    }
    return true
  }

  /// Whether so little has happened that it is told one by one. What other collections do does not count.
  private func isNear(
    _ start: UInt64, to head: UInt64, _ patience: Int, in log: Database,
    _ snapshot: borrowing Snapshot
  ) -> Bool {
    if head - start <= UInt64(patience) { return true }
    var count: UInt64 = 0
    let isWhole = try? snapshot.transaction.forEachPack(after: start, head: head, in: log) { pack in
      let header = pack.header
      guard header.collection == collection else { return true }
      count += header.lastSequence - max(start, header.firstSequence - 1)
      return count <= UInt64(patience)
    }
    return isWhole == true && count <= UInt64(patience)
  }

  /// Nil where the log does not have them all. A damaged log is as good as one that was pruned.
  private mutating func changes(
    after start: UInt64, to head: UInt64, in log: Database, _ snapshot: borrowing Snapshot
  ) -> ChangedDocuments? {
    examinedCount += head - start
    let changes = try? ChangedDocuments(
      of: collection, after: start, to: head, in: log, snapshot.transaction)
    return changes?.isUnlogged == false ? changes : nil
  }
}
