import LarderScanner
import Testing

@Suite struct VariableTests {
  @Test("accessors make a property computed, observers leave it stored")
  func accessors() {
    let found = variables(
      """
      var a: Int { 1 }
      var b: Int { get { 1 } set { } }
      var c: Int { get async throws { 1 } }
      var d: Int
      {
        _read { yield x }
      }
      var e = 1 { didSet { print(oldValue) } }
      var f: Int = 2 { willSet(new) { } didSet(old) { } }
      var g: Int
      {
        @MainActor didSet { }
      }
      var h: Int { @storageRestrictions(initializes: x) init(v) { x = v } get { x } set { x = newValue } }
      var i: [Int] { didSet }
      var j: Int
      """)

    #expect(found.map(\.name.text) == ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"])
    #expect(
      found.map(\.summary) == [
        "computed", "computed", "computed", "computed", "stored observed", "stored observed",
        "stored observed", "computed", "computed", "stored",
      ])
    #expect(found[4].initialValue?.text == "1")
    #expect(found[5].type?.text == "Int")
  }

  @Test("modifiers and attributes belong to the property that they stand in front of")
  func modifiers() {
    let found = variables(
      """
      public private(set) var a = 1
      @Indexed(unique: true, descending: f(1, [2])) @Stored (as: "x)") fileprivate let b: Int
      static var c = 1; lazy var d = { 1 }()
      nonisolated(unsafe) static let e = 1
      unowned(unsafe) var f: A
      @Wrapper<Int>(wrappedValue: 1) private var g
      """)

    #expect(found.map(\.name.text) == ["a", "b", "c", "d", "e", "f", "g"])
    #expect(found[0].modifiers.map(\.text) == ["public", "private(set)"])
    #expect(!found[0].hasModifier("private"))
    #expect(found[1].attributes.map(\.name) == ["Indexed", "Stored"])
    #expect(
      found[1].attributes.map(\.arguments?.text)
        == ["unique: true, descending: f(1, [2])", "as: \"x)\""])
    #expect(found[1].isLet && found[1].hasModifier("fileprivate"))
    #expect(found[2].hasModifier("static"))
    #expect(found[3].hasModifier("lazy") && found[3].initialValue?.text == "{ 1 }()")
    #expect(found[4].modifiers.map(\.text) == ["nonisolated(unsafe)", "static"])
    #expect(found[5].modifiers.map(\.text) == ["unowned(unsafe)"])
    #expect(found[6].attributes.map(\.name) == ["Wrapper"] && found[6].hasModifier("private"))
  }

  @Test("several names behind one `var` are several variables, and share the type behind them")
  func bindings() {
    let found = variables("var a = 1, b: Int, c, d: [String: Int]?, e = f(1, 2), g = [1, 2]")

    #expect(found.map(\.name.text) == ["a", "b", "c", "d", "e", "g"])
    #expect(
      found.map(\.type?.text)
        == [nil, "Int", "[String: Int]?", "[String: Int]?", nil, nil])
    #expect(found.map(\.initialValue?.text) == ["1", nil, nil, nil, "f(1, 2)", "[1, 2]"])
  }

  @Test("a tuple that is taken apart is told as a pattern")
  func patterns() {
    let found = variables("var (a, b) = (1, 2)\nvar c: Int\nstatic let (d, (e, _)): (Int, X) = f()")

    #expect(found.map(\.name.text) == ["(a, b)", "c", "(d, (e, _))"])
    #expect(found.map(\.isPattern) == [true, false, true])
  }

  @Test("types are read whole, however they are written")
  func types() {
    let types = [
      "Int", "Int?", "Int??", "Int!", "[Int]", "[String: [Int?]]", "A.B.C", "A<B, C<D>>.E?",
      "any P & Q", "some Collection<Int>", "(Int, String)", "(Int) -> String",
      "@Sendable (Int, inout A) async throws(E) -> (B) -> C?", "A.Type", "any P.Type",
      "Result<Int, any Error>", "[3 of Int]", "InlineArray<3, Int>", "Set<A>.Index",
      "(any P)?", "@MainActor () -> Void", "A /* why */ .B", "Dictionary<\n  String, Int\n>",
      "Self.Nested", "`class`.`Type`", "@escaping @autoclosure () -> Int", "Optional<Int>",
    ]
    for type in types {
      let found = variables("var a: \(type)\nvar b: \(type) = x, c: \(type) { 1 }\nvar d: Int")
      #expect(found.map(\.name.text) == ["a", "b", "c", "d"], "\(type)")
      #expect(found.prefix(3).map(\.type?.text) == [type, type, type])
      #expect(found.map(\.initialValue?.text) == [nil, "x", nil, nil])
    }
  }

  @Test("names may have backticks and letters of any script")
  func namesOfAnyScript() {
    #expect(
      names("var `default` = 1\nlet größe: Int\nvar имя = \"\"\nvar 名 = 1, 🐶🐮 = 2\nvar `a b`: Int")
        == ["`default`", "größe", "имя", "名", "🐶🐮", "`a b`"])
  }

  @Test("what stands in `#if` is told with the place of the condition")
  func conditions() {
    let found = declaration(
      """
      struct S {
        var a: Int
        #if DEBUG && (os(Linux) ||
          os(macOS))
        var b: Int
        #if swift(>=6)
        var c: Int
        #endif
        init() {}
        #elseif X
        var d: Int
        #else
        var e: Int
        #endif
        var f: Int
      }
      """)

    #expect(found.variables.map(\.name.text) == ["a", "b", "c", "d", "e", "f"])
    let conditions = found.variables.map { $0.condition != nil }
    #expect(conditions == [false, true, true, true, true, false])
    #expect(found.variables[1].condition != found.variables[2].condition)
    #expect(found.initializers.count == 1)
    #expect(found.unreadable.isEmpty)
  }

  @Test("attributes that a condition keeps from their member are told apart")
  func conditionalAttributes() {
    let found = declaration("struct S {\n#if A\n@Key\n#endif\nvar a: Int\n}")

    #expect(found.conditionalAttributes.map(\.name) == ["Key"])
    #expect(found.variables.map(\.attributes.count) == [0])
  }
}
