internal import Synchronization

// A system that puts a process to sleep, as iOS does, ends one that holds a lock on a file which other
// processes may open. A suspended environment holds none: LMDB is closed, and what the layers above know
// of it stays valid until it is open again.
extension Environment {
  /// Lets nothing new begin, waits at most `timeoutSeconds` for the transactions that run, and gives back
  /// every lock and descriptor that this process holds on the store's files. Until ``resume(wait:)``
  /// every begin throws ``LMDBError/Code/suspended``. Suspending again does nothing, nor does suspending what
  /// was published, which has no locks.
  ///
  /// - Throws: ``LMDBError`` with code ``LMDBError/Code/inUse`` when transactions still run,
  ///   ``LMDBError/Code/closed``, ``LMDBError/Code/nestedWrite``, ``LMDBError/Code/usedAfterFork``, or
  ///   ``LMDBError/Code/system(errno:)`` where a disk without room for one byte keeps LMDB from saying
  ///   so; the environment is then as open as before.
  public func suspend(timeoutSeconds: Double = 5) throws(LMDBError) {
    _ = try suspend(timeoutSeconds: timeoutSeconds) { _ in true }
  }

  /// - Parameter note: Given what is suspended, once nobody else can change it; false leaves it open.
  /// - Returns: What `note` has said, true where it was suspended already.
  package func suspend(
    timeoutSeconds: Double, note: (borrowing ReadTransaction) -> Bool
  ) throws(LMDBError) -> Bool {
    try checkFork("suspend")
    // It holds no lock, and its file may be another one by the time that it would be opened again.
    guard !options.isPublished else { return true }
    try refuseSecondWrite("suspend")
    let deadline = SystemCall.seconds + timeoutSeconds
    try beginChanging("suspend")
    defer { didChange() }
    guard !isSuspended else { return true }
    guard !gate.hasEnded else { throw closed("suspend") }
    gate.rest()
    do throws(LMDBError) {
      while gate.runningCount > 0 || stagingCount.load(ordering: .sequentiallyConsistent) > 0 {
        guard SystemCall.seconds < deadline else { throw readsStillRun("suspend") }
        SystemCall.sleep(microseconds: 200)
      }
      // One inside may have closed LMDB, and found that it cannot be opened again.
      guard !isFinished.load(ordering: .acquiring) else { throw closed("suspend") }
      try expectLockPages()
      guard note(try beginReadInside()) else {
        gate.reopen()
        return false
      }
    } catch {
      gate.reopen()
      throw error
    }
    rest()
    return true
  }

  /// Behind ``beginChanging(_:)``. By the name that the file has by now; one that has closed has none, and it
  /// may be that of somebody who opens it anew.
  private func didChange() {
    if !isFinished.load(ordering: .acquiring) { Registry.shared.didNotClose(dataIdentity) }
  }

  /// Runs what locks files of a copy, beside reads and writes, and has those who suspend the environment
  /// wait for it.
  ///
  /// - Parameter body: Given the progress that it is to tell. That ends it, too, where the environment is to be
  ///   suspended or has closed.
  /// - Returns: What `body` returns; nil where `progress` ended it.
  /// - Throws: ``LMDBError/Code/suspended``, ``LMDBError/Code/closed``; what `body` throws.
  func staging<Result>(
    _ operation: String, _ progress: (_ written: Int, _ total: Int) -> Bool,
    _ body: ((_ written: Int, _ total: Int) -> Bool) throws -> Result?
  ) throws -> Result? {
    stagingCount.add(1, ordering: .sequentiallyConsistent)
    defer { stagingCount.subtract(1, ordering: .sequentiallyConsistent) }
    // Counted first: whoever suspends shuts the gate first and counts then.
    try refuseClosure(operation)
    var makesWay = false
    let result = try withoutActuallyEscaping(progress) { progress in
      try body { written, total in
        let goesOn = progress(written, total)
        // Behind it, which may take long.
        makesWay = endsWaiting
        return goesOn && !makesWay
      }
    }
    // Whoever wanted to suspend it may have given up by now.
    if result == nil, makesWay {
      try refuseClosure(operation)
      throw suspended(operation)
    }
    return result
  }

  /// Nobody is inside, and nobody can come.
  private func rest() {
    letGo()
    lockIdentity = nil
    turn = nil
    isAtRest.store(true, ordering: .releasing)
  }

  /// Opens a suspended environment again, with the handles that it had. What other processes have written
  /// meanwhile is there. Does nothing where it is not suspended.
  ///
  /// - Parameter wait: How long it waits for another process that opens the store.
  /// - Throws: ``LMDBError``: what opening a store may throw, and ``LMDBError/Code/missing`` where a
  ///   database that was in use is not there any more. It is as suspended then as before, and may be
  ///   resumed later.
  public func resume(wait: OpenWait = OpenWait()) throws(LMDBError) {
    guard try resume(wait: wait, isSame: { _ in true }) else {
      throw missing(database: "that was in use", "resume")
    }
  }

