import Synchronization

#if canImport(Darwin)
  internal import Darwin
#endif

extension Environment {
  /// Begins a snapshot of the last commit; cheap, and it never waits for a writer.
  ///
  /// - Throws: ``LMDBError``, such as ``LMDBError/Code/closed``,
  ///   ``LMDBError/Code/readersFull``, ``LMDBError/Code/usedAfterFork``. Nothing is left behind.
  public func beginRead() throws(LMDBError) -> ReadTransaction { try beginRead(isLent: false) }

  /// Begins a snapshot for a caller who holds the environment until it has ended, so that the
  /// transaction does not.
  ///
  /// - Throws: As ``beginRead()``.
  package func beginLentRead() throws(LMDBError) -> ReadTransaction { try beginRead(isLent: true) }

  @inline(__always)
  private func beginRead(isLent: Bool) throws(LMDBError) -> ReadTransaction {
    try enter("beginRead")
    if let handle = pool.take() {
      let status = Calls.renew(handle.pointer)
      if status == 0 { return ReadTransaction(handle, self, isLent: isLent) }
      // Whoever waits for a larger map, or for LMDB to be opened again, may hold nothing of it.
      discard(handle)
      guard Calls.passes(status) else {
        gate.leave()
        throw Calls.failure(status, "mdb_txn_renew", path: folder)
      }
    }
    do throws(LMDBError) {
      return ReadTransaction(try beginFreshRead(), self, isLent: isLent)
    } catch {
      gate.leave()
      throw error
    }
  }

  /// Makes everything that was committed durable, whatever the environment's durability.
  ///
  /// - Throws: ``LMDBError`` when the disk fails, or the environment is closing.
  public func flush() throws(LMDBError) {
    guard !options.isReadOnly else { return }
    try enter("flush")
    defer { gate.leave() }
    try Calls.sync(pointer.raw, path: folder)
    #if canImport(Darwin)
      flushDrive()
    #endif
  }

  /// Begins the store's one write transaction; waits while another one runs, in any process.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/nestedWrite`` when this thread holds one already,
  ///   ``LMDBError/Code/readOnly``, ``LMDBError/Code/closed``,
  ///   ``LMDBError/Code/usedAfterFork``, ``LMDBError/Code/lockFileReplaced``,
  ///   ``LMDBError/Code/lockTableDamaged``, ``LMDBError/Code/busy(by:)`` when another process writes for
  ///   longer than ``writeWait`` says, ``LMDBError/Code/cancelled`` when it says that nobody wants to
  ///   write any more, and others. Nothing is left behind.
  public func beginWrite() throws(LMDBError) -> WriteTransaction {
    guard !options.isReadOnly else {
      throw LMDBError(
        .readOnly, operation: "beginWrite", path: folder, detail: "the store is open to read only")
    }
    // The process id too: a child made without `fork` does not run the handler that counts.
    guard processID == Forks.processID else { throw usedAfterFork("beginWrite") }
    try checkFork("beginWrite")
    try refuseSecondWrite("beginWrite")
    // Before the gate: whoever waits for another process must not keep others from a larger map.
    try refuseClosure("beginWrite")
    // Another one may be there once the store was suspended and resumed: each is given back itself.
    let turn = turn
    try take(turn)
    do throws(LMDBError) {
      // The store may be closing by now, and only who comes later is refused: it may stay open.
      try enter("beginWrite", isLate: true)
      do throws(LMDBError) {
        // It was suspended and resumed in between, and a commit would give back another one.
        guard turn === self.turn else { throw suspended("beginWrite") }
        if let lockWord, lockWord.owner != 0 { try refuseLostLock(lockWord) }
        let transaction = try beginInTurn()
        writingThread.store(SystemCall.threadNumber, ordering: .relaxed)
        hasWritten.store(true, ordering: .relaxed)
        return WriteTransaction(TransactionHandle(transaction), self)
      } catch {
        gate.leave()
        throw error
      }
    } catch {
      turn?.giveBack()
      throw error
    }
  }

