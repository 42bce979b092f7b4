#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// `lock.mdb`, LMDB's table of readers, as a file that a full disk cannot take away.
///
/// LMDB gives the file its size by `ftruncate` and writes to it through a map. Where the disk has no
/// room for a page of a map, the system ends the process (SIGBUS). So the whole file is allocated
/// before LMDB opens it, and on a file system that copies what is overwritten (btrfs) it is marked to
/// be overwritten in place: a lack of room is then an error of the opening. What such a file system
/// needs besides is asked for by ``LockPages``.
struct LockTable {
  let files: StoreFiles

  /// Where LMDB 0.9 has what is in the file:
  ///
  /// ```
  /// 0 magic, 4    4 format, 4    8 the readers' mutex    last transaction, 8    readers, 4
  /// then, each at a multiple of 64: the writers' mutex; readers of 64 bytes: transaction, 8    process, 4
  /// ```
  /// Source: OpenLDAP's `mdb.c` of LMDB 0.9, "Reader Lock Table".
  enum Place {
    static let lineByteCount = 64
    static let readerCount = padded(8 + mutexByteCount, to: 8) + 8
    /// A robust mutex, whose first word is the number of the thread that has it.
    static let writers = padded(readerCount + 8, to: lineByteCount)
    static let readers = writers + padded(mutexByteCount, to: lineByteCount)

    #if canImport(Darwin)
      private static let mutexByteCount = 32  // The name of a semaphore.
    #else
      private static let mutexByteCount = MemoryLayout<pthread_mutex_t>.size
    #endif

    private static func padded(_ byteCount: Int, to unit: Int) -> Int {
      (byteCount + unit - 1) / unit * unit
    }
  }

  /// Bytes that LMDB gives the file for so many reader slots. A larger file has more slots, a
  /// smaller one is extended, so that it has to be this number exactly.
  static func byteCount(maximumReaderCount: Int) -> Int {
    Place.readers + maximumReaderCount * Place.lineByteCount
  }

  /// Makes the file, or completes the one that is there.
  ///
  /// Nothing in it outlives the last process that has the store open, so that one which nobody uses
  /// is made anew where it cannot be completed. Of one in use only the holes are filled, which
  /// changes no byte of it.
  ///
  /// - Parameters:
  ///   - isAlone: Whether no process has the store open, which the caller keeps as it is.
  /// - Throws: ``LMDBError``, with `ENOSPC` where the disk has no room for it. A file that is in use
  ///   is as it was then.
  func prepare(maximumReaderCount: Int, isAlone: Bool, isReadOnly: Bool) throws(LMDBError) {
    #if LARDER_MUTANTS
      if Mutant.sparseLock.isOn { return try SafeFiles.ensureFile(files.lock) }
    #endif
    let wanted = Self.byteCount(maximumReaderCount: maximumReaderCount)
    guard try SafeFiles.identity(files.lock) != nil else { return try make(wanted) }
    let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
    let descriptor = SystemCall.open(files.lock, flags)
    guard descriptor >= 0 else {
      throw SystemCall.failure("open", path: files.lock)
    }
    let isWhole: Bool
    do throws(LMDBError) {
      isWhole = try complete(descriptor, wanted, isAlone: isAlone, isReadOnly: isReadOnly)
    } catch {
      SystemCall.closeDescriptor(descriptor)
      throw error
    }
    // This lets go of the locks that the process has on the file: none, where nobody here uses it.
    SystemCall.closeDescriptor(descriptor)
    if isWhole { return }
    // Not cut off: a stranger that maps it all the same would be ended by that.
    try SafeFiles.remove(files.lock)
    try make(wanted)
  }

