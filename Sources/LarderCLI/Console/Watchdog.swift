internal import Dispatch
internal import LarderLMDB
internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Ends the process by the signal that it was sent, where the command does not end soon: it may wait for the other
/// end of a pipe, or for a process that is stopped. A store is whole wherever that happens.
///
/// A command that has seen the wish is on its way to its end, and gets five times as long.
enum Watchdog {
  /// The address of the path of a file that would be left behind; 0 where there is none. A signal's handler
  /// may not wait for a lock.
  private static let unfinishedFile = Atomic<UInt>(0)

  /// The pipe that wakes it, for a signal's handler may do little more than write; -1 where there is none.
  private static let pipeEnds: (output: Int32, input: Int32) = {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return (-1, -1) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }()

  /// Begins to wait for a signal.
  ///
  /// - Parameter isSeen: Whether the command knows of it.
  static func start(_ isSeen: @escaping @Sendable () -> Bool) {
    let output = pipeEnds.output
    // Made here, before a signal's handler can need it.
    _ = unfinishedFile.load(ordering: .relaxed)
    guard output >= 0 else { return }
    DispatchQueue(label: "larder.watchdog").async {
      var number: UInt8 = 0
      while read(output, &number, 1) < 0, errno == EINTR {}
      guard number > 0 else { return }
      wait()
      if isSeen() { for _ in 0..<4 { wait() } }
      end(by: Int32(number))
    }
  }

  /// Has a file deleted where the process ends, whether or not it is there by then.
  static func noteUnfinished(_ path: String) {
    // Stays for as long as the process does.
    unfinishedFile.store(UInt(bitPattern: strdup(path)), ordering: .releasing)
  }

  /// To be called by a signal's handler, once it was started.
  static func wake(_ number: Int32) {
    let code = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(pipeEnds.input, &byte, 1)
    errno = code
  }

  /// Two seconds. Tests of how a command ends by itself, on machines that are busy, allow it more.
  private static func wait() {
    let seconds = getenv("LARDER_PATIENCE").flatMap { UInt32(String(cString: $0)) } ?? 2
    SystemCall.sleep(microseconds: min(seconds, 600) * 1_000_000)
  }

  /// Ends the process by a signal. May be called by a signal's handler.
  static func end(by number: Int32) {
    if let file = UnsafePointer<CChar>(bitPattern: unfinishedFile.load(ordering: .acquiring)) {
      _ = unlink(file)
    }
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    signal(number, SIG_DFL)
    // Threads of Dispatch block signals, and so may all others.
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    kill(getpid(), number)
    _exit(128 + number)
  }
}
