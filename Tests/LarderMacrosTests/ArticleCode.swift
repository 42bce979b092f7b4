import Foundation

/// The Swift code of an article, as a source file that the compiler takes.
///
/// The comment in the line above a block of code says what becomes of it, and readers do not see it:
///
/// - `<!-- func(store: Store) async throws -->`: the block is the body of a function with these
///   parameters and effects, with an attribute in front where it needs one.
/// - `<!-- not compiled: a part of a manifest -->`: it is left out, for the reason given.
/// - No comment: the block declares types, which later blocks of the article can use.
struct ArticleCode {
  /// An enum with everything that the article shows. Messages of the compiler name the article and the
  /// line in it.
  private(set) var source = ""
  private(set) var compiledCount = 0
  private(set) var leftOutCount = 0

  /// - Parameter name: The name of the article's file, without its extension.
  init(_ name: String, text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    source = "enum \(name)Article {\n"
    var start = 0
    while let fence = lines[start...].firstIndex(of: "```swift") {
      let end = lines[fence...].firstIndex(of: "```") ?? lines.endIndex
      append(
        lines[(fence + 1)..<end], under: fence > 0 ? lines[fence - 1] : "", in: "\(name).md",
        line: fence + 2)
      start = min(end + 1, lines.endIndex)
    }
    source += "}\n"
  }

  private mutating func append(
    _ lines: ArraySlice<Substring>, under comment: Substring, in file: String, line: Int
  ) {
    let mark = comment.wholeMatch(of: /<!-- (.*) -->/)?.output.1
    if let mark, mark.hasPrefix("not compiled: ") {
      leftOutCount += 1
      return
    }
    compiledCount += 1
    let head = mark.map {
      $0.replacing("func(", with: "static func example\(compiledCount)(", maxReplacements: 1)
    }
    // Imports stand at the top of a file; here every example has all of them.
    let code = lines.map { $0.hasPrefix("import ") ? "" : $0 }.joined(separator: "\n")
    source += """
      \(head.map { "\($0) {" } ?? "")
      #sourceLocation(file: "\(file)", line: \(line))
      \(code)
      #sourceLocation()
      \(head == nil ? "" : "}")

      """
  }

  /// What every example can use.
  static let imports = """
    import Foundation
    import Larder
    import LarderImport
    import LarderRemote
    import LarderSync
    import LarderTesting
    import Observation
    import Testing

    """
}
