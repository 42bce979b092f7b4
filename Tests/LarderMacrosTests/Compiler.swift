import Foundation

/// The Swift compiler, run on a file of `Sources` against the modules that were built.
struct Compiler {
  struct Message: Hashable, CustomStringConvertible {
    /// `file.swift`, or `@Document` for what the macro wrote.
    let file: String
    let line: Int
    /// In UTF-8, from 1.
    let column: Int
    let severity: String
    let text: String

    var description: String { "\(file):\(line):\(column): \(severity): \(text)" }
  }

  /// The text of a file in `Sources`.
  static func source(_ name: String) throws -> String {
    try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Sources/\(name).txt"), encoding: .utf8)
  }

  /// What the compiler says of a source.
  static func messages(_ source: String, _ arguments: String...) throws -> [Message] {
    let (text, status) = try output(source, ["-diagnostic-style", "llvm"] + arguments)
    let messages = text.split(separator: "\n").compactMap { Message(line: String($0)) }
    guard status == 0 || messages.contains(where: { $0.severity == "error" })
    else { throw MacroPlugin.Failed(description: text) }
    return messages
  }

  /// All that the compiler shows, as whoever calls it sees it unless asked otherwise: with the lines of
  /// source that its messages and notes are about.
  static func screen(_ source: String, _ arguments: String...) throws -> String {
    try output(source, ["-diagnostic-style", "swift"] + arguments).text
  }

  private static func output(
    _ source: String, _ arguments: [String]
  ) throws -> (text: String, status: Int32) {
    let folder = FileManager.default.temporaryDirectory.appending(path: "compiled-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }  // The system cleans up what stays.
    let file = folder.appending(path: "file.swift")
    try Data(source.utf8).write(to: file)
    let output = folder.appending(path: "output")
    try Data().write(to: output)
    let build = try BuildFolder.current()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [
        "swiftc", "-typecheck", "-parse-as-library", "-package-name", "test", "-I",
        path(build.modules), "-Xcc",
        "-fmodule-map-file="
          + path(
            BuildFolder.root.appending(path: "Sources/CLarderLMDB/module.modulemap")),
        "-load-plugin-executable", path(build.plugin) + "#LarderMacros",
      ] + arguments + [path(file)]
    process.standardError = try FileHandle(forWritingTo: output)
    try process.run()
    process.waitUntilExit()
    return (try String(contentsOf: output, encoding: .utf8), process.terminationStatus)
  }

  private static func path(_ url: URL) -> String { url.path(percentEncoded: false) }
}

extension Compiler.Message {
  /// Reads `path:line:column: severity: text`.
  init?(line: String) {
    for severity in ["error", "warning"] {
      let parts = line.components(separatedBy: ": \(severity): ")
      guard parts.count > 1 else { continue }
      let place = parts[0].split(separator: ":")
      guard place.count >= 3, let line = Int(place[place.count - 2]),
        let column = Int(place[place.count - 1])
      else { continue }
      let file = place.dropLast(2).joined(separator: ":")
      self.init(
        file: file.contains("macro expansion") || file.contains("__swiftmacro")
          ? "macro" : String(file.split(separator: "/").last ?? ""),
        line: line, column: column, severity: severity,
        text: parts.dropFirst().joined(separator: ": \(severity): "))
      return
    }
    return nil
  }
}
