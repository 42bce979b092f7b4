#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// LMDB's map of `lock.mdb`, where the file system copies what is overwritten (btrfs, bcachefs).
///
/// Such a file system needs room for its own notes whenever a page of a map is written to for the
/// first time since it was on the disk, even if the page itself has its place. Without that room the
/// system ends the process (SIGBUS). So the pages are made ready before LMDB writes to them, and a
/// lack of room is an error. A read that ends without room keeps its slot until there is some.
///
/// This takes one or two microseconds at both ends of each transaction. What is left is a page that goes
/// to the disk in between: btrfs writes all pages to it when it looks for room, also for another process.
struct LockPages: Sendable {
  private let start: Int
  private let byteCount: Int

  /// - Returns: Nil where the pages are always ready, and where the map cannot be found.
  init?(_ path: String, _ identity: FileIdentity?) {
    #if os(Linux)
      guard let identity, Self.areCopied(path), let map = Self.map(of: identity) else { return nil }
      start = map.lowerBound
      byteCount = map.count
    #else
      return nil
    #endif
  }

  /// False where the file system has no room to write to them.
  func makeReady() -> Bool {
    guard let start = UnsafeMutableRawPointer(bitPattern: start) else { return true }
    return Self.makeReady(start, byteCount)
  }

  /// Asks whether LMDB could write to a file that it is about to map.
  ///
  /// - Throws: ``LMDBError``, with `ENOSPC`.
  static func check(_ descriptor: Int32, byteCount: Int, _ path: String) throws(LMDBError) {
    #if os(Linux)
      guard areCopied(path) else { return }
      // The first map leaves pages that are to be written to the disk. Only the second one says
      // whether yet another map, LMDB's, finds room.
      for _ in 0..<2 {
        guard
          let map = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
          map != MAP_FAILED
        else { throw SystemCall.failure("mmap", path: path) }
        let isReady = makeReady(map, byteCount)
        munmap(map, byteCount)
        guard isReady else { throw noRoom(path) }
      }
    #endif
  }

  static func noRoom(_ path: String) -> LMDBError {
    SystemCall.failure(SystemCall.noSpace, "madvise", path: path)
  }

  private static func makeReady(_ start: UnsafeMutableRawPointer, _ byteCount: Int) -> Bool {
    #if os(Linux)
      let populateForWriting: Int32 = 23  // MADV_POPULATE_WRITE, since Linux 5.14.
      // `EFAULT` where a write would end the process; a system that does not know the request says
      // something else.
      return madvise(start, byteCount, populateForWriting) == 0 || errno != EFAULT
    #else
      return true
    #endif
  }

  #if os(Linux)
    private static func areCopied(_ path: String) -> Bool {
      // Of the library that runs: Swift's module of it does not have the call. The kind of the file
      // system is the first word of what it says, on every architecture.
      typealias Call = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer) -> Int32
      guard let found = dlsym(nil, "statfs") else { return false }
      let call = unsafeBitCast(found, to: Call.self)
      return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { buffer in
        guard let start = buffer.baseAddress, call(path, start) == 0 else { return false }
        let kind = UInt32(truncatingIfNeeded: buffer.load(as: UInt.self))
        // BTRFS_SUPER_MAGIC, BCACHEFS_SUPER_MAGIC
        return kind == 0x9123_683E || kind == 0xCA45_1A4E
      }
    }

    /// Where this process has mapped the file to write to it, by the system's own list: LMDB does not
    /// tell. That list knows the device of a file by another number than `stat`.
    private static func map(of identity: FileIdentity) -> Range<Int>? {
      for line in SystemCall.text(of: "/proc/self/maps").split(separator: "\n") {
        // `7f0a4000-7f0a6000 rw-s 00000000 00:2a 257  /path/lock.mdb`
        let words = line.split(separator: " ", maxSplits: 5)
        guard words.count == 6, words[1] == "rw-s", words[4] == "\(identity.inode)",
          words[5].hasSuffix("/lock.mdb")
        else { continue }
        let bounds = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
        if bounds.count == 2, bounds[0] < bounds[1] { return bounds[0]..<bounds[1] }
      }
      return nil
    }
  #endif
}
