import Foundation

// What a hand does in a forked child.

extension HandWorker {
  /// Runs `body` in a forked copy of this process, and gives what it gave.
  func forked(_ body: () throws -> [String]) throws -> [String] {
    typealias Fork = @convention(c) () -> pid_t
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, let symbol = dlsym(nil, "fork") else { throw UsageError("no fork") }
    OtherThreads.waitUntilQuiet()
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
      alarm(30)  // It has only one of the threads, and may wait for another one for ever.
      var answer: [String]
      do { answer = ["ok"] + (try body()) } catch {
        let words = ErrorWords(error)
        answer = ["error", words.kind, words.text]
      }
      let bytes = Array(answer.map { $0.asWord }.joined(separator: " ").utf8)
      write(ends[1], bytes, bytes.count)
      _exit(0)
    }
    close(ends[1])
    defer { close(ends[0]) }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = read(ends[0], &bytes, bytes.count)
    var status: Int32 = 0
    waitpid(child, &status, 0)
    let words = String(decoding: bytes[..<max(0, count)], as: UTF8.self).split(separator: " ")
      .map { String($0).fromWord }
    guard let first = words.first else {
      throw UsageError("the forked process ended with \(status)")
    }
    if first == "ok" { return Array(words.dropFirst()) }
    throw ErrorWords.Told(words: ErrorWords(kind: words[1], text: words[2]))
  }
}

/// The threads of this process but the main one.
private enum OtherThreads {
  /// Waits until none of them runs, at most ten seconds.
  ///
  /// A child of `fork` inherits the locks that they hold, and nobody unlocks them there. Those of Swift's
  /// runtime, which are held while a type is used for the first time, no program can do without.
  static func waitUntilQuiet() {
    var before: [String: Substring]?
    for _ in 0..<1000 {
      let now = resting()
      if let now, now == before { return }
      before = now
      usleep(10_000)
    }
  }

  /// How long each has run so far, in nanoseconds; nil where one of them runs, or is about to.
  private static func resting() -> [String: Substring]? {
    let tasks = "/proc/self/task"
    let own = "\(getpid())"  // Hands work on the main thread, whose number is the process's.
    var times: [String: Substring] = [:]
    for thread in (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    where thread != own {
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
