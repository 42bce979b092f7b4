extension Environment {
  /// The reader slots that are taken, by all processes.
  ///
  /// - Throws: ``LMDBError``, as ``beginRead()`` does.
  public func readers() throws(LMDBError) -> [EnvironmentReader] {
    try enter("readers")
    defer { gate.leave() }
    return try Calls.readers(pointer.raw, path: folder)
  }

  /// Gives back the reader slots of processes that died, and says how many.
  ///
  /// Call it every ten minutes or so in a program that runs long; opening does it too.
  ///
  /// - Throws: ``LMDBError``, as ``beginRead()`` does.
  public func checkReaders() throws(LMDBError) -> Int {
    try enter("checkReaders")
    defer { gate.leave() }
    let freed = try freeReaders()
    if freed.endedInside { noteSuspicion() }
    return freed.count
  }

  /// The same, and whether one of those processes ended inside of a read, as one does that LMDB ended
  /// on a damaged page. The caller is inside.
  func freeReaders() throws(LMDBError) -> (count: Int, endedInside: Bool) {
    let before = try Calls.readers(pointer.raw, path: folder)
    let count = try Calls.checkReaders(pointer.raw, path: folder)
    guard count > 0 else { return (0, false) }
    let left = Set(try Calls.readers(pointer.raw, path: folder).map(\.processID))
    return (count, before.contains { $0.transactionID != nil && !left.contains($0.processID) })
  }
}
