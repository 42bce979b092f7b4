#if os(Linux)
  package import Foundation

  /// A thread as the kernel sees it.
  package struct ThreadProbe: Sendable {
    private let path: String

    /// The calling thread.
    package init() throws {
      path =
        try "/proc/" + FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
    }

    /// By which clock the kernel ends the thread's wait for a condition; waits until it does wait for
    /// one. Nil where it does not within two minutes.
    package func clockOfWait() -> clockid_t? {
      for _ in 0..<120_000 {
        // The number of the call, and what it was given: here a place in memory, what to do, and then
        // when to end.
        let text = (try? String(contentsOfFile: path + "/syscall", encoding: .utf8)) ?? ""
        let words = text.split(whereSeparator: \.isWhitespace)
        if words.count > 4, words[0] == Self.futex,
          let action = Int(words[2].dropFirst(2), radix: 16),
          action & 0x7F == Self.waitUntil, words[4] != "0x0"
        {
          return action & Self.byRealTime == 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME
        }
        usleep(1000)
      }
      return nil
    }

    #if arch(x86_64)
      private static let futex = "202"
    #else
      private static let futex = "98"
    #endif
    private static let (waitUntil, byRealTime) = (9, 0x100)

    /// How many threads this process has.
    package static func count() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
  }

  /// How many descriptors of this process are of the file.
  package func descriptorCount(of path: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      // The one that lists them is gone by the time it is asked about.
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)) == path
    }
  }
#endif
