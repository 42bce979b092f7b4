#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The line of all processes that want to write, in front of LMDB's own lock: one byte of
/// `larder.lock` that the kernel gives to one of them at a time.
///
/// LMDB's lock on Linux is a robust mutex of the C library. When a process is killed that was just
/// woken to take it, and yet another one has taken it meanwhile, nobody wakes the others: they sleep
/// on although it is free, until somebody else has to wait for it, which may be never. Where all
/// stand in this line first, nobody sleeps there. It excludes nobody by itself: without it, as where
/// the file cannot be locked, writes are as safe and only may be forgotten.
final class WriteTurn: Sendable {
  #if os(Linux)
    /// Behind what the file holds. Of the open file, as `flock` is, which it does not meddle with.
    private static let place: off_t = 1 << 20

    private let descriptor: Int32
    /// Threads of this process that have it, or wait for it.
    private let count = Locked(0)
  #endif

  /// - Parameter descriptor: Of the file, open to write for as long as this is used.
  init(_ descriptor: Int32) {
    #if os(Linux)
      self.descriptor = descriptor
    #endif
  }

  /// Waits until no other process has it. Threads of one process do not wait for each other here.
  func take() {
    #if os(Linux)
      let isFirst = count.withLock { count in
        count += 1
        return count == 1
      }
      guard isFirst else { return }
      var lock = FileRange.lock(F_WRLCK, at: Self.place)
      while fcntl(descriptor, FileRange.setAndWait, &lock) == -1, errno == EINTR {}
    #endif
  }

  func giveBack() {
    #if os(Linux)
      count.withLock { count in
        count -= 1
        guard count == 0 else { return }
        var lock = FileRange.lock(F_UNLCK, at: Self.place)
        _ = fcntl(descriptor, FileRange.set, &lock)
      }
    #endif
  }
}
