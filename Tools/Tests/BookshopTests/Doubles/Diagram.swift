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

extension Diagram {
  /// An arrow of a states diagram.
  struct Edge: Hashable, CustomTestStringConvertible {
    let from: String
    let to: String
    let label: String
    var testDescription: String { "\(from) --> \(to): \(label)" }
  }

  /// The arrows of a states diagram.
  var edges: [Edge] {
    lines.compactMap { line in
      let sides = line.components(separatedBy: " --> ")
      guard sides.count == 2 else { return nil }
      let right = sides[1].components(separatedBy: ": ")
      return Edge(
        from: sides[0], to: right[0], label: right.dropFirst().joined(separator: ": "))
    }
  }

  /// Who makes what, as it is drawn.
  static func creations() throws -> [(creator: String, made: String)] {
    let diagram = try #require(all("Creation", of: "Service/Service.md").first)
    return try diagram.lines.map { line in
      let words = line.split(separator: " ").map(String.init)
      try #require(
        words.count == 5 && words[1] == "..>" && words[3...] == [":", "creates"],
        "no creation: \(line)")
      return (words[0], words[2])
    }
  }

  /// The arrows between screens, for the arguments of a test.
  static var screenEdges: [Edge] {
    let text = (try? text("Router/Router.md")) ?? ""
    let block = text.components(separatedBy: "```mermaid\n").dropFirst().first ?? ""
    let lines = block.components(separatedBy: "```")[0].split(separator: "\n")
    return Diagram(lines: lines.map { $0.trimmingCharacters(in: .whitespaces) }).edges
  }

  /// The arrows of a service, for the arguments of a test; none, and the test fails, without a
  /// diagram.
  static func edges(of service: String) -> [Edge] {
    // A diagram that cannot be read gives no arguments, which `drawn` finds out.
    (try? all("States: \(service)", of: "Service/Service.md").first?.edges) ?? []
  }
}
