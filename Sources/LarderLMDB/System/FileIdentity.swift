internal import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What makes a file the same file under every name.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  init(_ status: stat) {
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }

  private init(none number: UInt64) {
    device = .max
    inode = number
  }

  /// An identity that no file has; another one each time.
  static func none() -> FileIdentity {
    FileIdentity(none: noneCount.add(1, ordering: .relaxed).newValue)
  }

  private static let noneCount = Atomic<UInt64>(0)
}

#if os(Linux)
  extension FileIdentity {
    enum Look {
      case found(FileIdentity)
      case absent
      /// The system cannot be asked in this way, or has another answer.
      case unknown
    }

    // Every write transaction looks at its files. `lstat` asks for their times too, and from Linux
    // 6.13 on a file whose time was asked for gets a finer one with the next write to it, which goes
    // into the file system's journal: the flush after that write then takes half as long again.

    /// Asks for the identity of what `path` names, and for nothing else.
    static func look(_ path: String) -> Look {
      guard let call else { return .unknown }
      // The fields of `struct statx`, which is the same on every architecture.
      let (byteCount, inodePlace, majorPlace, minorPlace) = (256, 32, 136, 140)
      let inodeOnly: UInt32 = 0x100  // STATX_INO
      return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { buffer in
        guard let start = buffer.baseAddress,
          call(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, inodeOnly, start) == 0
        else { return errno == ENOENT ? .absent : .unknown }
        return .found(
          FileIdentity(
            inode: buffer.load(fromByteOffset: inodePlace, as: UInt64.self),
            major: buffer.load(fromByteOffset: majorPlace, as: UInt32.self),
            minor: buffer.load(fromByteOffset: minorPlace, as: UInt32.self)))
      }
    }

    /// The device's number, as `stat` puts it together from its two halves.
    private init(inode: UInt64, major: UInt32, minor: UInt32) {
      let (major, minor) = (UInt64(major), UInt64(minor))
      device =
        (major & 0xFFFF_F000) << 32 | (major & 0xFFF) << 8 | (minor & 0xFFFF_FF00) << 12
        | minor & 0xFF
      self.inode = inode
    }

    private typealias Call =
      @convention(c) (
        Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer
      ) -> Int32

    /// Of the library that runs: Swift's module of it does not have the call.
    private static let call = dlsym(nil, "statx").map { unsafeBitCast($0, to: Call.self) }
  }
#endif
