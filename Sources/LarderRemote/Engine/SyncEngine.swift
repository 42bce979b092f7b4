public import Larder
internal import LarderLMDB
public import LarderSync

/// Keeps collections of a store in step with a remote: edits made here, offline or not, go up, and those of
/// others come down.
///
/// ```swift
/// let engine = try SyncEngine(
///   store, remote: HTTPRemote(url: url) { try await session.token(insteadOf: $0) },
///   collections: [SyncedCollection(Note.self)], scopes: ["inbox"], account: user.id)
/// let notes = store.repository(of: Note.self)
///
/// Task { await engine.run() }
/// for await event in notes.stream(Note.all, refreshedBy: engine) { ... }
/// ```
/// From the moment when the engine is made, every edit of its collections, through whichever part of the
/// library, is noted in the transaction that makes it. It is sent under one name until it is answered, so that
/// a lost answer or a killed process never loses an edit, and never applies it twice. Conflicts are merged
/// field by field; no clock decides anything.
///
/// Make one engine for a store. Those of several processes do not harm each other, but send the same edits.
/// Engines that share a scope should follow the same collections: otherwise each loads the scope again from its
/// beginning when another one has read it.
public final class SyncEngine: Sendable, Updater {
  /// What an engine is told beyond its collections.
  public struct Options: Sendable {
    /// Asked what a rejected document should be instead, up to three times; nil sets it aside.
    public var mend: (@Sendable (RejectedEdit) -> DynamicDocument?)?
    /// Told what happens; it may be what `StoreOptions.log` is.
    public var log: (@Sendable (LogEvent) -> Void)?
    /// How often the number of documents is compared with the remote's, in pulls; 0 for never.
    public var auditInterval = 50

    /// Sets edits aside that are rejected, and logs nothing.
    public init() {}
  }

  /// The store.
  public let store: Store
  let remote: any Remote
  let tables: SyncTables
  let options: Options
  let limiter: FetchLimiter
  let clock: any SyncClock
  let state = Locked(SyncState())
  let observers = Locked(Observers())
  /// What the observers were last told. Locked while they are told.
  private let told = Locked(SyncState())
  let facts = Locked<RemoteFacts?>(nil)
  static let mostAccountByteCount = 1_000
  let refusedRetries = Locked(RefusedRetries())
  /// How large the pages of scopes may be.
  let pages = Locked<[String: PageSize]>([:])
  /// Syncs so far.
  let roundCount = Locked(0)
  /// For scopes of which the remote cannot say that the pulls have given everything the first and the last of the syncs
  /// in a row in which it could not.
  let unsettled = Locked<[String: ClosedRange<Int>]>([:])
  /// What pushes have learned that the remote put off, until it answers one.
  let putOff = Locked(PutOff())
  /// How many edits of a scope a request has at most, where larger ones have let us wait for long.
  let slowSizes = Locked<[String: Int]>([:])
  /// Edits that were sent alone in a sync in which their scope answered none.
  let demoted = Locked<Set<RemoteKey>>([])
  /// Locked while anything is counted, so that whoever counts last tells last.
  let counted = Locked(Counted())
  /// Counts edits for whoever is told of states.
  let following = Locked<Task<Void, Never>?>(nil)
  /// Pulls of each scope since its documents were counted.
  let audits = Locked<[String: Int]>([:])

  struct Observers {
    var continuations: [UInt64: AsyncStream<SyncState>.Continuation] = [:]
    var count: UInt64 = 0
  }

  public var schedule: FetchLimiter? { limiter }

  /// Makes the collections synced: from here on their edits are noted.
  ///
  /// - Parameters:
  ///   - remote: The other side.
  ///   - collections: What is synced; the remote's other collections are left alone. Where one is added to those
  ///     of the engine before, the scopes are loaded once more from their beginning.
  ///   - scopes: What is followed on the remote, one at least. Documents that are made here go into the first
  ///     one, unless their collection says otherwise. Where a scope is left out that was followed before, its
  ///     documents stay as they are, and edits of them wait until it is followed again.
  ///   - account: Whose documents these are, in 1 to 1,000 bytes. Edits of another account are never sent. Where the
  ///     store was another account's and nothing is left to be sent, the documents of these collections are erased here,
  ///     and engines of that account that still run throw ``SyncError/accountChanged``.
  ///   - interval: How often ``run()`` and streams ask the remote when nothing else makes them.
  ///   - retrying: How long after a failure the next request is made.
  ///   - trigger: Says that it is worth trying again.
  /// - Throws: ``SyncError``; `StoreError`, such as one for a type that does not fit what is stored.
  public init(
    _ store: Store, remote: any Remote, collections: [SyncedCollection], scopes: [String],
    account: String, interval: Duration = .seconds(60), retrying: Backoff = Backoff(),
    trigger: RefreshTrigger? = nil, options: Options = Options(),
    clock: any SyncClock = SystemClock()
  ) throws {
    precondition(!scopes.isEmpty, "an engine follows one scope at least")
    guard (1...Self.mostAccountByteCount).contains(account.utf8.count) else {
      throw SyncError.accountLength(byteCount: account.utf8.count)
    }
    self.store = store
    self.remote = remote
    self.options = options
    self.clock = clock
    tables = try SyncTables(
      preparing: store,
      collections: Dictionary(collections.map { ($0.name, $0) }, uniquingKeysWith: { $1 }),
      scopes: scopes, account: account)
    limiter = FetchLimiter(
      minimumInterval: interval, retrying: retrying, trigger: trigger, clock: clock)
    try renewCounts()
  }

