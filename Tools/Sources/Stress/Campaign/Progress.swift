import Foundation
import Synchronization

/// Says how far a campaign is: a line that is written over on a terminal; elsewhere, as a log of hours should show
/// that it goes on, a line every five minutes.
final class Progress: Sendable {
  private let isTerminal = isatty(STDERR_FILENO) == 1
  private let lastLine = Mutex(ContinuousClock.now)

  private static let secondsPerLine = 300

  func report(_ text: @autoclosure () -> String) {
    if isTerminal {
      write("\r\u{1B}[K\(text().prefix(100))")
    } else if isLineDue {
      write("  \(text())\n")
    }
  }

  private var isLineDue: Bool {
    lastLine.withLock { last in
      let now = ContinuousClock.now
      guard now - last >= .seconds(Self.secondsPerLine) else { return false }
      last = now
      return true
    }
  }

  /// Leaves a line where somebody wants to know more: `STRESS_NOTES=1`.
  func note(_ text: @autoclosure () -> String) {
    guard getenv("STRESS_NOTES") != nil else { return }
    write("  \(text())\n")
  }

  func clear() {
    guard isTerminal else { return }
    write("\r\u{1B}[K")
  }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
