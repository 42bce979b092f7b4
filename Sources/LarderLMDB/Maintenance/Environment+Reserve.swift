extension Environment {
  /// Keeps disk behind the last page of the file for commits that have to succeed when the disk is
  /// full, such as those that delete: at least half of what ``reachableReserve(_:)`` says. The file's
  /// size stays as it is. Asks the system only when the file has grown.
  ///
  /// - Parameter transaction: One that the caller is inside of.
  /// - Returns: False where the disk has no room for it, or the file may not become so large; true
  ///   also where nobody can tell.
  /// - Throws: ``LMDBError`` where LMDB does not lend its file.
  public func keepReserve(
    _ byteCount: Int, in transaction: borrowing some Transaction & ~Copyable
  ) throws(LMDBError) -> Bool {
    guard byteCount > 0, !options.isReadOnly else { return true }
    let reached = reachedByteCount(in: transaction)
    let descriptor = try Calls.dataDescriptor(pointer.raw)
    return reservedEnd.withLock { reservedEnd in
      if reached + byteCount / 2 <= reservedEnd { return true }
      let wanted = reachableReserve(byteCount)
      guard wanted > 0 else { return true }
      guard SafeFiles.mayGrow(to: reached + wanted) else { return false }
      guard SafeFiles.allocate(descriptor, from: reached, byteCount: wanted) else { return false }
      // Of a small disk what there is has to do.
      reservedEnd = reached + max(wanted, byteCount / 2)
      return true
    }
  }

  /// What can be kept of `byteCount`: at most a sixteenth of the disk, and of the largest file that
  /// this process may write.
  public func reachableReserve(_ byteCount: Int) -> Int {
    min(byteCount, (SafeFiles.totalByteCount(folder) ?? .max) / 16, SafeFiles.fileLimit / 16)
  }

  /// Whether a file of this process may not become larger than it is, but for `byteCount`.
  public func isAtFileLimit(within byteCount: Int) -> Bool {
    // What cannot be asked is no limit.
    guard let size = try? SafeFiles.byteCount(files.data) else { return false }
    return !SafeFiles.mayGrow(to: size + byteCount)
  }
}
