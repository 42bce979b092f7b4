#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The line of all processes that want to write, in front of LMDB's own lock: one byte of
/// `larder.lock` that the kernel gives to one of them at a time, in the order in which they asked.
///
/// LMDB's lock on Linux is a robust mutex of the C library. When a process is killed that was just
/// woken to take it, and yet another one has taken it meanwhile, nobody wakes the others: they sleep
/// on although it is free, until somebody else has to wait for it, which may be never. Where all
/// stand in this line first, nobody sleeps there, and whoever waits here can give up. It excludes
/// nobody by itself: without it, as where the file cannot be locked, writes are as safe and only may
/// be forgotten.
///
/// It is tried at first. Where another process has it, a thread of its own stands in the kernel's line
/// for this process, which one can only leave by getting to its end: trying again and again instead
/// would lose against a process that writes one commit after the other. A writer who gives up leaves
/// that thread behind. It gives the turn back when it comes and nobody wants it, and serves whoever
/// asks before that, also whoever opens the store again meanwhile: there is never more than one for a
/// file.
// Guard: `state` is touched only while `condition` is locked.
final class WriteTurn: @unchecked Sendable {
  enum Outcome { case taken, timedOut, unwanted }

  private struct State {
    /// Threads of this process that have it. They do not wait for each other here.
    var count = 0
    var isHeld = false
    /// Threads that wait for it.
    var waiterCount = 0
    /// Whether a thread stands in the kernel's line.
    var isAsking = false
    var isClosed = false
  }

  /// How often those who wait look whether they still have to.
  private static let lookSeconds = 0.05

  private let descriptor: Int32
  private let forkCount = Forks.current
  private var state = State()
  private let condition = Condition()
  /// Of the file; nil where there is none.
  private let identity: FileIdentity?

  /// Those that were closed while a thread of theirs stood in the kernel's line, by their files. Locked
  /// before any `condition`.
  static let left = {
    let left = Locked<[FileIdentity: WriteTurn]>([:])
    Forks.hold(left)
    return left
  }()

  /// The turn at a file, with the thread that stands in the line for it where one was left behind.
  ///
  /// - Parameter path: Of `larder.lock`. A file that cannot be opened makes nobody wait.
  static func open(_ path: String) -> WriteTurn {
    left.withLock { left in
      guard let identity = try? SafeFiles.identity(path), let turn = left[identity], turn.reopen()
      else { return WriteTurn(path) }
      left[identity] = nil
      return turn
    }
  }

  private init(_ path: String) {
    #if os(Linux)
      // An opening of its own: it may outlive the store by as long as another process writes, and
      // nothing else that is locked through it should.
      descriptor = Forks.openToLock {
        SystemCall.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      }
    #else
      descriptor = -1
    #endif
    var status = stat()
    identity = descriptor >= 0 && fstat(descriptor, &status) == 0 ? FileIdentity(status) : nil
  }

  deinit {
    // A thread that asks holds this object. That of a forked child's parent is not the child's.
    guard forkCount == Forks.current else { return }
    if !state.isClosed, descriptor >= 0 { Forks.close(locked: descriptor) }
  }

  /// Waits until no other process has it; ``giveBack()`` must follow where it is taken.
  ///
  /// - Parameters:
  ///   - isFree: Whether LMDB's own lock is free, asked every ``WriteWait/checkSeconds``. Where it is
  ///     twice in a row, whoever has the turn has died and left it to a process that does not know of
  ///     it, and it is passed by.
  ///   - tellsOfLong: Called once when the wait has become long.
  func take(
    _ wait: WriteWait, isFree: () -> Bool, isWanted: () -> Bool, tellsOfLong: () -> Void
  ) -> Outcome {
    guard descriptor >= 0 else { return .taken }
    condition.lock()
    defer { condition.unlock() }
    if state.isClosed { return .unwanted }
    if state.isHeld || state.count > 0 || (!state.isAsking && lockAtOnce()) {
      state.count += 1
      return .taken
    }
    let start = SystemCall.seconds
    let deadline = wait.deadline ?? wait.timeoutSeconds.map { start + $0 }
    var (nextCheck, freeCount, isTold) = (start + wait.checkSeconds, 0, false)
    state.waiterCount += 1
    defer { endWaiting() }
    while true {
      // The one who stood in the line may have given the turn back as nobody waited.
      if !state.isAsking, !state.isHeld, !state.isClosed { ask() }
      condition.wait(atMost: Self.lookSeconds)
      if state.isHeld || state.count > 0 {
        state.count += 1
        return .taken
      }
      let now = SystemCall.seconds
      if let deadline, now >= deadline { return .timedOut }
      let isLong = !isTold && now >= start + WriteWait.longSeconds
      let isDue = now >= nextCheck
      // What is asked may take locks of its own.
      condition.unlock()
      let isStillWanted = isWanted()
      if isDue { freeCount = isFree() ? freeCount + 1 : 0 }
      if isLong { tellsOfLong() }
      condition.lock()
      if isLong { isTold = true }
      if isDue { nextCheck = now + wait.checkSeconds }
      if !isStillWanted || state.isClosed { return .unwanted }
      if freeCount >= 2 {
        state.count += 1
        return .taken
      }
    }
  }

