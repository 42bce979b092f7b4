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
  /// The last change that was told of; nil before the first snapshot.
  private(set) var position: UInt64?
  /// Behind the position, and up to this change, there is nothing but what is ignored: it is not looked
  /// at with each wake again.
  private var ignoredEnd: UInt64 = 0
  /// How many changes were looked at, for tests of how it is done.
  private(set) var examinedCount: UInt64 = 0

  /// Changes behind which a follower may be before the documents are read anew.
  static var patience: Int { 1000 }

  init(_ collection: String, ignoring ignored: Set<ChangeOrigin>) {
    self.collection = collection
    self.ignored = ignored
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
    let ignored = withIgnored ? [] : ignored
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
    let isBehind = head - start > UInt64(patience)
    if isBehind, ignored.isEmpty, !withIgnored {
      position = head
      return .unknown(isBehind: true)
    }
    if isBehind {
      return newsFarBehind(
        after: from, to: head, in: log, snapshot, ignoring: ignored, isAll: from == known)
    }
    guard let changes = changes(after: from, to: head, in: log, snapshot, ignoring: ignored) else {
      position = head
      return .unknown(isBehind: true)
    }
    if !changes.isNews {
      if changes.isEmpty, from == start {
        position = head
      } else {
        // What is ignored waits in the log for other news.
        ignoredEnd = head
      }
      return .nothing
    }
    position = head
    guard
      let all = from == start
        ? changes : self.changes(after: start, to: head, in: log, snapshot, ignoring: ignored)
    else { return .unknown(isBehind: true) }
    return all.isErased ? .unknown(isBehind: false) : .changes(all)
  }

  /// Looks no further than to the first change that is news, and keeps none: there may be millions.
  ///
  /// - Parameter isAll: Whether nothing that is ignored stands before `start`.
  private mutating func newsFarBehind(
    after start: UInt64, to head: UInt64, in log: Database, _ snapshot: borrowing Snapshot,
    ignoring ignored: Set<ChangeOrigin>, isAll: Bool
  ) -> News {
    examinedCount += head - start
    var (isNews, isConcerned) = (false, false)
    let isWhole = try? snapshot.transaction.forEachChange(after: start, head: head, in: log) {
      header, change in
      guard header.collection == collection else { return true }
      isConcerned = true
      isNews = !ignored.contains(header.origin) || change.isUnlogged
      return !isNews
    }
    guard isWhole == true, !isNews else {
      position = head
      return .unknown(isBehind: true)
    }
    if isAll, !isConcerned {
      position = head
    } else {
      // What is ignored waits in the log for other news.
      ignoredEnd = head
    }
    return .nothing
  }

  /// Nil where the log does not have them all. A damaged log is as good as one that was pruned.
  private mutating func changes(
    after start: UInt64, to head: UInt64, in log: Database, _ snapshot: borrowing Snapshot,
    ignoring ignored: Set<ChangeOrigin>
  ) -> ChangedDocuments? {
    examinedCount += head - start
    let changes = try? ChangedDocuments(
      of: collection, after: start, to: head, in: log, snapshot.transaction, ignoring: ignored)
    return changes?.isUnlogged == false ? changes : nil
  }
}