  private func take(_ turn: WriteTurn?) throws(LMDBError) {
    guard let turn else { return }
    let wait = writeWait.withLock { $0 }
    var isDeclined = false
    let outcome = turn.take(
      wait, isFree: { isWriteLockFree },
      isWanted: {
        guard !endsWaiting else { return false }
        isDeclined = wait.isWanted?() == false
        return !isDeclined
      }, tellsOfLong: { wait.tellsOfLong?(writeHolder) })
    guard outcome != .taken else { return }
    try refuseEnd("beginWrite")
    // The turn was closed by a suspension that has ended since.
    if outcome == .unwanted, !isDeclined { throw suspended("beginWrite") }
    if outcome == .unwanted {
      throw LMDBError(
        .cancelled, operation: "beginWrite", path: folder,
        detail: "nobody wants to write any more, and another process is writing")
    }
    let holder = writeHolder
    throw LMDBError(
      .busy(by: holder), operation: "beginWrite", path: folder,
      detail: "\(holder?.description ?? "another process") is writing to the store")
  }

  /// Whether those who wait to write are to be told, and not only who comes later.
  var endsWaiting: Bool {
    switch gate.closure {
    case .ended, .resting: true
    case .closing, nil: false
    }
  }

  /// - Throws: As ``refuseClosure(_:)``, but not while it is being closed: that may be given up.
  func refuseEnd(_ operation: String) throws(LMDBError) {
    if endsWaiting { try refuseClosure(operation) }
  }

  private func beginInTurn() throws(LMDBError) -> OpaquePointer {
    let transaction = try begin(readOnly: false)
    do throws(LMDBError) {
      try checkFiles()
      try checkLockTable(transaction)
    } catch {
      Calls.abort(transaction)
      throw error
    }
    return transaction
  }

  func refuseSecondWrite(_ operation: String) throws(LMDBError) {
    guard writingThread.load(ordering: .relaxed) != SystemCall.threadNumber else {
      throw LMDBError(
        .nestedWrite, operation: operation, path: folder,
        detail: "this thread holds the write transaction already and would wait for itself")
    }
  }

  /// Two writers that lock different files would overwrite each other. Asked under the write lock:
  /// before it, files that are there may still be replaced.
  private func checkFiles() throws(LMDBError) {
    #if LARDER_MUTANTS
      if Mutant.lockInode.isOn { return }
    #endif
    try check(files.data, is: dataIdentity)
    try check(files.lock, is: lockIdentity)
  }

  private func check(_ path: String, is identity: FileIdentity?) throws(LMDBError) {
    guard try SafeFiles.identity(path) == identity else {
      throw LMDBError(
        .lockFileReplaced, operation: "beginWrite", path: path,
        detail: "the file was removed or replaced while the store is open")
    }
  }

  /// Guard against an opener that died while the shared transaction id was zero. Asked under the
  /// write lock: before it, other processes move the id.
  private func checkLockTable(_ transaction: OpaquePointer) throws(LMDBError) {
    #if LARDER_MUTANTS
      if Mutant.lockTableCheck.isOn { return }
    #endif
    let last = Calls.information(pointer.raw).lastTransactionID
    let id = Calls.id(transaction)
    guard id == last + 1 else {
      throw LMDBError(
        .lockTableDamaged, operation: "beginWrite", path: files.lock,
        detail: "the last commit is \(last) but this transaction would be \(id)")
    }
  }
}

// MARK: - What begins need

extension Environment {
  @inline(__always)
  func enter(_ operation: StaticString, isLate: Bool = false) throws(LMDBError) {
    guard forkCount == Forks.current else { throw usedAfterFork("\(operation)") }
    if !gate.enter() { try enterClosed(operation, isLate: isLate) }
    if lockPages != nil { try enterCopied() }
  }

  @inline(never)
  private func enterClosed(_ operation: StaticString, isLate: Bool) throws(LMDBError) {
    while !(isLate && gate.enterLate()) {
      try refuseClosure("\(operation)")
      // It was opened again meanwhile.
      if gate.enter() { return }
    }
  }

