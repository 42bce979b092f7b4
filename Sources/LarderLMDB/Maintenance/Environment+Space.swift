extension Environment {
  /// Bytes of the pages that hold something, as the transaction sees it: those of all trees, and
  /// the two that every file begins with. Costs a look-up for each database.
  ///
  /// Of databases that another process has made only those that were opened here are counted.
  public func usedByteCount(in transaction: borrowing some Transaction & ~Copyable) -> Int {
    let pointer = transaction.handle.pointer
    var count = 2
    count += Calls.pageCount(pointer, Database.freeList.number)
    count += Calls.pageCount(pointer, Database.main.number)
    handles.withLock { handles in
      for database in handles.values { count += Calls.pageCount(pointer, database.number) }
    }
    return count * Calls.pageByteCount(self.pointer.raw)
  }

  /// Bytes that the file may grow to, asked inside a transaction.
  public func mapByteCount(in transaction: borrowing some Transaction & ~Copyable) -> Int {
    // A transaction keeps the environment as it is; to come in again could wait for one who waits
    // for its end.
    Calls.information(pointer.raw).mapByteCount
  }

  /// Bytes that the file may grow to, as address space is reserved for it in this process.
  ///
  /// - Throws: ``LMDBError``, as ``beginRead()`` does.
  public func mapByteCount() throws(LMDBError) -> Int {
    try enter("mapByteCount")
    defer { gate.leave() }
    return Calls.information(pointer.raw).mapByteCount
  }

  /// Bytes of the file up to its last page in use, as the last commit left it, asked inside a
  /// transaction.
  public func reachedByteCount(in transaction: borrowing some Transaction & ~Copyable) -> Int {
    reachedByteCountInside
  }

  /// Bytes of the file up to its last page in use, as the last commit left it.
  ///
  /// - Throws: ``LMDBError``, as ``beginRead()`` does.
  public func reachedByteCount() throws(LMDBError) -> Int {
    try enter("reachedByteCount")
    defer { gate.leave() }
    return reachedByteCountInside
  }

  /// The same for one who is inside.
  var reachedByteCountInside: Int {
    (Calls.information(pointer.raw).lastPageNumber + 1) * Calls.pageByteCount(pointer.raw)
  }

  /// Reserves more address space, so that the file may grow. Lets no new transaction begin and waits
  /// for those that run in this process. Other processes take it on by themselves.
  ///
  /// - Parameter drainSeconds: How long it waits; nil for two seconds.
  /// - Throws: ``LMDBError``: ``LMDBError/Code/inUse`` when a transaction, perhaps of this very
  ///   thread, does not end in time, or `ENOMEM` when there is no address space. The map is then
  ///   as it was.
  public func grow(
    toMapByteCount byteCount: Int, drainSeconds: Double? = nil
  ) throws(LMDBError) {
    try refuseSecondWrite("grow")
    try enter("grow")
    defer { gate.leave() }
    var failure: LMDBError?
    let seconds = drainSeconds ?? self.drainSeconds
    let isAlone = gate.alone(until: SystemCall.seconds + seconds) {
      let information = Calls.information(pointer.raw)
      guard byteCount > information.mapByteCount else { return }
      do throws(LMDBError) {
        // LMDB lets go of the old map first, and has none at all where the new one is refused.
        try SystemCall.checkAddressSpace(byteCount, path: folder)
      } catch {
        failure = error
        return
      }
      do throws(LMDBError) {
        try Calls.setMapSize(pointer.raw, byteCount, path: folder)
      } catch {
        failure = error
        loseMap()
      }
    }
    guard isAlone else { throw readsStillRun("grow") }
    if let failure { throw failure }
  }

  /// Bytes that are free on the disk of the store's folder, for this user; nil where the system
  /// does not tell.
  public var freeDiskByteCount: Int? { Self.freeDiskByteCount(of: folder) }

  /// The same for a folder that is not open.
  package static func freeDiskByteCount(of folder: String) -> Int? {
    // One that is to be made has its parent's disk.
    SafeFiles.freeByteCount(folder) ?? SafeFiles.freeByteCount(SafeFiles.parent(of: folder))
  }

  /// Bytes of the data file in a folder that is not open; nil where there is none.
  package static func fileByteCount(of folder: String) -> Int? {
    try? SafeFiles.byteCount(folder + "/data.mdb")  // For an error's text only.
  }
}
