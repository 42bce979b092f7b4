internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Control-C, and the request to terminate, as a wish that the work looks at, instead of the end of the process.
enum Interruption {
  private static let wish = Atomic<Bool>(false)

  /// From now on the first interruption is noted; the second one ends the process.
  static func watch() {
    wish.store(false, ordering: .relaxed)  // Made here, before a signal's handler can need it.
    var interruptions = sigset_t()
    sigemptyset(&interruptions)
    for number in [SIGINT, SIGTERM] {
      signal(number) { number in
        Interruption.wish.store(true, ordering: .relaxed)
        signal(number, SIG_DFL)
      }
      sigaddset(&interruptions, number)
    }
    // A parent may have blocked them: threads of its dispatch queues hand that down.
    pthread_sigmask(SIG_UNBLOCK, &interruptions, nil)
  }

  static var isWished: Bool { wish.load(ordering: .relaxed) }

  /// For the closures that are told of progress: what they throw ends the work.
  ///
  /// - Throws: `CancellationError` once somebody wished it.
  static func check() throws {
    if isWished { throw CancellationError() }
  }
}
