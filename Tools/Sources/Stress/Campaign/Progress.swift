import Foundation

/// Says how far a campaign is: a line that is written over on a terminal, and nothing elsewhere.
final class Progress: Sendable {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  func report(_ text: @autoclosure () -> String) {
    guard isTerminal else { return }
    FileHandle.standardError.write(Data("\r\u{1B}[K\(text().prefix(100))".utf8))
  }

  /// Leaves a line where somebody wants to know more: `STRESS_NOTES=1`.
  func note(_ text: @autoclosure () -> String) {
    guard getenv("STRESS_NOTES") != nil else { return }
    FileHandle.standardError.write(Data("  \(text())\n".utf8))
  }

  func clear() {
    guard isTerminal else { return }
    FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
  }
}
