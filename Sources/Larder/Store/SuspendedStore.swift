internal import LarderLMDB

/// Tells a suspended store from another one, or a backup, that another process has put in its place before it
/// is resumed.
struct SuspendedStore {
  private var state: StoreState?
  /// Nil where nothing was written to it.
  private var timeline: Timeline?

  init() {}

  init(_ transaction: borrowing ReadTransaction, _ folder: String) throws {
    state = try transaction.state(path: folder)
    timeline = try transaction.timeline()
  }

  /// Why the store that is there now cannot be taken for this one; nil where it can.
  func reason(against found: SuspendedStore) -> String? {
    guard state?.storeID == found.state?.storeID else {
      return "another store has taken the place of the one that was suspended; close this one"
    }
    guard isContinued(in: found) else {
      return "a backup has taken the place of the store while it was suspended; close this one, and"
        + " open it again"
    }
    return nil
  }

  /// Also in another timeline, where the one that was may not go on: another process has begun that one by its
  /// first write, if commits may have been lost before the system was started.
  private func isContinued(in found: SuspendedStore) -> Bool {
    guard let timeline, timeline.id != found.timeline?.id else { return true }
    guard timeline.unflushedBoot != 0, let state, let now = found.state else { return false }
    return now.sequence >= state.sequence && now.catalogueVersion >= state.catalogueVersion
  }
}
