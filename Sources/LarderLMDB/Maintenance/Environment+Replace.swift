internal import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Environment {
  /// What a compaction did.
  public struct Compaction: Sendable, Equatable {
    /// Bytes of the file before.
    public let byteCountBefore: Int
    public let byteCountAfter: Int
  }

  /// Writes the store anew without free pages, and with pages as full as they can be, and puts the copy
  /// in the place of the data file, while the environment stays open for those who have it.
  ///
  /// Reading goes on but for the moment of the exchange, which waits for the transactions that run.
  /// The caller keeps this process from writing; no other process may have the store open, and none
  /// opens it meanwhile: those that try wait. Needs as much disk as what is in use. A process that
  /// dies leaves the old file or the new one, each of them whole.
  ///
  /// - Parameters:
  ///   - timeoutSeconds: How long it waits for other processes to close the store, for openings,
  ///     and for transactions of this process to end.
  ///   - isWanted: Asked while it waits for other processes and for openings; false ends that.
  ///   - prepare: Changes the copy, which counts its transactions from one again, before anybody
  ///     sees it.
  ///   - progress: Told how many bytes of about how many are written; false ends it.
  /// - Returns: Nil where `progress` ended it.
  /// - Throws: ``LMDBError``, with code ``LMDBError/Code/inUse`` where others do not make way in
  ///   time, and ``LMDBError/Code/cancelled`` where `isWanted` ended the wait; what `prepare` throws.
  ///   The store is as it was then, and open; but one that cannot be opened again behind the exchange
  ///   is closed.
  public func compact(
    timeoutSeconds: Double, isWanted: () -> Bool = { true },
    prepare: (Environment) throws -> Void, progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Compaction? {
    try staging("compact", progress) { progress in
      try compactStaging(timeoutSeconds, isWanted, prepare: prepare, progress: progress)
    }
  }

  private func compactStaging(
    _ timeoutSeconds: Double, _ isWanted: () -> Bool,
    prepare: (Environment) throws -> Void, progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Compaction? {
    guard !options.isReadOnly else {
      throw LMDBError(
        .readOnly, operation: "compact", path: folder, detail: "the store is open to read only")
    }
    try refuseSecondWrite("compact")
    let deadline = SystemCall.seconds + timeoutSeconds
    let lock = try acquireOpeningLock(until: deadline, isWanted: isWanted)
    let found = FilesInPlace(
      opening: try lock.identity(), data: dataIdentity, table: lockIdentity)
    try files.check(found)
    try waitForOtherProcesses(until: deadline, isWanted)
    let before = try SafeFiles.byteCount(files.data)
    let last = try statistics().lastTransactionID
    let old = dataIdentity
    try SafeFiles.removeFolder(files.staging)
    do {
      let staged = try StoreFiles(files.staging, isReadOnly: false)
      guard try stageRewritten(in: staged, prepare: prepare, progress: progress) else {
        try SafeFiles.removeFolder(files.staging)
        return nil
      }
      try exchange(
        staged.data, over: found, writtenAt: last, until: SystemCall.seconds + timeoutSeconds)
    } catch {
      // The first failure is the one to report; a leftover is removed by the next opening. The files may be
      // exchanged all the same, where only the folder could not be flushed.
      if dataIdentity != old { try? lock.noteReplaced(old, by: dataIdentity) }
      // Before the copy is removed, and there is room again.
      let error = SafeFiles.lackOfRoom(error, in: files.staging) ?? error
      try? SafeFiles.removeFolder(files.staging)
      throw error
    }
    // Without it other processes are refused while this one has the store open, and the next opening looks at
    // all pages.
    try? lock.noteReplaced(old, by: dataIdentity)
    try? SafeFiles.removeFolder(files.staging)  // As above.
    let after = try SafeFiles.byteCount(files.data)
    _ = consume lock
    return Compaction(byteCountBefore: before, byteCountAfter: after)
  }

  /// Asked while the environment is open: LMDB's own locks of this process do not count, but must
  /// outlive the question.
  private func waitForOtherProcesses(
    until deadline: Double, _ isWanted: () -> Bool
  ) throws(LMDBError) {
    guard lockIdentity != nil else { return }
    while true {
      try checkFork("compact")
      try refuseEnd("compact")
      let isElsewhere = try lockProbe.withLock { probe throws(LMDBError) in
        // Nobody would close it again.
        guard !gate.hasEnded else { throw closed("compact") }
        let descriptor: Int32
        if let probe { descriptor = probe } else { descriptor = try files.openLockProbe() }
        probe = descriptor
        return try files.isLocked(descriptor) || mark?.isElsewhere == true
      }
      guard isElsewhere else { return }
      guard isWanted() else { throw compactionCancelled() }
      guard SystemCall.seconds < deadline else { throw openElsewhere() }
      SystemCall.sleep(microseconds: 2000)
    }
  }

  private func openElsewhere() -> LMDBError {
    LMDBError(
      .inUse, operation: "compact", path: folder,
      detail: "another process has the store open; close it there")
  }

}

// MARK: - The exchange

extension Environment {
  private func exchange(
    _ path: String, over found: FilesInPlace, writtenAt last: Int, until deadline: Double
  ) throws(LMDBError) {
    try enter("compact")
    defer { gate.leave() }
    var outcome: Result<Void, LMDBError>?
    let isAlone = gate.alone(until: deadline) {
      outcome = Result { () throws(LMDBError) in
        try exchangeAlone(path, over: found, writtenAt: last)
      }
    }
    guard isAlone, let outcome else { throw readsStillRun("compact") }
    try outcome.get()
  }

  /// Nobody is inside, and nobody can come.
  private func exchangeAlone(
    _ path: String, over found: FilesInPlace, writtenAt last: Int
  ) throws(LMDBError) {
    try checkFork("compact")
    let information = Calls.information(pointer.raw)
    guard information.lastTransactionID == last else {
      throw LMDBError(
        .inUse, operation: "compact", path: folder, detail: "the store was written meanwhile")
    }
    let copy = try SafeFiles.identity(path)
    try reopenAlone("compact", found) { (files: inout FilesInPlace) throws(LMDBError) in
      guard !(try self.files.isOpenElsewhere(except: dataIdentity)), mark?.isElsewhere != true
      else { throw openElsewhere() }
      try self.files.check(found)
      try SafeFiles.replace(self.files.data, by: path, expecting: found.data)
      files.data = copy
      try SafeFiles.syncFolder(folder)
    }
    hasWritten.store(true, ordering: .relaxed)
    noteRestLater()
  }
}
