import Dispatch
import Foundation
import Synchronization

/// How much more memory the process needs at its peak than when this was made.
///
/// Counts what is not a page of a file, so that the mapped store is left out, and looks every
/// millisecond. Zero where the system does not tell.
final class MemoryPeak: Sendable {
  private let start: Int
  private let peak: Atomic<Int>

  init() {
    start = Self.anonymousByteCount ?? 0
    peak = Atomic(start)
    lookAgain()
  }

  private func lookAgain() {
    DispatchQueue.global(qos: .userInteractive).asyncAfter(deadline: .now() + .milliseconds(1)) {
      [weak self] in
      self?.look()
      self?.lookAgain()
    }
  }

  var growth: Int {
    look()
    return peak.load(ordering: .relaxed) - start
  }

  private func look() {
    guard let now = Self.anonymousByteCount else { return }
    peak.max(now, ordering: .relaxed)
  }

  private static var anonymousByteCount: Int? {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes * 1024
  }
}
