#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Environment {
  /// Copies one snapshot of the store to `folder`, which is made if it is absent; returns when
  /// the copy is on the disk.
  ///
  /// The copy has its name only once it is whole. `compacting` leaves free pages out and takes
  /// longer; the compacted copy counts its transactions from one again. Writers go on meanwhile,
  /// and the file grows by what they write.
  ///
  /// - Parameter progress: Told about every megabyte how many bytes of about how many are written;
  ///   false ends the copy.
  /// - Returns: False where `progress` ended it.
  /// - Throws: ``LMDBError``, with `EEXIST` when the folder holds a store already. No `data.mdb`
  ///   is left behind.
  @discardableResult
  public func copy(
    to folder: String, compacting: Bool,
    progress: (_ written: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws(LMDBError) -> Bool {
    // LMDB takes the lock of writers for a moment.
    try refuseSecondWrite("copy")
    try holdFileInMap()
    try enter("copy")
    defer { gate.leave() }
    let target = try StoreFiles(folder, isReadOnly: false)
    let lock = try OpeningLock.acquire(target, isReadOnly: false)
    guard try SafeFiles.identity(target.data) == nil else {
      throw LMDBError(
        .system(errno: EEXIST), operation: "copy", path: target.data,
        detail: "the folder holds a store already; copy to another folder")
    }
    let unfinished = target.data + ".copying"
    // Left by a copy that was cut short: nobody else holds the lock.
    if try SafeFiles.checkFile(unfinished, isReadOnly: false) != nil {
      try SafeFiles.remove(unfinished)
    }
    do throws(LMDBError) {
      guard try write(to: unfinished, compacting: compacting, progress) else {
        unlink(unfinished)  // As below.
        return false
      }
      // A crashed creation must not make the next opener throw the copy away.
      try lock?.note(.finished)
      guard rename(unfinished, target.data) == 0 else {
        throw SystemCall.failure("rename", path: target.data)
      }
    } catch {
      // The first failure is the one to report; a leftover is removed by the next copy.
      unlink(unfinished)
      throw error
    }
    try SafeFiles.syncFolder(target.folder)
    try SafeFiles.syncFolder(SafeFiles.parent(of: target.folder))
    _ = consume lock
    return true
  }

  /// Enlarges the map where another process has enlarged the file, as the first read would. Nobody can do so once a copy has
  /// begun, which counts as something that is read.
  func holdFileInMap() throws(LMDBError) { _ = try beginRead() }

  func write(
    to path: String, compacting: Bool, _ progress: (Int, Int) -> Bool
  ) throws(LMDBError) -> Bool {
    let total = try expectedByteCount(compacting: compacting)
    let descriptor = try SafeFiles.createFile(path)
    defer { SystemCall.closeDescriptor(descriptor) }
    let environment = pointer
    let isWhole = try PipedCopy(to: descriptor, path: path).run(
      { (input) throws(LMDBError) in
        try Calls.copy(environment.raw, to: input, compacting: compacting, path: path)
      }, progress: { written, isAll in progress(written, isAll ? written : max(written, total)) })
    guard isWhole else { return false }
    try SafeFiles.flush(descriptor, path)
    return true
  }

  private func expectedByteCount(compacting: Bool) throws(LMDBError) -> Int {
    compacting ? usedByteCount(in: try beginRead()) : try reachedByteCount()
  }
}
