internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Control-C, a terminal that is closed, and the request to terminate, as a wish that the work looks at, instead of
/// the end of the process. Those that the process was begun to ignore, as by `nohup`, stay ignored.
///
/// A command that waits for a pipe or for another process does not look: ``Watchdog`` ends that.
enum Interruption {
  private static let wish = Atomic<Bool>(false)
  private static let isSeen = Atomic<Bool>(false)

  /// From now on the first interruption is noted; the second one ends the process.
  static func watch() {
    // Made here, before a signal's handler can need them.
    wish.store(false, ordering: .relaxed)
    Watchdog.start { isSeen.load(ordering: .relaxed) }
    var interruptions = sigset_t()
    sigemptyset(&interruptions)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number) { number in
        if Interruption.wish.exchange(true, ordering: .relaxed) { return Watchdog.end(by: number) }
        Watchdog.wake(number)
      }
      if unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        signal(number, SIG_IGN)
      }
      sigaddset(&interruptions, number)
    }
    // A limit on the size of files is an error, and no reason to end.
    signal(SIGXFSZ, SIG_IGN)
    // A parent may have blocked them: threads of its dispatch queues hand that down.
    pthread_sigmask(SIG_UNBLOCK, &interruptions, nil)
  }

  static var isWished: Bool {
    guard wish.load(ordering: .relaxed) else { return false }
    isSeen.store(true, ordering: .relaxed)
    return true
  }

  /// For the closures that are told of progress: what they throw ends the work.
  ///
  /// - Throws: `CancellationError` once somebody wished it.
  static func check() throws {
    if isWished { throw CancellationError() }
  }
}