  /// Syncs once: sends what was edited, brings what has changed, and sends what merging has left.
  ///
  /// Where the user may use some scopes and not others, this syncs the former and throws nothing; ``states``
  /// name the others. It is skipped after ``pause()``.
  ///
  /// - Throws: ``RemoteError``, ``SyncError`` or `StoreError`. What was sent and saved before stays so, and
  ///   the next sync goes on from there.
  @discardableResult
  public func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
    isPaused ? .skipped : try await syncUnlessPaused(timing)
  }

  /// As ``sync(_:)``.
  ///
  /// - Throws: As ``sync(_:)``, and `CancellationError` for a sync that would begin after ``pause()``.
  func syncUnlessPaused(_ timing: SyncTiming) async throws -> UpdateStatus {
    try await limiter.run(timing) { [self] in try await round() }
  }

  var isPaused: Bool { state.withLock { $0.phase == .paused } }

  // MARK: What it does

  /// What it does now, and after every change of that. Whoever is slow gets the latest.
  public var states: AsyncStream<SyncState> {
    followEdits()
    let (stream, continuation) = AsyncStream<SyncState>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let number = told.withLock { told in
      continuation.yield(told)
      return observers.withLock { observers in
        observers.count += 1
        observers.continuations[observers.count] = continuation
        return observers.count
      }
    }
    continuation.onTermination = { [observers] _ in
      let last = observers.withLock { $0.continuations.removeValue(forKey: number) }
      withExtendedLifetime(last) {}
    }
    return stream
  }

  deinit {
    following.withLock { $0 }?.cancel()
    for observer in observers.withLock({ Array($0.continuations.values) }) { observer.finish() }
  }

  /// What it does now. Reads the number of edits from the store.
  public var currentState: SyncState {
    renewPendingCount()
    return state.withLock { $0 }
  }

  func change(_ body: (inout SyncState) -> Void) {
    state.withLock { body(&$0) }
    // Whoever tells last tells the latest, whichever thread has changed it. Nobody is told under the lock of the
    // observers: a task that is cancelled takes that one to leave, and holds what it takes to wake it.
    told.withLock { told in
      let latest = state.withLock { $0 }
      guard latest != told else { return }
      told = latest
      for observer in observers.withLock({ Array($0.continuations.values) }) {
        observer.yield(latest)
      }
    }
  }

  /// Shows what it does now, unless somebody has paused it in this moment.
  func enter(_ phase: SyncState.Phase) {
    change { state in if state.phase != .paused { state.phase = phase } }
  }

  /// Stops asking the remote until ``resume()``: a sync that is under way ends, and edits are noted as before.
  public func pause() {
    change { $0.phase = .paused }
    limiter.cancel()
  }

  /// Goes on after ``pause()``: ``run()`` and streams sync at once, so that what was edited meanwhile is sent,
  /// and what was hinted at is brought.
  public func resume() {
    var wasPaused = false
    change { state in
      guard state.phase == .paused else { return }
      wasPaused = true
      state.phase = .idle
    }
    limiter.wake(endingInterval: wasPaused)
  }

  /// Returns as soon as a document is here, whatever brings it; at once if it is.
  ///
  /// - Throws: `StoreError`; `CancellationError` when the task is cancelled;
  ///   ``SyncError/unknownCollection(_:)`` for a collection that is neither synced nor in the store, which nothing would
  ///   bring.
  public func arrived(_ key: RemoteKey) async throws {
    if tables.collections[key.collection] == nil,
      try store.collection(key.collection).keyKind() == nil
    {
      throw SyncError.unknownCollection(key.collection)
    }
    // From before the first look on.
    let start = try store.changeToken()
    var iterator = store.changes(after: start, in: [key.collection]).makeAsyncIterator()
    while try !isHere(key) {
      if try await iterator.next() != nil { continue }
      try Task.checkCancellation()
      throw StoreError.closed
    }
  }

  private func isHere(_ key: RemoteKey) throws -> Bool {
    let collection = store.collection(key.collection)
    guard let kind = try collection.keyKind(), let value = Value(keyText: key.key, kind: kind)
    else { return false }
    return try collection.get(value) != nil
  }

  /// Forgets whose documents a store has, with the documents of these collections and all edits that were not
  /// sent, so that another account can use it; the change log is dropped as well. Documents of other collections
  /// stay; those of collections that were synced are not sent until somebody edits them. The bytes stay in free
  /// pages of the file until `rebuildIndexes()` of the collections and `compact()` have run.
  ///
  /// - Throws: `StoreError`; nothing is forgotten then.
  public static func forgetAccount(of collections: [String], in store: Store) throws {
    try SyncTables.forgetAccount(collections, in: store)
  }
}
