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
  private let timer: any DispatchSourceTimer

  init() {
    start = Self.anonymousByteCount ?? 0
    peak = Atomic(start)
    timer = DispatchSource.makeTimerSource(queue: .global(qos: .userInteractive))
    timer.schedule(deadline: .now(), repeating: .milliseconds(1))
    timer.setEventHandler { [weak self] in self?.look() }
    timer.resume()
  }

  deinit { timer.cancel() }

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
