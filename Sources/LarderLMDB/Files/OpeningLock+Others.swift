#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// Who else has the store open, and whether the files are still those that the lock was taken for.
extension OpeningLock {
  /// - Throws: ``LMDBError/Code/inUse`` where a process reads the store that LMDB's table of readers
  ///   does not name: a commit could overwrite what it reads.
  borrowing func refuseUnseenReaders(_ files: StoreFiles) throws(LMDBError) {
    guard OpenMark.isSet(.unseen, descriptor) else { return }
    throw LMDBError(
      .inUse, operation: "open", path: files.folder,
      detail: "a process reads the store that may not write to lock.mdb, where it would say so: one"
        + " of another user, or where the disk is read-only")
  }

  /// The file that is locked, whatever its path names by now.
  borrowing func identity() throws(LMDBError) -> FileIdentity {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemCall.failure("fstat", path: path) }
    return FileIdentity(status)
  }
}

/// The files of a folder, as they were when they were looked at; nil for those that were not there.
struct FilesInPlace {
  let opening: FileIdentity
  var data: FileIdentity?
  let table: FileIdentity?
}

extension StoreFiles {
  /// Makes sure that nobody has put another store here; asked before a file is replaced.
  ///
  /// - Throws: ``LMDBError/Code/lockFileReplaced``.
  func check(_ found: FilesInPlace) throws(LMDBError) {
    try check(opening, is: found.opening)
    try check(data, is: found.data)
    try check(lock, is: found.table)
  }

  func check(_ path: String, is identity: FileIdentity?) throws(LMDBError) {
    guard try SafeFiles.identity(path) == identity else { throw Self.replaced(path) }
  }

  static func replaced(_ path: String) -> LMDBError {
    LMDBError(
      .lockFileReplaced, operation: "open", path: path,
      detail: "the file was removed or replaced while the store is in use")
  }
}

extension SafeFiles {
  /// Puts a file in the place of another one in one step, or where there is none.
  ///
  /// Where the system can exchange two files, the old one is at `path` afterwards; else it is gone.
  ///
  /// - Parameter old: What is at `target`; nil for nothing.
  /// - Throws: ``LMDBError``, with code ``LMDBError/Code/lockFileReplaced`` where something else is
  ///   there. All files are as they were then.
  static func replace(
    _ target: String, by path: String, expecting old: FileIdentity?
  ) throws(LMDBError) {
    guard try identity(target) == old else { throw StoreFiles.replaced(target) }
    switch try old == nil ? renameToNothing(path, target) : swap(path, target) {
    case .done: break
    case .occupied: throw StoreFiles.replaced(target)
    case .unknown: return try move(path, to: target)
    }
    // Somebody may have been faster than the look above.
    if let old, try identity(path) != old {
      _ = try swap(path, target)
      throw StoreFiles.replaced(target)
    }
  }

  private enum Renaming { case done, occupied, unknown }

  private static func swap(_ path: String, _ target: String) throws(LMDBError) -> Renaming {
    try rename(path, target, 2)
  }

  private static func renameToNothing(
    _ path: String, _ target: String
  ) throws(LMDBError) -> Renaming {
    #if canImport(Darwin)
      try rename(path, target, 4)
    #else
      try rename(path, target, 1)
    #endif
  }

  /// - Parameter flags: RENAME_EXCHANGE and RENAME_NOREPLACE; on Apple RENAME_SWAP and RENAME_EXCL.
  private static func rename(
    _ path: String, _ target: String, _ flags: UInt32
  ) throws(LMDBError) -> Renaming {
    #if canImport(Darwin)
      if renamex_np(path, target, flags) == 0 { return .done }
    #elseif os(Linux)
      // Of the library that runs: Swift's module of it does not have the call.
      typealias Call =
        @convention(c) (
          Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32
      guard let found = dlsym(nil, "renameat2") else { return .unknown }
      let call = unsafeBitCast(found, to: Call.self)
      if call(AT_FDCWD, path, AT_FDCWD, target, flags) == 0 { return .done }
    #else
      return .unknown
    #endif
    switch errno {
    case EEXIST: return .occupied
    case EINVAL, ENOSYS, ENOTSUP: return .unknown
    default: throw SystemCall.failure("rename", path: target)
    }
  }
}
