import Foundation
import LarderTestKit
import Testing

@Suite struct FuzzTests {
  private static let pieces = [
    "@Document ", "@Key ", "@Indexed(unique: true) ", "@Stored(as: \"a\") ", "@Transient ",
    "struct S {",
    "class C {", "var id: Int\n", "var a = 1, b: Int\n", "let c = [1, 2]\n", "private ", "static ",
    "#if A\n",
    "#endif\n", "{ didSet { } }", "{ get { 1 } }", "(", ")", "[", "]", "{", "}", "<", ">", "\"",
    "\"\"\"",
    "\\(", "`", "var (x, y) = (1, 2)\n", "init() {}\n", "func f() {}\n", ": ", " = ", ", ", "\n",
    "é", "🐶",
    "Int?", "\u{0}", "/*", "*/", "//", "@available(macOS 1, *) ", "~Copyable", "@", "#", "/",
  ]

  @Test("the plugin answers whatever the declaration is, for every macro in every role")
  func answers() throws {
    var random = RandomSource()
    let hint = random.hint
    let plugin = try MacroPlugin()
    let macros = ["Document", "EmbeddedDocument", "Key", "Indexed", "Stored", "Transient"]
    for _ in 0..<1500 {
      func soup(_ count: Int) -> String {
        (0..<Int.random(in: 0..<count, using: &random)).map { _ in
          Self.pieces.randomElement(using: &random) ?? ""
        }.joined()
      }
      let source = (Bool.random(using: &random) ? "struct S { var id: Int\n" : "") + soup(30)
      let expansion = try plugin.expand(
        macros.randomElement(using: &random) ?? "",
        role: ["extension", "member", "peer"]
          .randomElement(using: &random) ?? "", at: source, in: [soup(5)])

      // Nothing is written beside an error, and every error is inside the declaration.
      let hasErrors = !expansion.problems.isEmpty
      #expect((expansion.source ?? "").isEmpty || !hasErrors, "\(hint): \(source)")
      for problem in expansion.problems {
        #expect((1000...1000 + source.utf8.count).contains(problem.offset), "\(hint)")
      }
    }
  }
}
