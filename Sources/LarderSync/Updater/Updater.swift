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

  /// The limiter through which every ``sync(_:)`` runs, with the timing that it is given: it says when
  /// streams sync again, and how fresh the data are. Without one, streams sync once for each iteration,
  /// and do not know how fresh the data are.
  ///
  /// If syncs do not run through it, it goes on saying that one is due. Streams then sync after pauses
  /// that grow from a second to a minute.
  var schedule: FetchLimiter? { get }
}

extension Updater {
  public var schedule: FetchLimiter? { nil }

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
  /// Is skipped while a sync is running, and until the interval has passed: for those who do not need
  /// to know what comes of it. Where the last sync has failed, throws that until it is time to try
  /// again.
  case ifDue
  /// Joins a sync that is running and shares its outcome; otherwise as ``ifDue``: for screens that
  /// appear.
  case joining
  /// Is sure of what the remote has from now on: one that is running may have asked too early, so
  /// that another follows it, which all callers of this kind share. Heeds neither the interval nor a
  /// failure: for pulling to refresh, and for every other button that asks for it.
  ///
  /// Whoever calls so shows what is thrown: streams that are open at the call leave its failure to the
  /// caller, so that the user sees one message, and give it in ``Event/refresh(_:)`` alone. If the
  /// caller's task is cancelled first, the streams show the failure.
  case afterNow
  /// As ``afterNow``, for callers that show nobody what is thrown, such as `try?` after something was
  /// changed at the remote: streams show the failure.
  case afterChange
  /// Joins a sync that is running and shares its outcome; otherwise syncs only if the limiter has one
  /// due by itself: what streams ask for after their first sync.
  case scheduled

  /// Whether a request is made whatever was before.
  var isAnew: Bool { self == .afterNow || self == .afterChange }
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