  /// Whether a thread of this process waits for it.
  var isAwaited: Bool {
    condition.withLock { state.waiterCount > 0 }
  }

  func giveBack() {
    guard descriptor >= 0 else { return }
    condition.withLock {
      state.count -= 1
      releaseIfUnused()
    }
  }

  /// Gives the file back, at once or when the kernel's line is left.
  func close() {
    guard descriptor >= 0 else { return }
    Self.left.withLock { left in
      condition.withLock {
        guard !state.isClosed else { return }
        state.isClosed = true
        if !state.isAsking { return Forks.close(locked: descriptor) }
        if let identity { left[identity] = self }
      }
    }
  }

  /// Goes on with the thread that stands in the line; false where it is not this process's.
  private func reopen() -> Bool {
    guard forkCount == Forks.current else { return false }
    return condition.withLock {
      guard state.isClosed, state.isAsking else { return false }
      state.isClosed = false
      return true
    }
  }

  private func endWaiting() {
    state.waiterCount -= 1
    releaseIfUnused()
  }

  private func releaseIfUnused() {
    guard state.isHeld, state.count == 0, state.waiterCount == 0 else { return }
    state.isHeld = false
    if !state.isClosed { unlock() }
  }

  // MARK: The kernel's line

  #if os(Linux)
    /// Behind what the file holds. Of the open file, as `flock` is, which it does not meddle with.
    private static let place: off_t = 1 << 20

    private func lockAtOnce() -> Bool {
      var lock = FileRange.lock(F_WRLCK, at: Self.place)
      let status = fcntl(descriptor, FileRange.set, &lock)
      // A file system that knows no such locks makes nobody wait.
      state.isHeld = status == 0 || (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return state.isHeld
    }

    /// Whether the kernel says that this process has it; not where it is passed by.
    var isConfirmed: Bool {
      condition.lock()
      defer { condition.unlock() }
      // It is asked for what it has given already.
      var lock = FileRange.lock(F_WRLCK, at: Self.place)
      return state.isHeld && fcntl(descriptor, FileRange.set, &lock) == 0
    }

    private func unlock() {
      var lock = FileRange.lock(F_UNLCK, at: Self.place)
      _ = fcntl(descriptor, FileRange.set, &lock)
    }

    private func ask() {
      state.isAsking = true
      let isStarted = OwnThread.start { [self] in
        var lock = FileRange.lock(F_WRLCK, at: Self.place)
        while fcntl(descriptor, FileRange.setAndWait, &lock) == -1, errno == EINTR {}
        Self.left.withLock { left in condition.withLock { didAsk(&left) } }
      }
      // Without a thread those who wait try for themselves, each time that they look.
      if !isStarted {
        state.isAsking = false
        _ = lockAtOnce()
      }
    }

    private func didAsk(_ left: inout [FileIdentity: WriteTurn]) {
      state.isAsking = false
      if state.isClosed {
        if let identity, left[identity] === self { left[identity] = nil }
        return Forks.close(locked: descriptor)
      }
      state.isHeld = true
      releaseIfUnused()
      condition.broadcast()
    }
  #else
    var isConfirmed: Bool { false }
    private func lockAtOnce() -> Bool { true }
    private func unlock() {}
    private func ask() {}
  #endif
}
