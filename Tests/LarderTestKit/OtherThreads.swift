#if os(Linux)
  import Foundation

  /// The threads of this process but the one that asks.
  package enum OtherThreads {
    /// Waits until none of them runs, at most five minutes; to be called right before `fork`.
    ///
    /// A child inherits the locks that they hold, and nobody unlocks them there. Those of Swift's runtime,
    /// which are held while a type is used for the first time, no program can do without.
    package static func waitUntilQuiet() {
      var before: [String: Substring]?
      for _ in 0..<30_000 {
        let now = resting()
        if let now, now == before { return }
        before = now
        usleep(10_000)
      }
    }

    /// How long each has run so far, in nanoseconds; nil where one of them runs, or is about to.
    private static func resting() -> [String: Substring]? {
      let files = FileManager.default
      let tasks = "/proc/self/task"
      let own = try? files.destinationOfSymbolicLink(atPath: "/proc/thread-self")
      var times: [String: Substring] = [:]
      for thread in (try? files.contentsOfDirectory(atPath: tasks)) ?? []
      where own?.hasSuffix("/\(thread)") != true {
        guard words(of: "\(tasks)/\(thread)/stat").first == "S" else { return nil }
        times[thread] = words(of: "\(tasks)/\(thread)/schedstat").first
      }
      return times
    }

    /// The words of such a file behind the thread's name, which may have spaces and stands in brackets.
    private static func words(of path: String) -> [Substring] {
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      let start = text.lastIndex(of: ")").map { text.index(after: $0) } ?? text.startIndex
      return text[start...].split(separator: " ")
    }
  }
#endif
