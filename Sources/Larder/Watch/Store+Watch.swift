internal import LarderLMDB

extension Store {
  /// What a closure makes of the store, and then each time what it has become: for results that come
  /// from several queries, or from several collections.
  ///
  /// ```swift
  /// let overview = store.watch { snapshot in
  ///   try snapshot.fetch(List.all.sorted(by: \.name)).map { list in
  ///     Row(list: list, open: try snapshot.count(Item.where { $0.listID == list.id && !$0.isDone }))
  ///   }
  /// }
  /// for try await rows in overview { show(rows) }
  /// ```
  /// The closure sees one moment. While it runs, the watcher notes the keys and the conditions that
  /// it reads by; limits and offsets are not part of that. When a committed change is about one of
  /// these keys, or about a document that matched one of these conditions before or after, the closure
  /// runs again and may read something else. All other changes cost no more than a look at each
  /// changed document. A consumer that is slow gets one element for many changes, and none is lost
  /// between one run and the next.
  ///
  /// Each run reads everything anew, and gives an element even if the result is as before:
  /// ``WatchSequence/removeDuplicates()`` leaves such elements out. For a list, `watch(_:)` of a
  /// repository costs less: it reads only what has changed.
  ///
  /// - Parameters:
  ///   - ignored: Changes of these origins do not make the closure run. Its next run for other changes
  ///     sees them.
  ///   - body: Runs on the concurrent pool, inside a read. Everything that it depends on has to come
  ///     from the snapshot: reads through a repository or another store are not noted. It should be
  ///     quick, and must not write. When it throws, the sequence throws the same error and ends.
  public func watch<Result: Sendable>(
    ignoring ignored: Set<ChangeOrigin> = [], file: StaticString = #fileID, line: UInt = #line,
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> Result
  ) -> WatchSequence<Result> {
    WatchSequence { [self] in
      let hub = engine.watchHub
      let seat = hub.sit(in: self, [])
      let work = SnapshotWatch(
        self, at: seat, ignoring: ignored, file: file, line: line, body)
      return Watcher(work, at: seat) { hub.leave(seat) }
    }
  }
}

extension WatchSequence where Element: Equatable {
  /// The same elements without those that equal the one before.
  public func removeDuplicates() -> WatchSequence {
    let elements = self
    return WatchSequence {
      let step = elements.makeAsyncIterator().step
      let last = Locked<Element?>(nil)
      return {
        while let element = try await step() {
          let isNew = last.withLock { last in
            defer { last = element }
            return last != element
          }
          if isNew { return element }
        }
        return nil
      }
    }
  }
}
