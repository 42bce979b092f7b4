/// What a save did, counted in documents. "No changes" is a result and no error.
public struct SaveReport: Equatable, Sendable {
  /// Documents that are new.
  public var inserted = 0
  /// Documents that were there and are different now.
  public var updated = 0
  /// Documents that were there with the same bytes; they were not written.
  public var unchanged = 0
  /// Documents that clear-before-save removed and that were not saved again.
  public var deleted = 0
  /// Earlier values of keys that stood several times in the batch; the last one was saved.
  public var duplicates = 0
  /// Documents of a synced collection that a save as ``ChangeOrigin/sync`` left as they are, for they have edits that
  /// were not sent yet.
  public var kept = 0

  /// A report of nothing.
  public init() {}

  /// Documents whose change took a sequence number.
  public var changed: Int { inserted + updated + deleted }

  public static func += (left: inout Self, right: Self) {
    left.inserted += right.inserted
    left.updated += right.updated
    left.unchanged += right.unchanged
    left.deleted += right.deleted
    left.duplicates += right.duplicates
    left.kept += right.kept
  }
}

extension SaveReport: CustomStringConvertible {
  public var description: String {
    "\(inserted) inserted, \(updated) updated, \(unchanged) unchanged, \(deleted) deleted"
      + (duplicates > 0 ? ", \(duplicates) duplicates" : "") + (kept > 0 ? ", \(kept) kept" : "")
  }
}