  /// - Parameter isSame: Whether what is there now is what was suspended, asked before anybody else is let in, unless
  ///   a database that was in use is not there any more.
  /// - Returns: Whether it is, true where it was not suspended. Where it is false the environment is suspended as
  ///   before.
  package func resume(
    wait: OpenWait, isSame: (borrowing ReadTransaction) -> Bool
  ) throws(LMDBError) -> Bool {
    try checkFork("resume")
    // Behind whoever suspends it just now.
    try beginChanging("resume")
    let wasSuspended = isSuspended
    didChange()
    guard wasSuspended else { return true }
    try files.check(isReadOnly: options.isReadOnly)
    // First the lock, as whoever opens the store does: another thread that has it may wait for this environment.
    let lock = try OpeningLock.acquire(files, isReadOnly: options.isReadOnly, wait)
    try beginChanging("resume")
    defer { didChange() }
    guard isSuspended else { return true }
    try files.check(isReadOnly: options.isReadOnly)
    try lock?.refuseQuarantine(files)
    guard let found = try SafeFiles.identity(files.data), try lock?.creation() != .unfinished else {
      throw StoreFiles.missing(
        folder, "the store that was here is gone; close it and open it again")
    }
    guard try adopt(found, lock) else { return false }
    do throws(LMDBError) {
      _ = try freeReaders()
      guard try isSame(beginReadInside()) else {
        rest()
        return false
      }
    } catch {
      rest()
      throw error
    }
    isAtRest.store(false, ordering: .releasing)
    gate.reopen()
    _ = consume lock
    return true
  }

  /// Begins a snapshot for one who is inside or alone, also while nobody is let in.
  func beginReadInside() throws(LMDBError) -> ReadTransaction {
    gate.enterAgain()
    do throws(LMDBError) {
      return ReadTransaction(try beginFreshRead(), self, isLent: false)
    } catch {
      gate.leave()
      throw error
    }
  }

  /// Takes the file that is there now, which another process may have put in the place of the old one.
  ///
  /// - Returns: Whether it has the databases that were in use. Where it has not, nothing has changed.
  private func adopt(
    _ found: FileIdentity, _ lock: borrowing OpeningLock?
  ) throws(LMDBError) -> Bool {
    // Who opens it meanwhile shares this environment. The number may still be that of a file which is gone, of
    // another suspended store or of one that is just closing.
    let deadline = SystemCall.seconds + 5
    while true {
      if found != dataIdentity { Registry.shared.followSuspended() }
      if go(by: found) { break }
      let isOpen = Registry.shared.entries.withLock { $0[found]?.phase == .open }
      guard !isOpen, SystemCall.seconds < deadline else { throw files.isOpen("resume") }
      SystemCall.sleep(microseconds: 1000)
    }
    let isAlone = try Self.isAlone(files, lock, options)
    let preflight = Preflight(
      files: files, identity: found, session: try lock?.session(), rest: try lock?.rest() ?? nil,
      isAlone: isAlone, isRequested: false)
    try Self.look(preflight, lock, options)
    let withoutLocks = try Self.mustOpenWithoutLocks(files, options)
    if !withoutLocks {
      try LockTable(files: files).prepare(
        maximumReaderCount: options.maximumReaderCount, isAlone: isAlone,
        isReadOnly: options.isReadOnly)
    }
    let names = handles.withLock { $0.sorted { $0.value.number < $1.value.number }.map(\.key) }
    let opened = try Calls.openEnvironment(folder, options: options, withoutLocks: withoutLocks)
    do throws(LMDBError) {
      try SafeFiles.closeOnExec(try Calls.dataDescriptor(opened), path: files.data)
      let probe = withoutLocks ? nil : try ReaderLock.take(opened, files)
      lockProbe.withLock { $0 = probe }
      guard try reopenDatabases(names, in: opened, "resume") == nil else {
        Calls.close(environment: opened)
        closeLockProbe()
        return false
      }
      guard try SafeFiles.identity(files.data) == found else {
        throw StoreFiles.replaced(files.data)
      }
      lockIdentity = withoutLocks ? nil : try SafeFiles.identity(files.lock)
    } catch {
      Calls.close(environment: opened)
      closeLockProbe()
      throw error
    }
    pointer = OpaqueEnvironment(raw: opened)
    lockPages = LockPages(files.lock, lockIdentity)
    lockWord = options.isReadOnly ? nil : lockProbe.withLock { LockWord($0) }
    reservedEnd.withLock { $0 = 0 }
    bell?.reopen(files, isReadOnly: options.isReadOnly)
    transactionAtOpening = Calls.information(opened).lastTransactionID
    stampAtOpening = try? SafeFiles.stamp(files.data)
    hasWritten.store(false, ordering: .relaxed)
    mark?.begin(files)
    turn = options.isReadOnly ? nil : WriteTurn.open(files.opening)
    reopenings.add(1, ordering: .releasing)
    return true
  }

  /// Waits while another thread opens, closes, suspends or resumes it.
  private func beginChanging(_ operation: String) throws(LMDBError) {
    while !Registry.shared.beginChanging(dataIdentity) {
      guard !isFinished.load(ordering: .acquiring) else { throw closed(operation) }
      SystemCall.sleep(microseconds: 1000)
    }
  }
}
