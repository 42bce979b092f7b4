internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Control-C as a wish that the work looks at, instead of the end of the process.
enum Interruption {
  private static let wish = Atomic<Bool>(false)

  /// From now on the first interruption is noted; the second one ends the process.
  static func watch() {
    wish.store(false, ordering: .relaxed)  // Made here, before a signal's handler can need it.
    signal(SIGINT) { _ in
      Interruption.wish.store(true, ordering: .relaxed)
      signal(SIGINT, SIG_DFL)
    }
    // A parent may have blocked it: threads of its dispatch queues hand that down.
    var interruption = sigset_t()
    sigemptyset(&interruption)
    sigaddset(&interruption, SIGINT)
    pthread_sigmask(SIG_UNBLOCK, &interruption, nil)
  }

  static var isWished: Bool { wish.load(ordering: .relaxed) }

  /// For the closures that are told of progress: what they throw ends the work.
  ///
  /// - Throws: `CancellationError` once somebody wished it.
  static func check() throws {
    if isWished { throw CancellationError() }
  }
}
