import Foundation

/// The reference server with two HTTP processes over one PostgreSQL, each of which can be killed.
///
/// `Tools/server trial` starts it, and ends it with this process.
final class SyncServer {
  let urls: [URL]
  private let process: ChildProcess
  /// Whether an answer is still to come.
  private var isBusy = false

  /// The one that all trials of a run share; each seed has a scope of its own.
  nonisolated(unsafe) static var shared: SyncServer?  // Used by the main thread alone.

  init() throws {
    let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../server").standardized
    process = try ChildProcess([program.path, "trial"])
    // It may have to be installed first.
    while let line = process.line(timeoutSeconds: 900) {
      guard line.hasPrefix("urls ") else { continue }
      urls = line.split(separator: " ").dropFirst().compactMap { URL(string: String($0)) }
      return
    }
    throw ChildProcess.Failed(
      description: "Tools/server trial does not start here; it says why above")
  }

  /// A token for a scope that nobody has used.
  func token(scope: String) throws -> String {
    try finish()
    return try ask("token \(scope)")
  }

  /// Has something done, and goes on meanwhile.
  func begin(_ command: String) throws {
    try finish()
    process.say(command)
    isBusy = true
  }

  /// Waits for the end of what was begun.
  func finish() throws {
    guard isBusy else { return }
    isBusy = false
    _ = try answer()
  }

  private func ask(_ command: String) throws -> String {
    process.say(command)
    return try answer()
  }

  private func answer() throws -> String {
    guard let line = process.line(timeoutSeconds: 300) else {
      throw ChildProcess.Failed(description: "Tools/server trial has ended, or does not answer")
    }
    guard !line.hasPrefix("error") else {
      throw ChildProcess.Failed(description: "Tools/server trial: \(line)")
    }
    return line
  }

  func end() {
    process.closeInput()
    _ = process.end(timeoutSeconds: 60)
  }
}
