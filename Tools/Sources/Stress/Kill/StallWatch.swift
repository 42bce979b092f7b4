import CStress
import Foundation

/// Looks at the processes of the campaign while one of its writers waits long: whether any of them had to wait for a
/// processor or for the disk. A writer waits for others, so that its own process says nothing of why.
// Guard: the lock.
final class StallWatch: @unchecked Sendable {
  private struct Wait {
    var lookCount = 0
    /// Looks at which some process had to wait for the machine.
    var busyCount = 0
  }

  private let lock = NSLock()
  /// By the start of the write.
  private var waits: [UInt64: Wait] = [:]
  private var isOver = false

  private static let lookMicroseconds: UInt32 = 100_000
  /// A write is looked at from then on.
  private static let longNanoseconds: UInt64 = 500_000_000

  init(_ journals: [KillJournal]) {
    Thread.detachNewThread { [weak self] in
      var last: Look?
      while let watch = self, !watch.lock.withLock({ watch.isOver }) {
        let starts = journals.compactMap(\.pendingStart).filter {
          stress_now() > $0 + Self.longNanoseconds
        }
        let look = starts.isEmpty ? nil : Look()
        if let last, let look { watch.note(starts, isBusy: look.isBusy(since: last)) }
        last = look
        usleep(Self.lookMicroseconds)
      }
    }
  }

  func end() { lock.withLock { isOver = true } }

  private func note(_ starts: [UInt64], isBusy: Bool) {
    lock.withLock {
      for start in starts {
        waits[start, default: Wait()].lookCount += 1
        if isBusy { waits[start, default: Wait()].busyCount += 1 }
      }
    }
  }

  /// What to report of a write that began then and took too long; nil if the machine was the cause.
  func fault(of start: UInt64) -> String? {
    let wait = lock.withLock { waits[start] } ?? Wait()
    // Who cannot look ten times a second has waited as well.
    guard wait.lookCount >= 5, wait.busyCount * 2 < wait.lookCount else { return nil }
    return
      "a process waited for a processor or the disk at \(wait.busyCount) of \(wait.lookCount) looks"
  }
}

/// The threads of this process's children, as the system lists them.
private struct Look {
  /// How long each had been ready to run and did not, in nanoseconds.
  private var delays: [String: UInt64] = [:]
  private var waitsForDisk = false
  private let time = stress_now()

  init() {
    let parent = Substring("\(getpid())")
    let files = FileManager.default
    let all = (try? files.contentsOfDirectory(atPath: "/proc")) ?? []
    for process in all where process.first?.isNumber == true && Self.words(process)?[1] == parent {
      let threads = (try? files.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
      for thread in threads {
        let folder = "\(process)/task/\(thread)"
        if Self.words(folder)?[0] == "D" { waitsForDisk = true }
        let schedule = try? String(contentsOfFile: "/proc/\(folder)/schedstat", encoding: .utf8)
        let words = schedule?.split(separator: " ") ?? []
        if words.count > 1 { delays[thread] = UInt64(words[1]) }
      }
    }
  }

  /// The state of a process or thread, its parent, and so on: what follows its name, which may have spaces.
  private static func words(_ folder: String) -> [Substring]? {
    guard let text = try? String(contentsOfFile: "/proc/\(folder)/stat", encoding: .utf8),
      let end = text.lastIndex(of: ")")
    else { return nil }
    let words = text[text.index(after: end)...].split(separator: " ")
    return words.count > 1 ? words : nil
  }

  /// Whether a thread had to wait for the machine for a good part of the time since.
  func isBusy(since last: Look) -> Bool {
    let passed = time - last.time
    // This process looks late itself.
    if waitsForDisk || passed > 400_000_000 { return true }
    return delays.contains { thread, delay in
      guard let before = last.delays[thread], delay > before else { return false }
      return delay - before > passed / 3
    }
  }
}
