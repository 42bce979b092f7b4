@testable import LarderTesting

/// Lines that a test waits for.
final class Log: Sendable {
  private let tally = Tally<String>()

  var lines: [String] { tally.elements }
  func add(_ line: String) { tally.append(line) }
  func waitForLines(_ count: Int) async { await tally.wait(for: count) }

  func waitForLine(_ line: String) async {
    while !Task.isCancelled {
      let lines = lines
      if lines.contains(line) { return }
      await waitForLines(lines.count + 1)
    }
  }
}
