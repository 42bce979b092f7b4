import Synchronization

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
      do throws(LMDBError) {
        try recoverRenewal(handle, status)
      } catch {
        discard(handle)
        gate.leave()
        throw error
      }
      return ReadTransaction(handle, self, isLent: isLent)
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
  }

  /// Begins the store's one write transaction; waits while another one runs, in any process.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/nestedWrite`` when this thread holds one already,
  ///   ``LMDBError/Code/readOnly``, ``LMDBError/Code/closed``,
  ///   ``LMDBError/Code/usedAfterFork``, ``LMDBError/Code/lockFileReplaced``,
  ///   ``LMDBError/Code/lockTableDamaged`` and others. Nothing is left behind.
  public func beginWrite() throws(LMDBError) -> WriteTransaction {
    guard !options.isReadOnly else {
      throw LMDBError(
        .readOnly, operation: "beginWrite", path: folder, detail: "the store is open to read only")
    }
    // The process id too: a child made without `fork` does not run the handler that counts.
    guard processID == Forks.processID else { throw usedAfterFork("beginWrite") }
    try enter("beginWrite")
    do throws(LMDBError) {
      try refuseSecondWrite("beginWrite")
      let transaction = try beginInTurn()
      writingThread.store(SystemCall.threadNumber, ordering: .relaxed)
      return WriteTransaction(TransactionHandle(transaction), self)
    } catch {
      gate.leave()
      throw error
    }
  }

  private func beginInTurn() throws(LMDBError) -> OpaquePointer {
    bell?.turn.take()
    do throws(LMDBError) {
      let transaction = try begin(readOnly: false)
      do throws(LMDBError) {
        try checkFiles()
        try checkLockTable(transaction)
      } catch {
        Calls.abort(transaction)
        throw error
      }
      return transaction
    } catch {
      bell?.turn.giveBack()
      throw error
    }
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
  func enter(_ operation: StaticString) throws(LMDBError) {
    guard forkCount == Forks.current else { throw usedAfterFork("\(operation)") }
    guard gate.enter() else { throw closed("\(operation)") }
  }

  func checkFork(_ operation: String) throws(LMDBError) {
    guard forkCount == Forks.current else { throw usedAfterFork(operation) }
  }

  private func closed(_ operation: String) -> LMDBError {
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
    let transaction = try begin(readOnly: true)
    return TransactionHandle(transaction, runPageByteCount: runPageByteCount)
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

  /// Tries a second time after dead processes gave back their reader slots, or after the size
  /// that another process gave the map is taken on.
  func begin(readOnly: Bool) throws(LMDBError) -> OpaquePointer {
    var (hasResized, hasChecked) = (false, false)
    while true {
      switch try Calls.begin(pointer.raw, readOnly: readOnly, path: folder) {
      case .begun(let transaction): return transaction
      case .mapResized:
        guard !hasResized, adoptMapSize() else { throw mapResized("mdb_txn_begin") }
        hasResized = true
      case .readersFull:
        guard !hasChecked else { throw readersFull() }
        _ = try Calls.checkReaders(pointer.raw, path: folder)
        hasChecked = true
      }
    }
  }

  func recoverRenewal(_ handle: TransactionHandle, _ status: Int32) throws(LMDBError) {
    guard Calls.isMapResized(status) else {
      throw Calls.failure(status, "mdb_txn_renew", path: folder)
    }
    guard adoptMapSize() else { throw mapResized("mdb_txn_renew") }
    let status = Calls.renew(handle.pointer)
    guard status == 0 else { throw Calls.failure(status, "mdb_txn_renew", path: folder) }
  }

  /// How long one who must move the map waits for others to end what they read.
  public static var drainSeconds: Double { 2 }

  /// Moves the map, which only a caller with no company may do: others hold pointers into it.
  private func adoptMapSize() -> Bool {
    var isAdopted = false
    let deadline = SystemCall.seconds + Self.drainSeconds
    return gate.alone(until: deadline) {
      // LMDB lets go of the old map first, and has none at all where the new one is refused.
      guard (try? SystemCall.checkAddressSpace(recordedMapByteCount(), path: folder)) != nil
      else { return }
      isAdopted = Calls.adoptMapSize(pointer.raw)
      if !isAdopted { loseMap() }
    } && isAdopted
  }

  /// The size that a map must have to hold what the file says.
  private func recordedMapByteCount() throws(LMDBError) -> Int {
    let file = try PageFile(files.data)
    var largest = try file.byteCount()
    let pageByteCount = Calls.pageByteCount(pointer.raw)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
    defer { bytes.deallocate() }
    for page in 0..<PageFormat.metaPageCount {
      let place = page * pageByteCount + PageFormat.mapByteCountOffset
      if try file.read(bytes, at: place) { largest = max(largest, bytes.load(as: Int.self)) }
    }
    return largest
  }

  /// LMDB has no map any more, and cannot get another one while it is open. Called by who is alone.
  func loseMap() {
    hasLostMap.store(true, ordering: .releasing)
    gate.shut()
  }

  private func mapResized(_ operation: String) -> LMDBError {
    LMDBError(
      .mapResized, operation: operation, path: folder,
      detail: "the store outgrew the map of this process, which has other transactions running")
  }

  private func readersFull() -> LMDBError {
    LMDBError(
      .readersFull, operation: "mdb_txn_begin", path: folder,
      detail: "all \(Calls.information(pointer.raw).maximumReaders) reader slots are taken")
  }
}

// MARK: - How transactions end

extension Environment {
  func end(reading handle: TransactionHandle) {
    // In a forked child the slot is the parent's: not even a reset may touch it.
    guard forkCount == Forks.current else { return }
    handle.expectNoCursors()
    Calls.reset(handle.pointer)
    if !pool.put(handle) { discard(handle) }
    gate.leave()
  }

  func renew(_ handle: TransactionHandle) throws(LMDBError) {
    try checkFork("renew")
    // Or else a scan that renews for ever would keep the store from closing.
    guard !gate.isShut else { throw closed("renew") }
    Calls.reset(handle.pointer)
    let status = Calls.renew(handle.pointer)
    if status != 0 { try recoverRenewal(handle, status) }
  }

  func commit(writing handle: TransactionHandle) throws(LMDBError) {
    try checkFork("commit")
    let pointer = endWriting(handle)
    defer {
      bell?.turn.giveBack()
      gate.leave()
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
  }

  func abort(writing handle: TransactionHandle) {
    guard forkCount == Forks.current else { return }
    Calls.abort(endWriting(handle))
    bell?.turn.giveBack()
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
