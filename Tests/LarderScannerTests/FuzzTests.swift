import Foundation
import LarderScanner
import LarderTestKit
import Testing

/// Whatever the text is, reading it ends soon and without a trap.
@Suite struct FuzzTests {
  private static let pieces = [
    "struct", "S", "{", "}", "(", ")", "[", "]", "<", ">", "var", "let", "a", "b", ":", "=", ",",
    ";",
    "Int", "\"", "\"\"\"", "#\"", "\"#", "\\(", "\\", "/", "/*", "*/", "//", "\n", "@", "@Key",
    "#if",
    "#endif", "#else", "#elseif", "#", "`", "?", "!", ".", "...", "->", "&", "-", "1", "0x", "1e",
    "didSet", "willSet", "get", "init", "func", "static", "private", "(set)", "class", "if", "else",
    "switch", "as", "is", "try", "any", "some", "throws", "async", "where", "é", "\u{2264}", "🐶",
    "\r",
    "\t", " ", " ", " ", "\u{0}", "~", "$0", "_", "import", "case", "/a/", "#/", "/#", "\"a\"",
  ]

  /// Of a processor: longer than any honest reading takes, shorter than patience.
  private static let limit = 5.0

  private func read(_ text: String, _ hint: String) {
    var count = 0
    let time = processorSeconds {
      let found = Declaration(reading: text)
      count = found.variables.count
      for variable in found.variables { _ = variable.knownType }
    }
    #expect(time < Self.limit, "\(hint): \(count) variables in \(text.utf8.count) bytes")
  }

  @Test("soups of tokens are read to their end")
  func soup() {
    var random = RandomSource()
    for round in 0..<2000 {
      var text = round % 3 == 0 ? "" : "struct S {"
      for _ in 0..<Int.random(in: 0..<120, using: &random) {
        text += Self.pieces.randomElement(using: &random) ?? ""
        if Bool.random(using: &random) { text += " " }
      }
      read(text, random.hint)
    }
  }

  @Test("bytes of any kind are read to their end")
  func bytes() {
    var random = RandomSource()
    for _ in 0..<500 {
      let count = Int.random(in: 0..<300, using: &random)
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      read("struct S {" + String(decoding: bytes, as: UTF8.self), random.hint)
    }
  }

  @Test("real files with pieces cut out, doubled and exchanged are read to their end")
  func mutations() throws {
    var random = RandomSource()
    let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
    let files = try #require(
      FileManager.default.enumerator(
        at: root.appending(path: "Sources"), includingPropertiesForKeys: nil))
    var sources: [[UInt8]] = []
    for case let file as URL in files where file.pathExtension == "swift" {
      sources.append(Array(try Data(contentsOf: file)))
    }
    #expect(sources.count > 50)
    for source in sources {
      for _ in 0..<3 {
        var text = source
        for _ in 0..<Int.random(in: 1..<8, using: &random) {
          guard text.count > 1 else { break }
          let start = Int.random(in: 0..<text.count, using: &random)
          let end = min(text.count, start + Int.random(in: 0..<60, using: &random))
          switch Int.random(in: 0..<3, using: &random) {
          case 0: text.removeSubrange(start..<end)
          case 1: text.insert(contentsOf: text[start..<end], at: start)
          default:
            let piece = Self.pieces.randomElement(using: &random) ?? ""
            text.replaceSubrange(start..<end, with: Array(piece.utf8))
          }
        }
        read(String(decoding: text, as: UTF8.self), random.hint)
      }
    }
  }

  @Test(
    "one piece many times over costs no square of its number",
    arguments: pieces + [
      "a<", "\"\\(", "{ didSet", "@a(", "#\"\\#(\"", "var a = b<", "/x(", "var (", "{@a",
    ])
  func repeated(piece: String) {
    for text in ["struct S {", "struct S { var a = ", "struct S { var a: "] {
      read(text + String(repeating: piece, count: 2000), piece)
    }
    read("struct S {" + String(repeating: piece + " ", count: 2000), piece)
  }
}