  @inline(never)
  private func enterCopied() throws(LMDBError) {
    do throws(LMDBError) {
      try expectLockPages()
    } catch {
      gate.leave()
      throw error
    }
    endUnendedReads()
  }

  /// Makes the pages of the lock file ready to be written to, where a full disk may refuse that.
  func expectLockPages() throws(LMDBError) {
    if let lockPages, !lockPages.makeReady() { throw LockPages.noRoom(files.lock) }
  }

  package func checkFork(_ operation: String) throws(LMDBError) {
    guard forkCount == Forks.current else { throw usedAfterFork(operation) }
  }

  func suspended(_ operation: String) -> LMDBError {
    LMDBError(
      .suspended, operation: operation, path: folder, detail: "the store is suspended")
  }

  /// - Throws: ``LMDBError/Code/suspended``, ``LMDBError/Code/closed``, or that there is no map any more, where
  ///   nothing new is let in.
  func refuseClosure(_ operation: String) throws(LMDBError) {
    switch gate.closure {
    case nil: return
    case .resting: throw suspended(operation)
    case .closing, .ended: throw closed(operation)
    }
  }

  func readsStillRun(_ operation: String) -> LMDBError {
    LMDBError(
      .inUse, operation: operation, path: folder,
      detail: "other transactions of this process still run")
  }

  func closed(_ operation: String) -> LMDBError {
    guard hasLostMap.load(ordering: .acquiring) else {
      return LMDBError(.closed, operation: operation, path: folder, detail: "the store is closed")
    }
    return LMDBError(
      .system(errno: SystemCall.noMemory), operation: operation, path: folder,
      detail: "there was no address space for the store's map; close the store and open it again")
  }

  private func usedAfterFork(_ operation: String) -> LMDBError {
    LMDBError(
      .usedAfterFork, operation: operation, path: folder,
      detail: "the store was opened by process \(processID), and this one was forked from it")
  }

  func beginFreshRead() throws(LMDBError) -> TransactionHandle {
    reader(try begin(readOnly: true))
  }

  /// The handle of a reader that has just begun.
  func reader(_ transaction: OpaquePointer) -> TransactionHandle {
    watchForIdleReaders()
    return TransactionHandle(transaction, runPageByteCount: runPageByteCount, of: self)
  }

  /// A file that another kind of machine made may have pages larger than what maps begin at
  /// multiples of.
  private var runPageByteCount: Int {
    #if _endian(little) && _pointerBitWidth(_64)
      let byteCount = Calls.pageByteCount(pointer.raw)
      return byteCount <= SystemCall.pageByteCount ? byteCount : 0
    #else
      return 0
    #endif
  }

  /// Tries again after slots of readers were given back, after the map was enlarged for what another
  /// process has written, and after LMDB was opened again. The caller is inside and holds nothing.
  func begin(readOnly: Bool) throws(LMDBError) -> OpaquePointer {
    var hasChecked = false
    var deadline: Double?
    while true {
      let reopenings = reopenings.load(ordering: .acquiring)
      let begun = try Calls.begin(pointer.raw, readOnly: readOnly, path: folder)
      let until = deadline ?? SystemCall.seconds + drainSeconds
      deadline = until
      switch begun {
      case .begun(let transaction): return transaction
      case .mapResized:
        guard try enlargeMap(until: until) else { throw mapResized("mdb_txn_begin") }
      case .panicked:
        guard try reopen(unless: reopenings, until: until) else { throw panicked() }
      case .readersFull:
        guard !hasChecked else { throw readersFull() }
        if try freeReaders().endedInside { noteSuspicion() }
        // A reader that came to rest since we looked for one.
        if let handle = pool.take() { discard(handle) }
        hasChecked = true
      }
    }
  }

  /// How long one who must move the map waits for others to end what they read.
  package var drainSeconds: Double { patience.withLock(\.drainSeconds) }

