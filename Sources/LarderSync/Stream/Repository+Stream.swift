public import Larder

extension Repository {
  /// What `query` selects, each time that this has changed, while `updater` refreshes it: the
  /// single source of truth.
  ///
  /// ```swift
  /// let events = contacts.stream(Contact.all.sorted(by: \.order), refreshedBy: updater)
  /// for await contacts in events.flatMapError({ await presenter.showMessage("\($0)") }) {
  ///   show(contacts)
  /// }
  /// ```
  /// Values come from the repository and from nowhere else. What is stored comes first and at once;
  /// then the updater is asked to sync. What it saves comes as values, because it has changed the
  /// repository; what it throws comes as ``Event/failure(_:)``, except for `CancellationError`, which
  /// is nobody's failure. No value waits for a sync.
  ///
  /// An updater with a limiter (``Updater/schedule``) is asked again for as long as the stream is
  /// iterated: when the limiter's interval has ended, when the pause after a failure is over, and when a
  /// ``RefreshTrigger`` fires. All streams of one limiter share its requests. A failure that says the
  /// same as the one before, with no success between them, is not given again. What fails for a caller
  /// of ``SyncTiming/afterNow`` while the stream is open is for that caller to show, and comes as
  /// ``Event/refresh(_:)`` alone, as how fresh the data are always does.
  ///
  /// No failure ends the stream. When the repository cannot be read, such as for a damaged record,
  /// this comes as a failure once, and reading is tried again after a second, then after longer
  /// times up to a minute. Only a store that is closed has nothing more to say: the stream gives
  /// `StoreError.closed` as its last event.
  ///
  /// Every iteration watches by itself. A value costs what has changed, in time and in memory, however
  /// long the result is: it shares the rest with the value before (``Rows``). A consumer that is slow
  /// gets one value that has everything in it. Leaving the loop cancels the watching and the call of
  /// ``Updater/sync(_:)``; a ``FetchLimiter`` does not let this stop what it has begun.
  ///
  /// - Parameters:
  ///   - updater: Asked to sync when an iteration has its first value; nil for nobody.
  ///   - timing: Of the first sync: whether it joins one that is running, is skipped then, or begins
  ///     another. Later ones join.
  ///   - ignored: Changes of these origins are no reason for a value; they come with the next one.
  public func stream(
    _ query: Query<Entity>, refreshedBy updater: (any Updater)? = nil,
    timing: SyncTiming = .joining, ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<Rows<Model>> {
    EventStream(
      values(of: query, ignoring: ignored), updater, timing: timing, clock: SystemClock())
  }

  /// As ``stream(_:refreshedBy:timing:ignoring:)``, in steps: first the result, then how it changes, for
  /// lists that are animated. Keeps no models in memory.
  ///
  /// After a failure to read, values begin with a new `.initial`.
  public func stream(
    changesOf query: Query<Entity>, refreshedBy updater: (any Updater)? = nil,
    timing: SyncTiming = .joining, ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<ResultChange<Model>> {
    EventStream(
      watch(query, ignoring: ignored), updater, timing: timing, clock: SystemClock())
  }
}

extension EventStream {
  /// What `watch` gives, merged with what comes of `updater`'s syncs.
  package init(
    _ watch: WatchSequence<Value>, _ updater: (any Updater)?, timing: SyncTiming = .joining,
    clock: any SyncClock
  ) {
    let refresh = updater.map { RefreshLoop(updater: $0, timing: timing) }
    self.init {
      let reader = EventReader(EventPump(watch: watch, refresh: refresh, clock: clock))
      return { await reader.next() }
    }
  }
}
