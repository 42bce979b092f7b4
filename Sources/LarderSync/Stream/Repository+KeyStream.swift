public import Larder

extension Repository {
  /// The model under `key`, nil where there is none, each time that this has changed, while `updater`
  /// refreshes it.
  ///
  /// ```swift
  /// for await contact in contacts.stream(key: id).flatMapError() { show(contact) }
  /// ```
  /// As ``stream(_:refreshedBy:timing:ignoring:)`` otherwise.
  public func stream(
    key: Entity.Key, refreshedBy updater: (any Updater)? = nil, timing: SyncTiming = .joining
  ) -> EventStream<Model?> {
    EventStream(watch(key: key), refreshedBy: updater, timing: timing)
  }
}

extension EventStream {
  /// What a repository's watch gives, as a stream that failures do not end:
  /// `EventStream(orders.watchCount(query))`.
  ///
  /// As `stream(_:refreshedBy:timing:ignoring:)` of a repository otherwise.
  ///
  /// - Parameter updater: Asked to sync when an iteration has its first value; nil for nobody.
  public init(
    _ watch: WatchSequence<Value>, refreshedBy updater: (any Updater)? = nil,
    timing: SyncTiming = .joining
  ) {
    self.init(watch, updater, timing: timing, clock: SystemClock())
  }
}
