import Foundation
import Testing

/// The diagrams beside the code.
struct Diagram {
  /// The lines between the fences, without white space around them.
  let lines: [String]

  static let sources = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Sources/Bookshop")

  static func text(_ path: String) throws -> String {
    try String(contentsOf: sources.appending(path: path), encoding: .utf8)
  }

  /// The text under a heading.
  static func section(_ heading: String, of path: String) throws -> [Substring] {
    let lines = try text(path).split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex(of: "## \(heading)"), "no \(heading) in \(path)")
    let rest = lines[(start + 1)...]
    let end = rest.firstIndex { $0.hasPrefix("## ") } ?? rest.endIndex
    return Array(rest[..<end])
  }

  /// The diagrams under a heading.
  static func all(_ heading: String, of path: String) throws -> [Diagram] {
    try section(heading, of: path).split { $0.hasPrefix("```") }
      .filter { $0.first.map { $0.contains("iagram") || $0.hasPrefix("flowchart") } == true }
      .map { block in
        Diagram(lines: block.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) })
      }
  }

  static func headings(of path: String) throws -> [String] {
    try text(path).split(separator: "\n").filter { $0.hasPrefix("## ") }
      .map { String($0.dropFirst(3)) }
  }

  /// The messages of a sequence: receiver and text.
  var messages: [String] {
    lines.compactMap { line in line.components(separatedBy: "->>").dropFirst().first }
  }
}
