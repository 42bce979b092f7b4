extension Environment {
  /// Keeps disk behind the last page of the file for commits that have to succeed when the disk is
  /// full, such as those that delete: at least half of what ``reachableReserve(_:)`` says. The file's
  /// size stays as it is. Asks the system only when the file has grown.
  ///
  /// - Parameters:
  ///   - end: Where the file ends once what is under way is committed, as far as that is known.
  ///   - transaction: One that the caller is inside of.
  /// - Returns: False where the disk has no room for it, or the file may not become so large; true
  ///   also where nobody can tell.
  /// - Throws: ``LMDBError`` where LMDB does not lend its file.
  public func keepReserve(
    _ byteCount: Int, behind end: Int = 0, in transaction: borrowing some Transaction & ~Copyable
  ) throws(LMDBError) -> Bool {
    try keepReserve(byteCount, between: reachedByteCount(in: transaction), and: end)
  }

  /// The same for one who is in no transaction.
  ///
  /// - Throws: ``LMDBError``, as ``beginRead()`` does.
  public func keepReserve(_ byteCount: Int) throws(LMDBError) -> Bool {
    try enter("keepReserve")
    defer { gate.leave() }
    return try keepReserve(byteCount, between: reachedByteCountInside, and: 0)
  }

  /// - Parameters:
  ///   - reached: Where the file ends as it was committed last.
  ///   - end: Behind which the disk is kept, if that is further.
  private func keepReserve(
    _ byteCount: Int, between reached: Int, and end: Int
  ) throws(LMDBError) -> Bool {
    guard byteCount > 0, !options.isReadOnly else { return true }
    let end = max(reached, end)
    let descriptor = try Calls.dataDescriptor(pointer.raw)
    return reservedEnd.withLock { reservedEnd in
      if end + byteCount / 2 <= reservedEnd { return true }
      let wanted = reachableReserve(byteCount)
      guard wanted > 0 else { return true }
      // Of what there is no room for, a part: with some pages something is deleted, and its pages are free then.
      var part = wanted
      while !(SafeFiles.mayGrow(to: end + part)
        && SafeFiles.allocate(descriptor, from: reached, byteCount: end - reached + part))
      {
        part /= 2
        if part < Self.smallestReserve { return false }
      }
      guard part == wanted else {
        reservedEnd = max(reservedEnd, end + part)
        return false
      }
      // Of a small disk what there is has to do.
      reservedEnd = end + max(wanted, byteCount / 2)
      return true
    }
  }

  /// Holds half of what ``reachableReserve(_:)`` says while a transaction commits that copies nobody knows how many
  /// pages: the commit fails where it does not leave so much of the disk.
  ///
  /// - Returns: What holds it until it is let go of; nil where the disk has no such room, or where no file can be made.
  package func holdReserve(_ byteCount: Int) -> HeldRoom? {
    guard let room = HeldRoom(in: folder), room.take(reachableReserve(byteCount) / 2) else {
      return nil
    }
    return room
  }

  private static var smallestReserve: Int { 32 << 10 }

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
