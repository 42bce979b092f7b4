#if os(Linux)
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Locks of bytes of an open file, as `fcntl_locking(2)` has them: of the open file, not of the
  /// process, and gone when it is closed.
  enum FileRange {
    /// F_OFD_GETLK, F_OFD_SETLK and F_OFD_SETLKW, which are not imported.
    static let (ask, set, setAndWait): (Int32, Int32, Int32) = (36, 37, 38)

    /// What `fcntl` wants to know of one byte.
    static func lock(_ kind: Int32, at place: off_t) -> flock {
      var lock = flock()
      lock.l_type = Int16(kind)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = place
      lock.l_len = 1
      return lock
    }
  }
#endif
