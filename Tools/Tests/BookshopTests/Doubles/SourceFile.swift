import Foundation

/// A file of the app's source, for rules that no type can hold.
struct SourceFile {
  let name: String
  /// Without comments.
  let code: String

  static func all(in folder: String) throws -> [SourceFile] {
    let root = Diagram.sources.appending(path: folder)
    let names = try FileManager.default.subpathsOfDirectory(
      atPath: root.path(percentEncoded: false))
    return try names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
      let text = try String(contentsOf: root.appending(path: name), encoding: .utf8)
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      let code = lines.filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
      return SourceFile(name: name, code: code.joined(separator: "\n"))
    }
  }

  /// The words of the code.
  var words: Set<String> {
    Set(code.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
  }

  func typeNames(endingWith suffix: String) -> [String] {
    types.map(\.name).filter { $0.hasSuffix(suffix) }
  }

  /// The files beside the folders.
  static func top() throws -> [SourceFile] {
    try all(in: "").filter { !$0.name.contains("/") }
  }

  /// The structs, classes and actors of the file, with their bodies.
  var types: [(name: String, body: String)] { types(["struct", "class", "actor"]) }
  var enums: [(name: String, body: String)] { types(["enum"]) }

  /// The names that stand before an opening bracket: types that are made, and functions.
  static func calls(in body: String) -> Set<String> {
    var calls: Set<String> = []
    for part in body.components(separatedBy: "(").dropLast() {
      let name = String(part.reversed().prefix { $0.isLetter || $0.isNumber }.reversed())
      // Its own declaration, and a case of an enum, are no calls.
      if part.dropLast(name.count).hasSuffix(".") { continue }
      calls.insert(name)
    }
    // `map(FixtureImporter.init)`
    for part in body.components(separatedBy: ".init)").dropLast() {
      calls.insert(String(part.reversed().prefix { $0.isLetter || $0.isNumber }.reversed()))
    }
    return calls
  }

  private func types(_ kinds: [String]) -> [(name: String, body: String)] {
    var types: [(String, String)] = []
    for part in code.components(separatedBy: "\n}") {
      for line in part.split(separator: "\n") where line.hasSuffix("{") && !line.hasPrefix(" ") {
        let words = line.split { !($0.isLetter || $0.isNumber) }
        guard let index = words.firstIndex(where: { kinds.contains(String($0)) })
        else { continue }
        types.append((String(words[index + 1]), part))
      }
    }
    return types
  }

  /// The types of what the first initializer in a body is given; without one, those of a struct's
  /// constants.
  static func dependencies(in body: String) -> Set<String> {
    var types: [Substring] = []
    if let start = body.range(of: "  init("),
      let end = body[start.upperBound...].firstIndex(of: "{")
    {
      types = body[start.upperBound..<end].split(separator: ",").compactMap { parameter in
        parameter.split(separator: ":", maxSplits: 1).dropFirst().first
      }
    } else {
      types = body.split(separator: "\n").filter {
        $0.hasPrefix("  let ") || $0.hasPrefix("  private var ")
      }
      .compactMap { $0.split(separator: ":", maxSplits: 1).dropFirst().first }
    }
    return Set(
      types.map { type in
        String(
          type.replacing("any ", with: "").prefix { $0 != "=" && $0 != "<" && $0 != "\n" }
            .filter { $0.isLetter || $0 == "." })
      })
  }
}
