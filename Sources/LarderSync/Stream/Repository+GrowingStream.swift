public import Larder

extension Repository {
  /// What `query` selects up to a limit that can grow, and from then on how that changes, while `updater`
  /// refreshes it.
  ///
  /// As ``stream(changesOf:refreshedBy:timing:ignoring:)``, with the steps of `watch(_:upTo:ignoring:)`.
  public func stream(
    changesOf query: Query<Entity>, upTo limit: GrowingLimit,
    refreshedBy updater: (any Updater)? = nil, timing: SyncTiming = .joining,
    ignoring ignored: Set<ChangeOrigin> = []
  ) -> EventStream<ResultChange<Model>> {
    EventStream(watch(query, upTo: limit, ignoring: ignored), refreshedBy: updater, timing: timing)
  }
}
