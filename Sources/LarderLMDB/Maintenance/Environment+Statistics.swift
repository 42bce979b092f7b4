extension Environment {
  /// The size and the use of the environment; walks the list of free pages.
  ///
  /// - Throws: ``LMDBError``, as ``beginRead()`` does.
  public func statistics() throws(LMDBError) -> EnvironmentStatistics {
    let transaction = try beginRead()
    let information = Calls.information(pointer.raw)
    return EnvironmentStatistics(
      pageByteCount: try transaction.statistics(of: .main).pageByteCount,
      mapByteCount: information.mapByteCount,
      lastPageNumber: information.lastPageNumber,
      lastTransactionID: information.lastTransactionID,
      fileByteCount: try SafeFiles.byteCount(files.data),
      freePageCount: try Self.freePageCount(transaction),
      readersInUse: try Calls.readers(pointer.raw, path: folder).count,
      maximumReaderCount: information.maximumReaderCount)
  }

  /// Bytes of the free pages, as the last commit left them; walks their list.
  ///
  /// LMDB lends the list to readers only, so that this begins a snapshot of its own. Whoever closes or
  /// suspends the environment waits for the caller, and keeps it out of neither.
  ///
  /// - Parameter transaction: One that the caller is inside of.
  /// - Throws: ``LMDBError``, such as ``LMDBError/Code/readersFull``.
  public func freeByteCount(
    in transaction: borrowing some Transaction & ~Copyable
  ) throws(LMDBError) -> Int {
    try expectLockPages()
    let reading = try beginReadInside()
    return try Self.freePageCount(reading) * Calls.pageByteCount(pointer.raw)
  }

  /// Every record of LMDB's free list is a count, then as many page numbers.
  private static func freePageCount(
    _ transaction: borrowing ReadTransaction
  ) throws(LMDBError) -> Int {
    var count = 0
    var cursor = try transaction.cursor(in: .freeList)
    while try cursor.next() {
      guard cursor.value.count >= MemoryLayout<Int>.size else { continue }
      count += cursor.value.loadUnaligned(as: Int.self)
    }
    return count
  }
}