  /// - Returns: False where the file must be made anew.
  private func complete(
    _ descriptor: Int32, _ wanted: Int, isAlone: Bool, isReadOnly: Bool
  ) throws(LMDBError) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw SystemCall.failure("fstat", path: files.lock)
    }
    try SafeFiles.checkFile(status, files.lock, isReadOnly: isReadOnly)
    let isOurs = try SafeFiles.isOurs(files.folder)
    let mayReplace = isAlone && isOurs
    if mayReplace, status.st_size > wanted || !SafeFiles.overwriteInPlace(descriptor) {
      return false
    }
    // LMDB takes the number of slots from the size, which must stay as others have mapped it.
    let byteCount = mayReplace ? wanted : Int(status.st_size)
    if byteCount > 0 {
      try fill(descriptor, byteCount, isAlone: mayReplace)
      try LockPages.check(descriptor, byteCount: byteCount, files.lock)
    }
    return true
  }

  /// Made by us rather than by LMDB also so that the umask cannot take our own rights away.
  private func make(_ byteCount: Int) throws(LMDBError) {
    let descriptor = try SafeFiles.createFile(files.lock)
    defer { SystemCall.closeDescriptor(descriptor) }
    _ = SafeFiles.overwriteInPlace(descriptor)
    do throws(LMDBError) {
      try fill(descriptor, byteCount, isAlone: true)
      try LockPages.check(descriptor, byteCount: byteCount, files.lock)
    } catch {
      unlink(files.lock)  // The first failure is the one to report; the next opening completes it.
      throw error
    }
  }

  /// Gives every page of the first `byteCount` bytes a place on the disk.
  private func fill(_ descriptor: Int32, _ byteCount: Int, isAlone: Bool) throws(LMDBError) {
    guard SafeFiles.mayGrow(to: byteCount) else {
      throw SystemCall.failure(EFBIG, "fallocate", path: files.lock)
    }
    let status = SafeFiles.fill(descriptor, byteCount: byteCount)
    if status == 0 { return }
    // Two numbers on Apple's systems.
    guard [EOPNOTSUPP, ENOTSUP, ENOSYS, EINVAL].contains(status) else {
      throw SystemCall.failure(status, "fallocate", path: files.lock)
    }
    // A file system that cannot. What is written takes a place, too; but a process that uses the file
    // may write there at the same moment.
    guard isAlone else { return }
    let zeros = [UInt8](repeating: 0, count: byteCount)
    var done = 0
    while done < byteCount {
      let count = zeros[done...].withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(done))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemCall.failure("pwrite", path: files.lock) }
      done += count
    }
    // Some file systems find a place for it only now.
    try SafeFiles.flush(descriptor, files.lock)
  }
}

extension SafeFiles {
  /// Gives the holes of a file's first bytes a place on the disk, and makes the file so large.
  ///
  /// - Returns: Zero, or the number of the failure.
  static func fill(_ descriptor: Int32, byteCount: Int) -> Int32 {
    #if canImport(Darwin)
      let failure = preallocate(descriptor, upTo: byteCount)
      if failure != 0 { return failure }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return errno }
      if Int(status.st_size) >= byteCount { return 0 }
      return ftruncate(descriptor, off_t(byteCount)) == 0 ? 0 : errno
    #elseif os(Linux)
      // Not `posix_fallocate`, which writes where the file system cannot allocate, and so may
      // overwrite what another process has written meanwhile.
      typealias Call = @convention(c) (Int32, Int32, off_t, off_t) -> Int32
      guard let found = dlsym(nil, "fallocate") else { return ENOSYS }
      let call = unsafeBitCast(found, to: Call.self)
      while true {
        if call(descriptor, 0, 0, off_t(byteCount)) == 0 { return 0 }
        if errno != EINTR { return errno }
      }
    #else
      return ENOSYS
    #endif
  }

  /// Has a file overwritten in place on a file system that copies instead; where it never copies
  /// there is nothing to do. Only a file that is empty can still be changed.
  ///
  /// - Returns: False for a file that goes on being copied.
  static func overwriteInPlace(_ descriptor: Int32) -> Bool {
    #if os(Linux) && (arch(x86_64) || arch(arm64))
      let (ask, set, noCopy): (UInt, UInt, Int) = (0x8008_6601, 0x4008_6602, 0x80_0000)
      // FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_NOCOW_FL
      var flags = 0
      guard ioctl(descriptor, ask, &flags) == 0 else { return true }
      if flags & noCopy != 0 { return true }
      flags |= noCopy
      // A file system that never copies does not know the flag. One that does takes it without a
      // word also where it comes too late.
      guard ioctl(descriptor, set, &flags) == 0 else { return true }
      flags = 0
      return ioctl(descriptor, ask, &flags) == 0 && flags & noCopy != 0
    #else
      return true
    #endif
  }
}
