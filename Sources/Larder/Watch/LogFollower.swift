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

  /// Changes behind which a follower may be before the documents are read anew.
  static var patience: Int { 1000 }

  init(_ collection: String, ignoring ignored: Set<ChangeOrigin>) {
    self.collection = collection
    self.ignored = ignored
  }

  /// Goes on from this moment, whatever was before.
  mutating func begin(_ snapshot: borrowing Snapshot) { position = snapshot.sequence }

  /// What has happened up to a snapshot since the last time.
  ///
  /// - Parameters:
  ///   - skipped: Nothing up to this change concerns the follower.
  ///   - isThere: Whether the collection exists.
  ///   - patience: Changes that are told of at most.
  mutating func news(
    skippingTo skipped: UInt64, isThere: Bool, patience: Int, _ snapshot: borrowing Snapshot,
    _ log: Database?
  ) -> News {
    let head = snapshot.sequence
    let known = position ?? 0
    // What is ignored stays behind the position, and must not be passed over.
    let start = ignored.isEmpty ? max(known, min(skipped, head)) : known
    guard head > start, let log, isThere else {
      position = head
      // A store that went back in time was replaced by a copy of an earlier moment.
      return head < known ? .unknown(isBehind: true) : .nothing
    }
    let isBehind = head - start > UInt64(patience)
    if isBehind, ignored.isEmpty {
      position = head
      return .unknown(isBehind: true)
    }
    guard
      let changes = try? ChangedDocuments(
        of: collection, after: start, to: head, in: log, snapshot.transaction, ignoring: ignored),
      // A damaged log is as good as one that was pruned.
      !changes.isUnlogged
    else {
      position = head
      return .unknown(isBehind: true)
    }
    // What is ignored waits in the log for other news.
    if !changes.isNews, !changes.isEmpty { return .nothing }
    position = head
    if isBehind { return .unknown(isBehind: true) }
    return changes.isErased ? .unknown(isBehind: false) : .changes(changes)
  }
}
