#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How a data file was left: a number of its inode, its size and its times, which is another one
/// after anybody has written to it, or has put another file in its place.
///
/// It tells nothing of a disk that gives back other bytes than it was given.
struct FileStamp: Equatable, Sendable {
  let number: UInt64

  init(number: UInt64) { self.number = number }

  /// Without the device, whose number may be another one after the system was started again.
  init(_ status: stat) {
    #if canImport(Darwin)
      let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
    #else
      let (modified, changed) = (status.st_mtim, status.st_ctim)
    #endif
    number = Self.mixed([
      UInt64(truncatingIfNeeded: status.st_ino), UInt64(truncatingIfNeeded: status.st_size),
      UInt64(truncatingIfNeeded: modified.tv_sec), UInt64(truncatingIfNeeded: modified.tv_nsec),
      UInt64(truncatingIfNeeded: changed.tv_sec), UInt64(truncatingIfNeeded: changed.tv_nsec),
    ])
  }

  /// FNV-1a, over words instead of bytes.
  static func mixed(_ words: [UInt64]) -> UInt64 {
    words.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ $1) &* 0x100_0000_01B3 }
  }

  /// Gives a file that was written to a time that no later write gives it.
  ///
  /// The system takes the times of writes from a clock that ticks a few hundred times in a second, so
  /// that a write just behind the last one would leave the stamp as it was. This time is of a finer
  /// clock.
  static func seal(_ path: String) {
    var now = timespec()
    var status = stat()
    guard clock_gettime(CLOCK_REALTIME, &now) == 0, lstat(path, &status) == 0 else { return }
    #if canImport(Darwin)
      let times = [status.st_atimespec, now]
    #else
      let times = [status.st_atim, now]
    #endif
    // Where the file system refuses, its own times must do.
    _ = utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW)
  }
}

extension FileIdentity {
  /// A number that two files rarely have both, to be noted.
  var number: UInt64 { FileStamp.mixed([device, inode]) }
}
