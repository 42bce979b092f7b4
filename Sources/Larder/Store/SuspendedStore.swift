internal import LarderLMDB

/// Tells a suspended store from another one, or a backup, that another process has put in its place before it
/// is resumed.
struct SuspendedStore {
  private var state: StoreState?
  /// Nil where nothing was written to it.
  private var timeline: Timeline?

  static let replacedByBackup =
    "a backup has taken the place of the store while it was suspended; close this one, and open it again"

  init() {}

  init(_ transaction: borrowing ReadTransaction, _ folder: String) throws {
    state = try transaction.state(path: folder)
    timeline = try transaction.timeline()
  }

  /// Why the store that is there now cannot be taken for this one; nil where it can.
  ///
  /// - Parameter boot: Which start of the system this is.
  func reason(against found: SuspendedStore, boot: UInt64) -> String? {
    guard state?.storeID == found.state?.storeID else {
      return "another store has taken the place of the one that was suspended; close this one"
    }
    guard isContinued(in: found, boot) else {
      return Self.replacedByBackup
    }
    return nil
  }

  /// Also in another timeline, where the one that was may not go on: another process has begun that one by its
  /// first write, if commits may have been lost before the system was started, and nothing was written since.
  private func isContinued(in found: SuspendedStore, _ boot: UInt64) -> Bool {
    guard let timeline, timeline.id != found.timeline?.id else { return true }
    guard timeline.unflushedBoot != 0, timeline.unflushedBoot != boot, let state,
      let now = found.state
    else { return false }
    return now.sequence >= state.sequence && now.catalogueVersion >= state.catalogueVersion
  }
}
