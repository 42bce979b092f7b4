extension OpeningLock {
  /// Whether nobody else has the store open in LMDB: no other process, and no other copy of this
  /// library in this one. Stays so while the lock is held.
  ///
  /// - Parameter data: The data file of an environment of this process that LMDB has closed.
  /// - Throws: ``LMDBError/Code/lockTableDamaged`` where somebody has it open whose locks on
  ///   `lock.mdb` are gone: LMDB would take us for the first, and clear the table of readers.
  borrowing func isAlone(
    _ files: StoreFiles, except data: FileIdentity? = nil
  ) throws(LMDBError) -> Bool {
    // A process that ends lets go of its locks one after the other.
    let deadline = SystemCall.seconds + Self.endingSeconds
    while true {
      if try files.isOpenElsewhere(except: data) { return false }
      guard OpenMark.isSet(.open, descriptor) else { return true }
      guard SystemCall.seconds < deadline else {
        throw LMDBError(
          .lockTableDamaged, operation: "open", path: files.lock,
          detail: "a process has the store open, and its lock on this file is gone: the file was"
            + " removed, or that process has opened and closed it, as a copy of the folder does")
      }
      SystemCall.sleep(microseconds: 1000)
    }
  }

  private static var endingSeconds: Double { 2 }
}

extension StoreFiles {
  /// Whether a process has the store open in LMDB. Asked under the opening lock, and only where this
  /// process itself has not: closing the file would let go of LMDB's own lock on it.
  ///
  /// LMDB holds a shared lock on the first byte of its lock file for as long as it is open.
  ///
  /// - Parameter data: The data file of an environment of this process that LMDB has closed.
  func isOpenElsewhere(except data: FileIdentity?) throws(LMDBError) -> Bool {
    guard let identity = try SafeFiles.identity(lock) else { return false }
    // Another data file may have come into the folder of one that is open here.
    if Registry.shared.hasLockFile(identity, except: data) { return true }
    let descriptor = try openLockProbe()
    defer { SystemCall.closeDescriptor(descriptor) }
    return try isLocked(descriptor)
  }
}
