public import Larder

extension JoinedModels {
  /// What `query` selects, each with what belongs to it, each time that either has changed, while
  /// `updater` refreshes it.
  ///
  /// As `stream(_:refreshedBy:timing:ignoring:)` of a repository.
  public func stream(
    _ query: Query<Entity>, refreshedBy updater: (any Updater)? = nil,
    timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<Rows<Element>> {
    EventStream(values(of: query, ignoring: ignored), refreshedBy: updater, timing: timing)
  }

  /// As ``stream(changesOf:refreshedBy:timing:ignoring:)``, up to a limit that can grow.
  public func stream(
    changesOf query: Query<Entity>, upTo limit: GrowingLimit,
    refreshedBy updater: (any Updater)? = nil, timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<ResultChange<Element>> {
    EventStream(watch(query, upTo: limit, ignoring: ignored), refreshedBy: updater, timing: timing)
  }

  /// As ``stream(_:refreshedBy:timing:ignoring:)``, in steps: first the result, then how it changes.
  public func stream(
    changesOf query: Query<Entity>, refreshedBy updater: (any Updater)? = nil,
    timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<ResultChange<Element>> {
    EventStream(watch(query, ignoring: ignored), refreshedBy: updater, timing: timing)
  }
}
