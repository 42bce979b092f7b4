import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Counts the forks that lead from the first process to this one: an environment opened under
/// another count belongs to an ancestor, and this process may not touch it.
enum Forks {
  static let count = Atomic<Int>(0)

  static var current: Int {
    @inline(__always) get { count.load(ordering: .relaxed) }
  }

  static var processID: Int32 { getpid() }

  /// Whether this process was forked and runs its parent's program still. Only the thread that forked
  /// is here, and what others were to do is not done: Dispatch may have no threads, and makes none.
  static var isChild: Bool { current > 0 || wasForked }

  /// Whether it was before anybody counted.
  private static let wasForked: Bool = {
    #if os(Linux)
      // `123 (a name) S`, and six numbers further what the kernel has marked the process with. The
      // name may have spaces and brackets of its own.
      let text = SystemCall.text(of: "/proc/self/stat")
      let words = text.split(separator: ")").last?.split(separator: " ") ?? []
      guard words.count > 6, let flags = UInt64(words[6]) else { return false }
      return flags & 0x40 != 0  // PF_FORKNOEXEC
    #else
      return false
    #endif
  }()

  /// Begins to count; once is enough, and more does nothing.
  static func watch() { _ = isWatching }

  private static let isWatching: Bool = {
    let status = pthread_atfork(
      {
        Forks.heldLocks.lock()
        for lock in Forks.heldLocks.value { lock.lock() }
        Forks.lockedFiles.lock()
      },
      {
        Forks.lockedFiles.unlock()
        for lock in Forks.heldLocks.value.reversed() { lock.unlock() }
        Forks.heldLocks.unlock()
      },
      {
        Forks.count.add(1, ordering: .relaxed)
        for descriptor in Forks.lockedFiles.value { Forks.leave(descriptor) }
        Forks.lockedFiles.unlock()
        for lock in Forks.heldLocks.value.reversed() { lock.unlock() }
        Forks.heldLocks.unlock()
      })
    precondition(status == 0, "pthread_atfork failed with \(status)")
    return true
  }()

  /// Locks that are held over every fork, or else the child might inherit them locked by a thread that it
  /// does not have. Nobody holds two of them at once.
  private static let heldLocks = Locked<[any HeldOverForks]>([])

  /// Has a lock that lasts as long as the process be held over every fork.
  static func hold(_ lock: some HeldOverForks) { heldLocks.withLock { $0.append(lock) } }
}

/// A lock, whatever it guards.
protocol HeldOverForks: Sendable {
  func lock()
  func unlock()
}

extension Locked: HeldOverForks {}

// MARK: - Files that are locked

// A lock of an open file (`flock`, or of a range by `F_OFD_SETLK`) belongs to everybody who has that
// opening of the file, a forked child among them. It would last until the child ends, too: where its
// parent is killed while it holds the lock, all other processes would wait for a child that knows
// nothing of it. So a child gives up its share at once.
extension Forks {
  /// The descriptors of files that this process locks, or may lock.
  private static let lockedFiles = Locked<Set<Int32>>([])

  /// Opens a file to lock it: children that are forked from now on have no share in it.
  ///
  /// - Parameter open: Returns the descriptor, or a negative number.
  static func openToLock(_ open: () -> Int32) -> Int32 {
    watch()
    return lockedFiles.withLock { descriptors in
      let descriptor = open()
      if descriptor >= 0 { descriptors.insert(descriptor) }
      return descriptor
    }
  }

  /// The same for a file that is open already, and not locked yet.
  static func willLock(_ descriptor: Int32) { _ = openToLock { descriptor } }

  /// Closes a file that was opened to lock it.
  static func close(locked descriptor: Int32) {
    lockedFiles.withLock { descriptors in
      descriptors.remove(descriptor)
      SystemCall.closeDescriptor(descriptor)
    }
  }

  /// Ends a child's share in an open file. The number stays taken, by a file that means nothing:
  /// whatever of the parent's is let go of in the child closes it as if it were its own.
  private static func leave(_ descriptor: Int32) {
    let nothing = SystemCall.open("/dev/null", O_RDWR | O_CLOEXEC)
    guard nothing >= 0 else { return SystemCall.closeDescriptor(descriptor) }
    guard nothing != descriptor else { return }
    dup2(nothing, descriptor)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    SystemCall.closeDescriptor(nothing)
  }
}
