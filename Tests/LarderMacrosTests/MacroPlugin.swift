import Foundation
import LarderTestKit

/// The plugin, started as the compiler starts it.
final class MacroPlugin {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter compilerVersion: What it is told that the compiler speaks; nil for a compiler that
  ///   does not say, 0 to say nothing at all.
  init(compilerVersion: Int? = 7) throws {
    signal(SIGPIPE, SIG_IGN)
    process.executableURL = try BuildFolder.current().plugin
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    if compilerVersion == 0 { return }
    let capability = compilerVersion.map { "\"capability\":{\"protocolVersion\":\($0)}" } ?? ""
    let answer = try send(text: "{\"getCapability\":{\(capability)}}")
    guard answer == "{\"getCapabilityResult\":{\"capability\":{\"protocolVersion\":7}}}" else {
      throw Failed(description: "the plugin said \(answer)")
    }
  }

  deinit {
    try? input.fileHandleForWriting.close()  // It may have ended by itself.
    process.waitUntilExit()
  }

  /// Sends a message and returns the answer.
  func send(text: String) throws -> String {
    try send(bytes: Data(text.utf8))
  }

  func send(bytes: Data) throws -> String {
    var frame = Data()
    withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { frame.append(contentsOf: $0) }
    frame.append(bytes)
    try input.fileHandleForWriting.write(contentsOf: frame)
    let header = try receive(8)
    let count = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return String(decoding: try receive(Int(count)), as: UTF8.self)
  }

  private func receive(_ count: Int) throws -> Data {
    var bytes = Data()
    while bytes.count < count {
      guard let more = try output.fileHandleForReading.read(upToCount: count - bytes.count),
        !more.isEmpty
      else { throw Failed(description: "the plugin ended") }
      bytes.append(more)
    }
    return bytes
  }

  /// Closes its input and returns how it ended.
  func end() throws -> Int32 {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
    return process.terminationStatus
  }
}

/// Where the tests and what they test were built.
struct BuildFolder {
  let folder: URL

  var plugin: URL { folder.appending(path: "LarderMacros-tool") }
  var modules: URL { folder.appending(path: "Modules") }

  static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  /// The folder beside the tests that run, or above them in a bundle.
  static func current() throws -> BuildFolder {
    let plugin = try BuiltProgram.path("LarderMacros-tool")
    return BuildFolder(folder: URL(filePath: plugin).deletingLastPathComponent())
  }
}
