#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

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

extension SafeFiles {
  /// Bytes of the disk of a folder; nil where the system does not tell.
  fileprivate static func totalByteCount(_ path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return Int(
      clamping: UInt64(status.f_blocks).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        .partialValue)
  }

  /// Whether the system lets a file of this process become so large; it ends processes that try.
  static func mayGrow(to byteCount: Int) -> Bool { byteCount <= fileLimit }

  /// Whether so many bytes may be written where a file stands now, likewise.
  static func mayWrite(_ byteCount: Int, to descriptor: Int32) -> Bool {
    let place = lseek(descriptor, 0, SEEK_CUR)
    // A pipe has no place, and no limit.
    return place < 0 || mayGrow(to: Int(place) + byteCount)
  }

  fileprivate static var fileLimit: Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let status = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let status = getrlimit(RLIMIT_FSIZE, &limit)
    #endif
    return status == 0 ? Int(clamping: limit.rlim_cur) : .max
  }

  /// Takes disk for a part of a file, which may lie behind its end, and leaves its size.
  ///
  /// - Returns: False only where the disk has no room.
  fileprivate static func allocate(_ descriptor: Int32, from start: Int, byteCount: Int) -> Bool {
    #if canImport(Darwin)
      var request = fstore_t(
        fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
        fst_length: off_t(byteCount), fst_bytesalloc: 0)
      return fcntl(descriptor, F_PREALLOCATE, &request) == 0 || errno != ENOSPC
    #elseif os(Linux)
      // Of the library that runs: Swift's module of it does not have the call.
      typealias Call = @convention(c) (Int32, Int32, off_t, off_t) -> Int32
      let keepSize: Int32 = 1  // FALLOC_FL_KEEP_SIZE
      guard let found = dlsym(nil, "fallocate") else { return true }
      let status = unsafeBitCast(found, to: Call.self)(
        descriptor, keepSize, off_t(start), off_t(byteCount))
      return status == 0 || (errno != ENOSPC && errno != EDQUOT)
    #else
      return true
    #endif
  }
}
