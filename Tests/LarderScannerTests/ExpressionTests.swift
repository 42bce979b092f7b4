import LarderScanner
import Testing

@Suite struct ExpressionTests {
  /// Initial values of which each ends where the next line, or a comma, begins.
  static let expressions = [
    "1", "-1", "1.5e-3", "0x1p-2", "1_000", "\"text\"", "\"a \\(b + \"c\") d\"",
    "#\"raw \"x\" \\(a)\"#",
    "\"\"\"\n  line { \"quoted\"\n  \"\"\"", "nil", "[]", "[:]", "[1, 2, 3]",
    "[\"a\": [1], \"b\": []]",
    "Channel.unknown", ".unknown", ".init()", "Date()", "Set<String>()",
    "Dictionary<String, [Int]>()",
    "[String: Int]()", "[Int]().map { $0 + 1 }.filter { _ in true }", "{ 1 }()",
    "{ (a: Int) in a }(1)",
    "Foo { $0 } bar: { 1 }", "a ? b : c", "a\n    ? b\n    : c", "a ??\n    b",
    "a\n    + b\n    - c",
    "try! f()", "try? f()", "x as! Y", "x\n    as Y", "f()\n    .g()\n    .h", "a < b", "a<b>(c)",
    "a.b<C, D>.e", "x!", "x![0]", "x?.y", "x...", "...x", "1...5", "0..<n", "\\.name",
    "\\Foo.bar[0]?.baz",
    "if a { 1 } else { 2 }", "if a {\n 1\n }\n else if b { 2 } else { 3 }",
    "switch a { case .b: 1; default: 2 }", "do { try f() } catch { 1 }", "#file",
    "#Predicate<A> { $0.b == 1 }",
    "(1, 2).0", "(a, b) == (c, d)", "!a && b || c", "~a & b | c ^ d", "a ≤ b", "a → b",
    "f(/ab\"c/)",
    "/[a-z]+\"/", "#/ \" { /#", "a / b / c", "x/y", "(x)/2", "1/2", "UUID.timeOrdered()",
    "await f()",
    "unsafe f()",
    "copy x",
    "copy", "any", "some", "self.default", "`default`", "A.`init`", "a == .b", "a.0.1", "$0",
    "$name",
    "[a, b, c,]", "f(\n  a,\n  b\n)", "x /* c, */ + y", "5.description", "f<T>(T.self)", "a.if",
    "\"\"\"\n\"\"\"",
    "\"\\\"\"", "\"\\\\\"", "#\"\"\"#", "\"\"", "a ? [b] : (c)", "Foo(bar: baz) { a in\n  b\n}",
    "1 as Double", "[1: 2] as [Int8: Int]", "{ [weak a] in a }", "x is Y", "-x.y", "- 1",
    "try await f()",
  ]

  @Test("an initial value ends where it ends", arguments: expressions)
  func ends(expression: String) {
    let found = variables(
      """
      var a = \(expression)
      let b: Int
      var c = \(expression), d = \(expression)
      @Key var e: Int = \(expression) // comment
      private var f = \(expression); var g: Int
      var h = \(expression) { didSet { } }
      var i: Int
      """)

    #expect(found.map(\.name.text) == ["a", "b", "c", "d", "e", "f", "g", "h", "i"])
    #expect(
      found.map(\.initialValue?.text) == [
        expression, nil, expression, expression, expression, expression, nil, expression, nil,
      ])
    #expect(
      found.map(\.isObserved) == [false, false, false, false, false, false, false, true, false])
  }

  /// Initial values and the types that can be seen in their text.
  static let types: [(String, String?)] = [
    ("\"a\"", "String"), ("\"\"\"\n a\n \"\"\"", "String"), ("#\"a\"#", "String"), ("1", "Int"),
    ("-1", "Int"), ("+1", "Int"), ("0x1F", "Int"), ("0xE", "Int"), ("0b1", "Int"), ("1_0", "Int"),
    ("1.0", "Double"), ("-1.5", "Double"), ("1e5", "Double"), ("0x1p2", "Double"), ("true", "Bool"),
    ("false", "Bool"), ("[1, 2]", "[Int]"), ("[1, 2.5]", "[Double]"), ("[-1]", "[Int]"),
    ("[\"a\": 1, \"b\": 2]", "[String: Int]"), ("[[1], [2]]", "[[Int]]"), ("[1,]", "[Int]"),
    ("[true: [\"a\"]]", "[Bool: [String]]"), ("[]", nil), ("[:]", nil), ("[1, \"a\"]", nil),
    ("[a]", nil), ("nil", nil), ("UUID()", "UUID"), ("A.B()", "A.B"), ("A.B.init(1)", "A.B"),
    ("A<B, C>()", "A<B, C>"), ("[Int]()", "[Int]"), ("[String: Int]()", "[String: Int]"),
    ("Channel.unknown", "Channel"), ("A.B.unknown", "A.B"), ("UUID.timeOrdered()", "UUID"),
    ("A.b.c", nil), ("f()", nil), (".a", nil), (".init()", nil), ("1 + 2", nil), ("a", nil),
    ("1 as Int8", "Int8"), ("f(1 as Int8) as A.B?", "A.B?"), ("x as! Y", nil), ("A", nil),
    ("A().b", nil), ("A(b: c) { 1 }", nil), ("/a/", nil), ("(1)", nil), ("- 1", "Int"),
  ]

  @Test("the type of a literal or of an initializer's value can be seen", arguments: types)
  func inferred(value: String, type: String?) {
    let found = variables("var a = \(value)\nvar b: Written = \(value)")

    #expect(found.map(\.knownType) == [type, "Written"])
  }
}
