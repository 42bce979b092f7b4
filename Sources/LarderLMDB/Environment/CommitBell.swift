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

  private struct State {
    /// Nil once the environment is closed, and while it is suspended.
    var descriptor: Int32?
    /// The numbers that the kernel says this process holds, or is to say again once there is a descriptor.
    var held: Set<UInt64> = []
  }

  private let state: Locked<State>
  private let forkCount = Forks.current

  /// Nil where the file cannot be opened; then others find out when they look by themselves.
  ///
  /// - Parameter isReadOnly: It is listened to only.
  init?(_ files: StoreFiles, isReadOnly: Bool) {
    guard let file = Self.open(files, isReadOnly: isReadOnly) else { return nil }
    state = Locked(State(descriptor: file))
  }

  private static func open(_ files: StoreFiles, isReadOnly: Bool) -> Int32? {
    let access = isReadOnly ? O_RDONLY : O_RDWR
    let file = Forks.openToLock {
      SystemCall.open(files.opening, access | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    }
    return file >= 0 ? file : nil
  }

  /// Takes a descriptor again, behind ``silence()``, and holds the numbers that were held, as far as the
  /// kernel can.
  func reopen(_ files: StoreFiles, isReadOnly: Bool) {
    state.withLock { state in
      guard state.descriptor == nil else { return }
      state.descriptor = Self.open(files, isReadOnly: isReadOnly)
      state.held = state.held.filter { number in
        state.descriptor.map { Self.hold(number, $0) } ?? false
      }
    }
  }

  // In a forked child another thread of its parent may have had the descriptor's lock for ever.
  deinit { if forkCount == Forks.current { silence() } }

  /// Gives the descriptor back, and every lock that was set through it: a store that is closed has none,
  /// however long it is held.
  func silence() {
    state.withLock { state in
      if let open = state.descriptor {
        // A child that was just spawned has a share in the locks, which closing alone would leave.
        #if os(Linux)
          var none = FileRange.lock(F_UNLCK, at: 0)
          none.l_len = 0  // To the end of all places.
          _ = fcntl(open, FileRange.set, &none)
        #endif
        Forks.close(locked: open)
      }
      state.descriptor = nil
    }
  }

  /// Lends the descriptor; nil where there is none.
  func withDescriptor<Result>(_ body: (Int32) -> Result) -> Result? {
    state.withLock { state in state.descriptor.map { body($0) } }
  }

  /// Costs one system call, and one more where somebody listens. That it failed is nobody's error:
  /// what was committed stays so.
  func ring(_ transaction: Int) {
    var number = UInt64(transaction).littleEndian
    _ = withDescriptor { descriptor in
      guard Self.isHeard(descriptor) else { return }
      pwrite(descriptor, &number, MemoryLayout<UInt64>.size, Self.place)
    }
  }

  /// Says whether this process listens. Whoever begins to has to look at the store behind it: a
  /// commit before it may not have rung.
  func listen(_ isListening: Bool) {
    #if os(Linux)
      _ = withDescriptor { descriptor in
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

// MARK: Numbers that are held

extension CommitBell {
  /// Has the kernel say that this process holds a number, until it is released, the descriptor is given
  /// back, or the process ends; false where the kernel cannot. Numbers are random: no two are the same.
  func hold(_ number: UInt64) -> Bool {
    state.withLock { state in
      guard let descriptor = state.descriptor, Self.hold(number, descriptor) else { return false }
      state.held.insert(number)
      return true
    }
  }

  /// Whether the kernel says so, or will again once there is a descriptor.
  func holds(_ number: UInt64) -> Bool { state.withLock { $0.held.contains(number) } }

  func release(_ number: UInt64) {
    state.withLock { state in
      guard state.held.remove(number) != nil, let descriptor = state.descriptor else { return }
      _ = Self.set(F_UNLCK, number, descriptor)
    }
  }
}
