extension Store {
  /// The store's reads off the caller's thread: `try await store.async.read { snapshot in ... }`.
  public var async: AsyncReads { AsyncReads(store: self) }

  /// Reads that run on the concurrent pool and not on the caller's actor.
  ///
  /// Every one throws what its synchronous twin throws.
  public struct AsyncReads: Sendable {
    let store: Store

    /// Lends one consistent moment to `body`, which cannot suspend.
    ///
    /// - Throws: ``StoreError``, or whatever `body` throws.
    @concurrent public func read<Result: Sendable>(
      file: StaticString = #fileID, line: UInt = #line,
      _ body: @Sendable (borrowing Snapshot) throws -> Result
    ) async throws -> Result {
      try store.read(file: file, line: line, body)
    }

    /// - Throws: ``StoreError``, as ``Store/statistics()``.
    @concurrent public func statistics() async throws -> StoreStatistics {
      try store.statistics()
    }

    /// Cancelling the task ends the check early.
    ///
    /// - Throws: ``StoreError``, as ``Store/check(progress:)``; `CancellationError`.
    @concurrent public func check() async throws -> CheckReport {
      try store.check()
    }
  }
}