  /// Has the map hold what another process has written, and as much again. Not the size that the file
  /// records, which is the largest map of any process: this one may have room for a small one only.
  ///
  /// - Returns: Whether it is worth beginning again.
  private func enlargeMap(until deadline: Double) throws(LMDBError) -> Bool {
    guard SystemCall.seconds < deadline else { return false }
    var failure: LMDBError?
    let attempt = gate.tryAlone(until: deadline) { failure = enlargeMapAlone() }
    if let failure { throw failure }
    return try isWorthAnother(attempt, until: deadline)
  }

  /// - Returns: Why there is no larger map: nobody has to end anything then, as there is no room for it.
  private func enlargeMapAlone() -> LMDBError? {
    let information = Calls.information(pointer.raw)
    let pages = (information.lastPageNumber + 1) * Calls.pageByteCount(pointer.raw)
    let needed = max(pages, (try? SafeFiles.byteCount(files.data)) ?? 0)
    // Somebody else has done it.
    guard needed > information.mapByteCount else { return nil }
    let sizes = [2 * needed, needed].map { max(($0 + 0xFFFF) & ~0xFFFF, information.mapByteCount) }
    // LMDB lets go of the old map first, and has none at all where the new one is refused.
    var refusal: LMDBError?
    for size in sizes {
      do throws(LMDBError) {
        try SystemCall.checkAddressSpace(size, path: folder)
      } catch {
        refusal = error
        continue
      }
      do throws(LMDBError) {
        try Calls.setMapSize(pointer.raw, size, path: folder)
        return nil
      } catch {
        loseMap()
        return error
      }
    }
    return refusal
  }

  /// Whether one who was not alone, or was, may begin again: it is still inside, and there is
  /// something there.
  func isWorthAnother(_ attempt: Gate.Attempt, until deadline: Double) throws(LMDBError) -> Bool {
    switch attempt {
    case .late: return false
    case .ran, .shut: break
    case .other: guard gate.waitForOther(until: deadline) else { return false }
    }
    // Whoever closes waits for the caller, and may give up.
    try refuseEnd("begin")
    return true
  }

  /// LMDB has no map any more, and cannot get another one while it is open. Called by who is alone.
  func loseMap() {
    hasLostMap.store(true, ordering: .releasing)
    gate.end()
  }

  private func panicked() -> LMDBError {
    LMDBError(
      .panic, operation: "mdb_txn_begin", path: folder,
      detail:
        "a commit failed, and LMDB cannot be opened again while other reads of this process run"
    )
  }

  private func mapResized(_ operation: String) -> LMDBError {
    LMDBError(
      .mapResized, operation: operation, path: folder,
      detail: "the store outgrew the map of this process, which has other transactions running")
  }

  private func readersFull() -> LMDBError {
    LMDBError(
      .readersFull, operation: "mdb_txn_begin", path: folder,
      detail: "all \(Calls.information(pointer.raw).maximumReaderCount) reader slots are taken")
  }
}

// MARK: - How transactions end

extension Environment {
  func end(reading handle: TransactionHandle) {
    // In a forked child the slot is the parent's: not even a reset may touch it.
    guard forkCount == Forks.current else { return }
    handle.expectNoCursors()
    if let lockPages, !mayEnd(lockPages) {
      unendedReads.withLock { $0.append(UInt(bitPattern: handle.state)) }
      watchForIdleReaders()
    } else {
      rest(handle)
    }
    gate.leave()
  }

  /// Where one already waits for room, the next transaction or the look at idle readers asks for it:
  /// on a full disk, asking takes the file system long.
  private func mayEnd(_ lockPages: LockPages) -> Bool {
    unendedReads.withLock(\.isEmpty) && lockPages.makeReady()
  }

  private func rest(_ handle: TransactionHandle) {
    Calls.reset(handle.pointer)
    if !pool.put(handle) { discard(handle) }
  }

