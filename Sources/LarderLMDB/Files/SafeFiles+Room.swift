#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// What there is room for on a disk, and in a file.
extension SafeFiles {
  /// Bytes of the disk of a folder; nil where the system does not tell.
  static func totalByteCount(_ path: String) -> Int? {
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

  static var fileLimit: Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let status = getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
      let status = getrlimit(RLIMIT_FSIZE, &limit)
    #endif
    return status == 0 ? Int(clamping: limit.rlim_cur) : .max
  }

  #if canImport(Darwin)
    /// Takes disk for the first bytes of a file, and leaves its size.
    ///
    /// - Returns: 0, or the number of the error.
    static func preallocate(_ descriptor: Int32, upTo end: Int) -> Int32 {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { return errno }
      // What is allocated lies behind what the file has already.
      let missing = end - Int(status.st_blocks) * 512
      if missing <= 0 { return 0 }
      // Else it would be given back when the file is closed. Older headers do not have the name.
      let persists: UInt32 = 8  // F_ALLOCATEPERSIST
      for flags in [UInt32(F_ALLOCATEALL) | persists, UInt32(F_ALLOCATEALL)] {
        var request = fstore_t(
          fst_flags: flags, fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
          fst_length: off_t(missing), fst_bytesalloc: 0)
        if fcntl(descriptor, F_PREALLOCATE, &request) == 0 { return 0 }
        if errno == ENOSPC { break }
      }
      return errno
    }
  #endif

  /// Takes disk for a part of a file, which may lie behind its end, and leaves its size.
  ///
  /// - Returns: False only where the disk has no room.
  static func allocate(_ descriptor: Int32, from start: Int, byteCount: Int) -> Bool {
    #if canImport(Darwin)
      return preallocate(descriptor, upTo: start + byteCount) != ENOSPC
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
