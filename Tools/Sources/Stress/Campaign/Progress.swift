import Foundation

/// Says how far a campaign is: a line that is written over on a terminal, and nothing elsewhere.
final class Progress: Sendable {
  private let isTerminal = isatty(STDERR_FILENO) == 1

  func report(_ text: @autoclosure () -> String) {
    guard isTerminal else { return }
    FileHandle.standardError.write(Data("\r\u{1B}[K\(text().prefix(100))".utf8))
  }

  func clear() {
    guard isTerminal else { return }
    FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
  }
}
