import Foundation
import Larder
import LarderTestKit
import Testing

/// The built `larder`, run as a person would.
struct LarderProgram {
  /// A folder of its own, with a space and Unicode in its path.
  let folder: URL
  /// Where that is; removed with this.
  private let place = TestFolder()
  var store: String { folder.appending(path: "the store").path(percentEncoded: false) }

  init() throws {
    folder = place.url.appending(path: "larder cli – ø", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  struct Outcome {
    let status: Int32
    let output: String
    let errors: String
  }

  /// Runs it to its end.
  func run(
    _ arguments: String..., input: String = "", environment: [String: String] = [:]
  ) throws -> Outcome {
    let process = try start(arguments, environment: environment)
    // What the program does not read breaks the pipe, and the test shows why.
    try? process.input.write(contentsOf: Data(input.utf8))
    try process.input.close()
    return try process.wait()
  }

  /// Runs it with `--store`.
  func runOnStore(_ arguments: String..., input: String = "") throws -> Outcome {
    try runOnStore(arguments, input: input)
  }

  func runOnStore(_ arguments: [String], input: String = "") throws -> Outcome {
    let process = try start(arguments + ["--store", store])
    try? process.input.write(contentsOf: Data(input.utf8))
    try process.input.close()
    return try process.wait()
  }

  /// What a script of the shell writes to standard error; `$0` is the program, `$1` the store.
  func errors(ofScript script: String) throws -> String {
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/bash")
    shell.arguments = [
      "-c", script, try Self.executable(), store,
    ]
    let errors = Pipe()
    shell.standardError = errors
    try shell.run()
    shell.waitUntilExit()
    return String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
  }

  /// Runs it with a standard output that nobody reads any more.
  func runUnread(_ arguments: String...) throws -> Outcome {
    let pipe = Pipe()
    try pipe.fileHandleForReading.close()
    let process = try start(arguments, output: pipe.fileHandleForWriting)
    try process.input.close()
    return try process.wait()
  }

  /// - Parameter output: Where results go; nil for what ``Running/wait()`` returns.
  func start(
    _ arguments: [String], environment: [String: String] = [:], output: FileHandle? = nil
  ) throws -> Running {
    signal(SIGPIPE, SIG_IGN)
    return try Running(arguments, environment, output)
  }

  /// An import from a pipe that gets an interrupt once it has all bytes, and has saved nothing.
  ///
  /// - Parameter name: Of the pipe.
  func interruptedImport(of bytes: [UInt8], from name: String) throws -> Outcome {
    let pipe = folder.appending(path: name).path(percentEncoded: false)
    guard mkfifo(pipe, 0o600) == 0 else {
      throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
    /// Its other end; negative while nobody reads.
    func opened() -> Int32 { open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC) }

    let process = try start(["import", pipe, "--into", "c", "--key", "id", "--store", store])
    try process.input.close()
    var descriptor = opened()
    while descriptor < 0, process.process.isRunning {
      usleep(1_000)
      descriptor = opened()
    }
    // It listens, and makes the store, before it reads. If it has failed, the test shows why.
    guard descriptor >= 0 else { return try process.wait() }
    _ = fcntl(descriptor, F_SETFL, 0)
    let writer = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    // While another process writes it cannot come to its end, however long this one is held up.
    let other = try Store(at: store)
    try other.write { _ in
      try? writer.write(contentsOf: bytes)
      try writer.close()
      // It lets go of the pipe when it begins to read what has come.
      while case let rest = opened(), rest >= 0 {
        close(rest)
        usleep(1_000)
      }
      process.process.interrupt()
    }
    try other.close(timeout: .seconds(300))
    return try process.wait()
  }

  func file(_ name: String, _ text: String) throws -> String {
    let url = folder.appending(path: name)
    try Data(text.utf8).write(to: url)
    return url.path(percentEncoded: false)
  }

  static func fixture(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Fixtures/\(name)").path(percentEncoded: false)
  }

  static func executable() throws -> String { try BuiltProgram.path("larder") }
}

/// A `larder` that runs.
final class Running {
  let process = Process()
  let input: FileHandle
  private let outputFile: URL
  private let errorsFile: URL

  init(
    _ arguments: [String], _ environment: [String: String], _ output: FileHandle?
  ) throws {
    let scratch = FileManager.default.temporaryDirectory.appending(
      path: "larder-output-\(UUID().uuidString)")
    outputFile = scratch.appendingPathExtension("out")
    errorsFile = scratch.appendingPathExtension("err")
    // Files, so that no pipe can fill up.
    for file in [outputFile, errorsFile] { try Data().write(to: file) }
    let pipe = Pipe()
    input = pipe.fileHandleForWriting
    process.executableURL = URL(filePath: try LarderProgram.executable())
    process.arguments = arguments
    var variables = ProcessInfo.processInfo.environment
    variables["LARDER_STORE"] = nil
    // On a busy machine it may take long until a command has seen that it is to end.
    variables["LARDER_PATIENCE"] = "600"
    process.environment = variables.merging(environment) { _, new in new }
    process.standardInput = pipe
    process.standardOutput = try output ?? FileHandle(forWritingTo: outputFile)
    process.standardError = try FileHandle(forWritingTo: errorsFile)
    try process.run()
  }

  /// Waits for its end, for five minutes at most; then it is killed.
  func waitOrKill() throws -> LarderProgram.Outcome {
    var patience = 300_000
    while process.isRunning, patience > 0 {
      usleep(1_000)
      patience -= 1
    }
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    return try wait()
  }

  func wait() throws -> LarderProgram.Outcome {
    process.waitUntilExit()
    let outcome = LarderProgram.Outcome(
      status: process.terminationReason == .exit
        ? process.terminationStatus : -process.terminationStatus,
      output: String(decoding: try Data(contentsOf: outputFile), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: errorsFile), as: UTF8.self))
    for file in [outputFile, errorsFile] { try FileManager.default.removeItem(at: file) }
    return outcome
  }

  /// Bytes of memory that are not files' pages; nil when it has ended.
  func anonymousByteCount() -> Int? {
    guard
      let status = try? String(
        contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("RssAnon:") }),
      let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
    else { return nil }
    return kilobytes << 10
  }

  #if os(Linux)
    /// Waits until it handles a signal itself; false where it has ended before.
    func waitUntilHandling(_ signal: Int32) -> Bool {
      while process.isRunning {
        let status = try? String(
          contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let mask = status?.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
          .flatMap { UInt64($0.dropFirst(7).filter(\.isHexDigit), radix: 16) }
        if let mask, mask >> UInt64(signal - 1) & 1 == 1 { return true }
        usleep(1_000)
      }
      return false
    }
  #endif
}
