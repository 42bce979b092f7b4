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

  private func acquireOpeningLock(
    until deadline: Double, isWanted: () -> Bool = { true }
  ) throws(LMDBError) -> OpeningLock {
    while true {
      if let lock = try OpeningLock.acquireAtOnce(files) { return lock }
      guard isWanted() else { throw compactionCancelled() }
      try refuseEnd("compact")
      guard SystemCall.seconds < deadline else {
        throw LMDBError(
          .inUse, operation: "compact", path: folder, detail: "another process opens the store")
      }
      SystemCall.sleep(microseconds: 1000)
    }
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

  private func compactionCancelled() -> LMDBError {
    LMDBError(
      .cancelled, operation: "compact", path: folder,
      detail: "nobody wants the store to be compacted any more")
  }

  private func openElsewhere() -> LMDBError {
    LMDBError(
      .inUse, operation: "compact", path: folder,
      detail: "another process has the store open; close it there")
  }

  /// Behind LMDB. Nobody is inside any more.
  func closeLockProbe() {
    lockWord?.unmap()
    lockWord = nil
    lockProbe.withLock { probe in
      if let descriptor = probe { ReaderLock.close(descriptor) }
      probe = nil
    }
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

  /// Closes LMDB's environment, runs `exchange` and opens it again, with the same handles. Nobody is
  /// inside, nobody can come, and the caller has the opening lock.
  ///
  /// - Parameters:
  ///   - found: The files that are in use, which must be in place.
  ///   - exchange: Changes them, and says so.
  /// - Throws: What `exchange` throws, and the environment is open then. Where it cannot be opened
  ///   again, it is closed.
  private func reopenAlone(
    _ operation: String, _ found: FilesInPlace,
    _ exchange: (inout FilesInPlace) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    let mapByteCount = Calls.information(pointer.raw).mapByteCount
    // LMDB gives numbers in the order of opening, and the layers above keep them.
    let names = handles.withLock { $0.sorted { $0.value.number < $1.value.number } }
    guard names.enumerated().allSatisfy({ $1.value.number == UInt32($0) + Database.firstNamed })
    else {
      throw LMDBError(
        .inUse, operation: operation, path: folder,
        detail: "its databases have gaps in their numbers; close the store and open it again")
    }
    // Once LMDB has closed, another store in this place could only be opened, or refused.
    try files.check(found)
    // Keeps the old file's number from going to another one while this process knows the store by
    // it: a store that is made meanwhile would be taken for this one.
    let old = try PageFile(files.data)
    endUnendedReads()
    while let handle = pool.take() { discard(handle) }
    Calls.close(environment: pointer.raw)
    closeLockProbe()
    var inPlace = found
    let exchanged = Result { () throws(LMDBError) in try exchange(&inPlace) }
    do throws(LMDBError) {
      try reopen(names.map(\.key), inPlace, mapByteCount: mapByteCount)
    } catch {
      // There is nothing left to close, and nobody may come in any more.
      gate.end()
      mark?.end()
      isFinished.store(true, ordering: .releasing)
      Registry.shared.remove(dataIdentity)
      throw error
    }
    reopenings.add(1, ordering: .releasing)
    _ = consume old
    try exchanged.get()
  }

  /// Opens LMDB again after a commit of which it could not write the last page: it does nothing more
  /// before, not even reads. The store is as the commit before has left it. The caller is inside.
  ///
  /// - Parameter reopenings: How often it had been opened again when the caller met the failure.
  /// - Returns: Whether it is worth beginning again; false where others read on until `deadline`.
  func reopen(unless reopenings: Int, until deadline: Double) throws(LMDBError) -> Bool {
    guard SystemCall.seconds < deadline else { return false }
    var outcome: Result<Void, LMDBError> = .success(())
    let attempt = gate.tryAlone(until: deadline) {
      guard self.reopenings.load(ordering: .acquiring) == reopenings else { return }
      outcome = Result { () throws(LMDBError) in
        try checkFork("begin")
        // What LMDB does while it closes and opens must not meet another process that opens. Taken
        // here, or threads of this process would wait for each other.
        let lock = try acquireOpeningLock(until: deadline)
        let found = FilesInPlace(
          opening: try lock.identity(), data: dataIdentity, table: lockIdentity)
        try reopenAlone("begin", found) { (_: inout FilesInPlace) throws(LMDBError) in }
        _ = consume lock
      }
    }
    try outcome.get()
    return try isWorthAnother(attempt, until: deadline)
  }

  private func reopen(
    _ names: [String], _ expected: FilesInPlace, mapByteCount: Int
  ) throws(LMDBError) {
    SystemCall.keepStandardDescriptors()
    var options = options
    options.mapByteCount = max(options.mapByteCount, mapByteCount)
    try files.check(expected)
    let opened = try Calls.openEnvironment(files.folder, options: options, withoutLocks: false)
    do throws(LMDBError) {
      try SafeFiles.closeOnExec(try Calls.dataDescriptor(opened), path: files.data)
      let probe = try ReaderLock.take(opened, files)
      lockProbe.withLock { $0 = probe }
      try reopenDatabases(names, in: opened)
      try files.check(expected)
      reservedEnd.withLock { $0 = 0 }
      let old = dataIdentity
      guard let new = expected.data else { throw StoreFiles.missing(folder, "its files are gone") }
      if old != new {
        // A suspended store may have had the number of this file, or one that is just closing.
        let deadline = SystemCall.seconds + 5
        Registry.shared.followSuspended()
        while !Registry.shared.move(old, to: new) {
          guard SystemCall.seconds < deadline else { throw files.isOpen("compact") }
          SystemCall.sleep(microseconds: 1000)
          Registry.shared.followSuspended()
        }
      }
      identity.withLock { $0 = new }
    } catch {
      Calls.close(environment: opened)
      closeLockProbe()
      throw error
    }
    pointer = OpaqueEnvironment(raw: opened)
    lockPages = LockPages(files.lock, lockIdentity)
    lockWord = lockProbe.withLock { LockWord($0) }
  }

  func reopenDatabases(
    _ names: [String], in opened: OpaquePointer
  ) throws(LMDBError) {
    let begun = try Calls.begin(opened, readOnly: true, path: folder)
    guard case .begun(let transaction) = begun else {
      throw LMDBError(
        .lockTableDamaged, operation: "compact", path: folder, detail: "no snapshot can be had")
    }
    do throws(LMDBError) {
      try Calls.openMain(transaction)
      for (index, name) in names.enumerated() {
        let database = try Calls.openDatabase(
          transaction, named: name, create: false, maximum: options.maximumDatabaseCount)
        guard database?.number == UInt32(index) + Database.firstNamed else {
          throw LMDBError(
            .missing, operation: "compact", path: folder,
            detail: "the database \(name) is not where it was; open the store again")
        }
      }
    } catch {
      Calls.abort(transaction)
      throw error
    }
    try Calls.commit(transaction, path: folder)
  }
}
