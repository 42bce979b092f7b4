import LarderScanner
import Testing

@Suite struct MemberTests {
  /// Members that are not the struct's own variables; each holds what might be taken for one.
  static let others = [
    "func f<T>(_ a: Int = 1, b: () -> Void = { var x = 1 }) -> T where T: P { let y = 2; return y }",
    "init(a: Int) { self.a = a; var b = 1 }",
    "init?<T>(b: T) async throws(E) where T == Int { let c = 1 }",
    "subscript<T>(i: T) -> Int { get { let x = 1; return x } set { } }",
    "static subscript(i: Int) -> Int { 1 }",
    "struct N { var inner = 1; struct M { let deep: Int } }",
    "final class C { var inner = 1; deinit { let x = 1 } }",
    "enum E: String { case a, b = \"var x\"; static let c = 1; var d: Int { 1 } }",
    "actor A { var inner = 1 }",
    "typealias T = (Int) -> Result<Int, any Error>",
    "typealias U =\n    Set<Int>",
    "static func < (a: Self, b: Self) -> Bool { let x = 1; return x }",
    "static func / (a: Self, b: Self) -> Bool { let x = 1; return x }",
    "static prefix func - (a: Self) -> Self { var x = a; return x }",
    "@discardableResult @inline(__always) mutating func g() -> Int\n  {\n    let x = 1\n    return x }",
    "@Body func h()\n  async throws\n  -> Int",
    "@available(*, deprecated, message: \"var x = 1\") func i() {}",
    "#warning(\"var x: Int\")",
    "#Index<Contact, Int>([\\.a], [\\.b, \\.c])",
    "#declare { var x = 1 }",
    "/* var x = 1 /* var y: Int */ */",
    "// var x = 1 {",
    "/// ```\n  /// var x: Int {\n  /// ```",
    ";;",
    "func r() { let a = /}\"{/; let b = #/ } \" { /#; let c = x / y; let d = (/[\\/]\\/}/) }",
    "static var p: Regex<Substring> {\n Regex {\n  /\\{/\n  OneOrMore(.word)\n  /\\}/\n } }",
    "func q(_ s: String) -> String { s.replacing(/[)}]/, with: s.replacing(/[{(\\]}]/, with: \"\")) }",
    "static func /(a: Self, b: Self) -> Self { S(a.x/b.x) }",
    "typealias V =\n  @Sendable (String, Int) -> Void",
    "func w() ->\n  @Sendable () -> Void\n  { { var x = 1 } }",
    "func s() { _ = \"\\(f(\"}\\(\"{\")\"))\"; _ = #\"\"}\"#; _ = \"\"\"\n } \\(1) \" \n\"\"\" }",
    "func t() { _ = #\"\\(x) \\#(y + \"}\")\"#; _ = #\"\"\"#; _ = ##\"\"\"\n  }\"\"\"# {\n  \"\"\"## }",
    "func `var`() { if #available(macOS 15, *) { } else { } }",
    "nonisolated func u() {}",
    "static let shared = S(), other: Int = 1",
    "class func v() {}",
    "deinit { }",
  ]

  @Test("what stands behind a body that seems to end early is not left out without a word")
  func earlyEnd() {
    let found = declaration("struct S { var first: Int } var second: Int }")

    #expect(found.unreadable == [26])
    #expect(declaration("struct S { var first: Int } // }").unreadable.isEmpty)
  }

  @Test("types in the body are known by name")
  func types() {
    let found = declaration(
      "struct S { enum Key: String { case a }; typealias A = Int; private struct B { struct C {} } }"
    )

    #expect(found.types.map(\.text) == ["Key", "B"])
  }

  @Test("nothing but the struct's own variables is found", arguments: others)
  func isNotFound(member: String) {
    let found = declaration(
      "struct S {\n  var first: Int\n  \(member)\n  var second = 2\n  \(member)\n  let third: Int }"
    )
    let own = found.variables.filter { !$0.hasModifier("static") }

    #expect(own.map(\.name.text) == ["first", "second", "third"])
    #expect(found.unreadable.isEmpty)
  }

  @Test("initializers in the body are found, those of nested types are not")
  func initializers() {
    #expect(declaration("struct S { init() {}; init?(a: Int) {} }").initializers.count == 2)
    #expect(
      declaration("struct S { struct T { init() {} }; var a = T.init() }").initializers.isEmpty)
  }

  @Test("what no member begins with is told by its place, and reading goes on behind it")
  func unreadable() {
    let source =
      "struct S {\n  var a = 1\n  #if A\n  .b()\n  #endif\n  var c: Int\n  1 + 2\n  var d: Int\n}"
    let found = declaration(source)

    #expect(found.variables.map(\.name.text) == ["a", "c", "d"])
    #expect(found.unreadable == [source.offset(of: ".b"), source.offset(of: "1 + 2")])
  }

  @Test("brackets that nothing closes end with what is around them")
  func unclosed() {
    #expect(names("var a = [1, 2\n  var b = (1") == ["a"])
    #expect(names("var a: Int\n  func f( { }\n  var b: Int") == ["a"])
    #expect(declaration("struct S { var a: Int").variables.map(\.name.text) == ["a"])
    #expect(declaration("struct S { func f() {").variables.isEmpty)
  }
}

extension String {
  fileprivate func offset(of text: String) -> Int {
    guard let range = range(of: text) else { return -1 }
    return utf8.distance(from: startIndex, to: range.lowerBound)
  }

  private func range(of text: String) -> Range<String.Index>? {
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(text) { return start..<endIndex }
      start = index(after: start)
    }
    return nil
  }
}