  /// Ends the reads whose end found no room in the lock file, now that there is some.
  func endUnendedReads() {
    let handles = unendedReads.withLock { reads in
      defer { reads = [] }
      return reads
    }
    for case let state? in handles.map(
      UnsafeMutablePointer<TransactionHandle.State>.init(bitPattern:))
    {
      rest(TransactionHandle(state: state))
    }
  }

  func renew(_ handle: TransactionHandle) throws(LMDBError) {
    try checkFork("renew")
    // Or else a scan that renews for ever would keep the store from closing.
    try refuseClosure("renew")
    try expectLockPages()
    Calls.reset(handle.pointer)
    var status = Calls.renew(handle.pointer)
    if Calls.isMapResized(status) {
      // Not behind another one who moves the map, or opens LMDB again, and waits for this handle.
      var failure: LMDBError?
      let deadline = SystemCall.seconds + drainSeconds
      let attempt = gate.tryAlone(until: deadline) { failure = enlargeMapAlone() }
      if let failure { throw failure }
      guard attempt == .ran else { throw mapResized("mdb_txn_renew") }
      status = Calls.renew(handle.pointer)
    }
    guard status == 0 else { throw Calls.failure(status, "mdb_txn_renew", path: folder) }
  }

  func commit(writing handle: TransactionHandle) throws(LMDBError) {
    try checkFork("commit")
    let pointer = endWriting(handle)
    defer {
      turn?.giveBack()
      gate.leave()
    }
    do throws(LMDBError) {
      try expectLockPages()
    } catch {
      Calls.abort(pointer)
      throw error
    }
    #if LARDER_MUTANTS
      if Mutant.swallowedCommit.isOn { return _ = try? Calls.commit(pointer, path: folder) }
    #endif
    do throws(LMDBError) {
      try Calls.commit(pointer, path: folder)
    } catch {
      if case .system = error.code { noteFailedCommit() }
      throw error
    }
    #if canImport(Darwin)
      if options.durability == .durable { flushDrive() }
    #endif
    noteRestLater()
  }

  #if canImport(Darwin)
    /// Has the drive write what it was given. On Apple's systems fsync and synchronous descriptors reach
    /// the drive and no further, and LMDB asks for no more before 0.9.36.
    private func flushDrive() {
      guard Calls.version().patch < 36, let descriptor = try? Calls.dataDescriptor(pointer.raw)
      else { return }
      // A file system that knows no such request has done what it can in LMDB's own flush, which
      // succeeded; and the commit is there, whatever this says.
      _ = fcntl(descriptor, F_FULLFSYNC)
    }
  #endif

  func abort(writing handle: TransactionHandle) {
    guard forkCount == Forks.current else { return }
    // Without room for them it is tried all the same: the lock of writers must be given back.
    _ = lockPages?.makeReady()
    Calls.abort(endWriting(handle))
    turn?.giveBack()
    gate.leave()
  }

  /// Gives the thread's mark back before the lock itself: after it, the mark is the next
  /// writer's.
  private func endWriting(_ handle: TransactionHandle) -> OpaquePointer {
    handle.expectNoCursors()
    precondition(
      writingThread.load(ordering: .relaxed) == SystemCall.threadNumber,
      "A write transaction must end on the thread that began it.")
    writingThread.store(0, ordering: .relaxed)
    let pointer = handle.pointer
    handle.deallocate()
    return pointer
  }

  func beginNested(in parent: TransactionHandle) throws(LMDBError) -> TransactionHandle {
    let child = try Calls.begin(
      pointer.raw, parent: parent.pointer, readOnly: false, path: folder)
    guard case .begun(let transaction) = child else { throw mapResized("mdb_txn_begin") }
    return TransactionHandle(transaction)
  }

  func commit(nested handle: TransactionHandle) throws(LMDBError) {
    try checkFork("commit")
    handle.expectNoCursors()
    let pointer = handle.pointer
    handle.deallocate()
    try Calls.commit(pointer, path: folder)
  }

  func abort(nested handle: TransactionHandle) {
    guard forkCount == Forks.current else { return }
    handle.expectNoCursors()
    discard(handle)
  }
}
