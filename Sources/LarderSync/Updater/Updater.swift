/// Brings what a remote has into a repository. Whoever shows the data never sees an updater: it
/// reads the repository.
///
/// ``RemoteUpdater`` is the one to use; an app may write its own, which saves with
/// `as: .sync`.
public protocol Updater: Sendable {
  /// Fetches, and saves what is new in one transaction.
  ///
  /// - Parameter timing: What to do beside a sync that is running, and soon after one.
  /// - Throws: What the remote, the decoder or the repository throws, and `CancellationError` when
  ///   the task is cancelled while it waits. Nothing was saved then, unless the sync goes on for
  ///   others.
  @discardableResult
  func sync(_ timing: SyncTiming) async throws -> UpdateStatus
}

extension Updater {
  /// Syncs when no sync is running and the interval has passed.
  ///
  /// - Throws: As ``sync(_:)``.
  @discardableResult
  public func sync() async throws -> UpdateStatus { try await sync(.ifDue) }

  /// Syncs; with `joining`, waits for a sync that is running, and shares its outcome.
  ///
  /// - Throws: As ``sync(_:)``.
  @discardableResult
  public func sync(joining: Bool) async throws -> UpdateStatus {
    try await sync(joining ? .joining : .ifDue)
  }
}

/// What a call of ``Updater/sync(_:)`` does beside a sync that is running, and soon after one.
public enum SyncTiming: Sendable, Hashable, CaseIterable {
  /// Is skipped while a sync is running, and until the interval has passed: for screens that appear.
  case ifDue
  /// Joins a sync that is running and shares its outcome; otherwise as ``ifDue``: for those who
  /// need to know when it is over.
  case joining
  /// Is sure of what the remote has from now on: one that is running may have asked too early, so
  /// that another follows it, which all callers of this kind share. Does not heed the interval: for
  /// pulling to refresh, and after something was changed at the remote.
  case afterNow
}

/// What became of a sync that did not fail.
public enum UpdateStatus: Sendable, Hashable, CaseIterable {
  /// The remote had something new, which was saved in one transaction.
  case updated
  /// The remote had nothing new: nothing was written, and nobody woken.
  case alreadyCurrent
  /// The remote was not asked: another sync is running, or the interval has not passed.
  case skipped
}
