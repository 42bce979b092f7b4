import Foundation
import LarderTestKit

#if canImport(Glibc)
  import Glibc
#endif

/// A forked copy of this process, which tells its parent one number and then waits to be killed.
///
/// A child has only one of its parent's threads, and inherits the locks that the others held:
/// with other tests running, the Swift runtime's own among them. So a test that makes one runs in
/// a process of its own, as an exit test, and waits there until its other threads rest.
final class Child {
  let id: Int32
  private let pipe: Int32

  struct Failed: Error {}

  /// Runs `body` in the child. The number that it returns is the child's report.
  init(_ body: () throws -> UInt8) throws {
    typealias Fork = @convention(c) () -> Int32
    var ends: [Int32] = [0, 0]
    guard Glibc.pipe(&ends) == 0, let symbol = dlsym(nil, "fork") else { throw Failed() }
    OtherThreads.waitUntilQuiet()
    let child = unsafeBitCast(symbol, to: Fork.self)()
    guard child >= 0 else { throw Failed() }
    if child == 0 {
      var report: UInt8
      do { report = try body() } catch { report = 255 }
      write(ends[1], &report, 1)
      while true { pause() }
    }
    close(ends[1])
    id = child
    pipe = ends[0]
  }

  deinit { kill() }

  /// Waits for the report; nil when the child died or said nothing for ten minutes.
  func report() -> UInt8? {
    var wait = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
    var report: UInt8 = 0
    guard poll(&wait, 1, 600_000) == 1, read(pipe, &report, 1) == 1 else { return nil }
    return report
  }

  /// Waits until the child has died by itself. Its report would not come to an end before that of its
  /// own children.
  func waitUntilDead() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
  }

  private var isKilled = false

  func kill() {
    guard !isKilled else { return }
    isKilled = true
    Glibc.kill(id, SIGKILL)
    waitpid(id, nil, 0)
    close(pipe)
  }

  /// Runs `body` in a child, and ends the child.
  static func report(_ body: () throws -> UInt8) throws -> UInt8? {
    try Child(body).report()
  }
}
