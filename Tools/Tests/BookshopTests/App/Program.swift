import Foundation

@testable import Bookshop

/// The program beside the test bundle.
enum Program {
  struct Outcome {
    let status: Int32
    let events: [Event]
    let errors: String
  }

  struct Event: Decodable {
    var event: String
    var screen: ScreenState?
    var text: String?
  }

  static func executable() throws -> URL {
    let places =
      Bundle.allBundles.map(\.bundleURL) + CommandLine.arguments.map { URL(filePath: $0) }
      + [try URL(filePath: FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))]
    for place in places {
      for folder in [place, place.deletingLastPathComponent()] {
        let program = folder.appending(path: "bookshop")
        if FileManager.default.isExecutableFile(atPath: program.path(percentEncoded: false)) {
          return program
        }
      }
    }
    throw Refused()
  }

  /// Runs it to its end, without a screen.
  static func run(_ arguments: [String], _ lines: [String]) async throws -> Outcome {
    let (status, output, errors) = try await run(
      executable(), arguments + ["--control", "--code", "1234"],
      input: lines.map { $0 + "\n" }.joined())
    let events = try output.split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(Event.self, from: Data($0))
    }
    return Outcome(status: status, events: events, errors: errors)
  }

  /// Runs it to its end with nothing to read, and no terminal.
  static func plain(
    _ arguments: [String]
  ) async throws -> (status: Int32, output: String, errors: String) {
    let (status, output, errors) = try await run(executable(), arguments, input: "")
    return (status, String(decoding: output, as: UTF8.self), errors)
  }

  /// Runs it in a terminal of its own; "ok", or what was wrong.
  static func runInTerminal(
    _ story: String, store: String, books: String
  ) async throws -> String {
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "in-terminal").path(percentEncoded: false)
    let program = try executable().path(percentEncoded: false)
    let (_, output, errors) = try await run(
      URL(filePath: "/usr/bin/env"), ["python3", script, program, story, store, books], input: "")
    return String(decoding: output, as: UTF8.self) + errors
  }

  /// On a thread of its own: the app of the test goes on meanwhile.
  private static func run(
    _ program: URL, _ arguments: [String], input: String
  ) async throws -> (Int32, Data, String) {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try runNow(program, arguments, input: input) })
      }
    }
  }

  private static func runNow(
    _ program: URL, _ arguments: [String], input: String
  ) throws -> (Int32, Data, String) {
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
    process.standardInput = stdin
    process.standardOutput = stdout
    process.standardError = stderr
    signal(SIGPIPE, SIG_IGN)
    try process.run()
    // A program that has ended already does not read, and the test shows why.
    try? stdin.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try stdin.fileHandleForWriting.close()
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    let errors = try stderr.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, output, String(decoding: errors, as: UTF8.self))
  }
}
