internal import LarderLMDB

/// What a compaction did.
public struct CompactionReport: Sendable, Equatable {
  /// Bytes of the store's file before.
  public let byteCountBefore: Int
  /// Bytes of the store's file now.
  public let byteCountAfter: Int

  /// Bytes that the disk has back; below zero where the copy, which is whole pages of everything, is
  /// larger than a store that was hardly used.
  public var freedByteCount: Int { byteCountBefore - byteCountAfter }
}

extension Store {
  /// Gives what the store's file does not need back to the disk, by writing it anew without free pages
  /// and with pages that are full; deleted documents are then gone from the disk, too. A search index may still have
  /// their words and keys; after `rebuildIndexes()` it has none.
  ///
  /// The store stays open: reading goes on except for a moment at the end, and writes of this process
  /// wait until it is done. No other process may have the store open; one that tries to open it
  /// meanwhile waits. Needs as much free disk as the documents take. A process that is killed
  /// leaves the store as it was before or after, with every document.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait for other processes to close the store, and at the end
  ///     for reads of this process that run.
  ///   - progress: Told about every megabyte; what it throws ends the compaction.
  /// - Throws: ``StoreError``, such as ``StoreError/storage(_:)`` where others do not make way in
  ///   time, and ``StoreError/full(_:)``; what `progress` throws; `CancellationError` where
  ///   the task was cancelled. The store is as it was then.
  @discardableResult
  public func compact(
    timeout: Duration = .seconds(5), progress: (StoreProgress) throws -> Void = { _ in }
  ) throws -> CompactionReport {
    try checkOpen()
    return try engine.storing {
      try engine.writer.run {
        try engine.compact(timeout: timeout, progress: progress)
      }
    }
  }

  /// Gives the free pages of the store's file back to the disk, on the store's own thread; as the
  /// synchronous one. Cancelling the task ends it.
  ///
  /// - Throws: As the synchronous one.
  @discardableResult
  public func compact(
    timeout: Duration = .seconds(5),
    progress: @escaping @Sendable (StoreProgress) throws -> Void = { _ in }
  ) async throws -> CompactionReport {
    try checkOpen()
    let engine = engine
    return try await engine.inLine { isWanted in
      try engine.compact(timeout: timeout, isWanted: isWanted, progress: progress)
    }
  }
}

extension Engine {
  /// Called in the writer's line only.
  fileprivate func compact(
    timeout: Duration, isWanted: () -> Bool = { true }, progress: (StoreProgress) throws -> Void
  ) throws -> CompactionReport {
    let start = log.isActive ? ContinuousClock.now : nil
    var ending = Ending()
    let done = try environment.compact(timeoutSeconds: timeout.seconds, isWanted: isWanted) {
      copy in
      try copy.renewState(isSameTimeline: true)
    } progress: { written, total in
      ending.goesOn {
        guard isWanted() else { throw CancellationError() }
        try StoreProgress(.copying, completed: written, total: total).tell(progress)
      }
    }
    guard let done else { throw ending.reason }
    fileGrowth.forget()
    let report = CompactionReport(
      byteCountBefore: done.byteCountBefore, byteCountAfter: done.byteCountAfter)
    if let start {
      log.tell(
        .info, "the store was compacted",
        [
          "freed": "\(report.freedByteCount)", "bytes": "\(report.byteCountAfter)",
          "seconds": (ContinuousClock.now - start).secondsText,
        ])
    }
    return report
  }
}

extension Environment {
  /// Writes the state record of a copy anew: a compacted copy counts its transactions from one
  /// again, and the record must not name a later one.
  ///
  /// - Parameter isSameTimeline: Whether it takes the original's place, with all that was saved there.
  ///   Otherwise what is saved in the copy and in the original from now on has the same numbers.
  func renewState(isSameTimeline: Bool) throws {
    var writing = try beginWrite()
    guard var state = try writing.state(path: folder) else {
      throw StoreError.notAStore(
        path: folder, reason: "its LMDB file has no state record of Larder")
    }
    state.transaction = UInt64(writing.id)
    try writing.put(state)
    if !isSameTimeline { try writing.put(Timeline()) }
    try writing.commit()
  }
}
