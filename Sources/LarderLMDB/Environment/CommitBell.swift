#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Lets other processes hear of a commit: eight bytes of `larder.lock`, behind its notes, that are
/// written once others can see what was committed. Whoever wants to know looks out for writes to
/// that file.
///
/// It rings only where another process listens, which the kernel keeps for as long as that process
/// lives: a lock that many may share, of a byte behind the one of the ``WriteTurn``. A ring wakes
/// everybody who looks out, the process that rings as well, and that is told already.
///
/// Not the data file: LMDB writes its last page a moment before the commit can be seen, so that
/// whoever hears of that write may look too early, and hears no more.
final class CommitBell: Sendable {
  private static let place: off_t = 128
  /// Of the byte that those who listen share.
  private static let earsPlace: off_t = 1 << 20 | 1

  /// Nil once the environment is closed.
  private let descriptor: Locked<Int32?>
  private let forkCount = Forks.current

  /// Nil where the file cannot be opened; then others find out when they look by themselves.
  ///
  /// - Parameter isReadOnly: It is listened to only.
  init?(_ files: StoreFiles, isReadOnly: Bool) {
    guard let file = Self.open(files, isReadOnly: isReadOnly) else { return nil }
    descriptor = Locked(file)
  }

  private static func open(_ files: StoreFiles, isReadOnly: Bool) -> Int32? {
    let access = isReadOnly ? O_RDONLY : O_RDWR
    let file = Forks.openToLock {
      SystemCall.open(files.opening, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    }
    return file >= 0 ? file : nil
  }

  /// Takes a descriptor again, behind ``silence()``.
  func reopen(_ files: StoreFiles, isReadOnly: Bool) {
    descriptor.withLock { $0 = $0 ?? Self.open(files, isReadOnly: isReadOnly) }
  }

  // In a forked child another thread of its parent may have had the descriptor's lock for ever.
  deinit { if forkCount == Forks.current { silence() } }

  /// Gives the descriptor back: a store that is closed has none, however long it is held.
  func silence() {
    descriptor.withLock { descriptor in
      if let open = descriptor { Forks.close(locked: open) }
      descriptor = nil
    }
  }

  /// Lends the descriptor; nil once the environment is closed.
  func withDescriptor<Result>(_ body: (Int32) -> Result) -> Result? {
    descriptor.withLock { descriptor in descriptor.map { body($0) } }
  }

  /// Costs one system call, and one more where somebody listens. That it failed is nobody's error:
  /// what was committed stays so.
  func ring(_ transaction: Int) {
    var number = UInt64(transaction).littleEndian
    descriptor.withLock { descriptor in
      guard let descriptor, Self.isHeard(descriptor) else { return }
      pwrite(descriptor, &number, MemoryLayout<UInt64>.size, Self.place)
    }
  }

  /// Says whether this process listens. Whoever begins to has to look at the store behind it: a
  /// commit before it may not have rung.
  func listen(_ isListening: Bool) {
    #if os(Linux)
      descriptor.withLock { descriptor in
        guard let descriptor else { return }
        var lock = FileRange.lock(isListening ? F_RDLCK : F_UNLCK, at: Self.earsPlace)
        _ = fcntl(descriptor, FileRange.set, &lock)
      }
    #endif
  }

  /// Whether another process listens; true where that cannot be found out.
  private static func isHeard(_ descriptor: Int32) -> Bool {
    #if os(Linux)
      var lock = FileRange.lock(F_WRLCK, at: earsPlace)
      return fcntl(descriptor, FileRange.ask, &lock) == -1 || lock.l_type != Int16(F_UNLCK)
    #else
      return true
    #endif
  }
}
