import Testing

/// What the macros refuse. In the sources `§` marks where the error is to point.
@Suite struct RefusalTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let source: String
    let message: String
    var macro = "Document"
    var context: [String] = []

    var testDescription: String { source }
  }

  private func check(_ macro: String, role: String, _ test: Case) throws {
    let parts = test.source.split(separator: "§", omittingEmptySubsequences: false)
    try #require(parts.count == 2)

    let expansion = try MacroPlugin().expand(
      macro, role: role, at: parts.joined(), in: test.context)

    #expect(expansion.problems.map(\.message) == [test.message])
    #expect(expansion.problems.map(\.severity) == ["error"])
    #expect(expansion.problems.map(\.file) == ["/a/é.swift"])
    #expect(expansion.problems.map(\.offset) == [1000 + parts[0].utf8.count])
    if role == "extension" {
      #expect(expansion.source == nil)
      let members = try MacroPlugin().expand(
        macro, role: "member", at: parts.joined(), in: test.context)
      #expect(members == Expansion(source: "", problems: []))
    }
  }

  static let types: [Case] = [
    Case(
      source: "@Document §@Document struct A { var id: Int }",
      message: "`A` is marked twice: `@Document` and `@Document`. Leave one of them"),
    Case(
      source: "@EmbeddedDocument §@Document struct A { var id: Int }",
      message: "`A` is marked twice: `@EmbeddedDocument` and `@Document`. Leave one of them"),
    Case(
      source: "struct A { var id: Int\n static let §schema = 1 }",
      message: """
        a static `schema` is what `@Document` writes. Give yours another name, or conform to `Document` by hand
        """),
    Case(
      source: "struct A { var id: Int\n enum §Larder {} }",
      message: """
        `Larder` is the module, which the macros name in what they write. Give this another name
        """),
    Case(
      source: "struct §Larder { var id: Int }",
      message: """
        `Larder` is the module, which the macros name in what they write. Give this another name
        """),
    Case(
      source: "/* é */ @Document final §class A { var id: Int }",
      message: """
        `@Document` needs a struct, because a document is a value. Write `struct A`, or keep this \
        type and store a struct of its own through an `EntityMapper`
        """),
    Case(
      source: "§actor A { var id: Int }",
      message: """
        `@Document` needs a struct, because a document is a value. Write `struct A`, or keep this \
        type and store a struct of its own through an `EntityMapper`
        """),
    Case(
      source: "indirect §enum A { case a }",
      message: """
        `@EmbeddedDocument` needs a struct. An enum can be a field: declare it `Storable` if it \
        has a raw value, or `Codable`
        """, macro: "EmbeddedDocument"),
    Case(source: "§protocol A {}", message: "`@Document` needs a struct"),
    Case(
      source: "struct A§<T> { var id: T }",
      message: """
        `@Document` does not write for generic types, which have no stored static properties, and \
        `A` is. Conform to `Document` by hand, with a computed `schema`
        """),
    Case(
      source: "struct §A { var id: Int }",
      message: """
        `@Document` does not write for generic types, which have no stored static properties, and \
        `B` around it is generic. Conform to `Document` by hand, with a computed `schema`
        """, context: ["enum B<T> {}"]),
    Case(
      source: "public struct A: Equatable, §~Copyable { var id: Int }",
      message: "`@Document` needs a struct that can be copied"),
    Case(
      source: "@Document §private struct A { var id: Int }",
      message: """
        `@Document` cannot write an extension of a type that is private to another. Write \
        `fileprivate` in front of `A`
        """, context: ["enum B {}"]),
    Case(
      source: "@Document struct §A { var id: Int }",
      message: """
        `@Document` cannot write an extension of a type that is private to another. Write \
        `fileprivate` in front of `B`
        """, context: ["private enum B {}", "class C {}"]),
    Case(
      source: "@Document struct A { var id: String; enum §Key: String { case a } }",
      message: """
        a type `Key` in a document is taken for the type of the document's key. Give it another name, or \
        declare it elsewhere
        """),
    Case(
      source: "@Document(as: §Names.a) struct A { var id: Int }",
      message: "the name on disk has to stand here as a text in quotation marks"),
    Case(
      source: "struct A { var id: Int; @Stored(as: §Names.tel) var tel: Int }",
      message: "the name on disk has to stand here as a text in quotation marks"),
    Case(
      source: "struct A { var §id = IDGenerator.next() }",
      message: "the type of the key cannot be seen here. Write it: `id: String`"),
    Case(
      source: "struct A { var §id = Intake.first }",
      message: "the type of the key cannot be seen here. Write it: `id: String`"),
    Case(
      source: "struct §A { var name: String }",
      message: """
        `A` has no key. Mark the property that identifies it with `@Key`, name it `id`, or write \
        `@EmbeddedDocument` if it is only stored inside other documents
        """),
    Case(
      source: "struct §A { static var id = 1; var name: String }",
      message: """
        `A` has no key. Mark the property that identifies it with `@Key`, name it `id`, or write \
        `@EmbeddedDocument` if it is only stored inside other documents
        """),
    Case(
      source: "struct §A { @Transient var id = 1 }",
      message: """
        `A` has no key. Mark the property that identifies it with `@Key`, name it `id`, or write \
        `@EmbeddedDocument` if it is only stored inside other documents
        """),
  ]

  @Test("types that cannot be documents are refused at the word that is to blame", arguments: types)
  func type(test: Case) throws { try check(test.macro, role: "extension", test) }

  static let properties: [Case] = [
    Case(
      source: "struct A { var id: Int\n @Indexed §@Indexed(unique: true) var a = 1 }",
      message: "`a` is marked `@Indexed` twice. Leave one of them"),
    Case(
      source:
        #"struct A { var id: Int; @Stored(as: "x") @Searchable §@Stored(as: "y") var a = "" }"#,
      message: "`a` is marked `@Stored` twice. Leave one of them"),
    Case(
      source: "struct A { var id: Int\n @Searchable(weight: §0) var a = \"\" }",
      message: "a weight is from 1 to 100"),
    Case(
      source: "struct A { var id: Int\n var §Larder: Int }",
      message: """
        `Larder` is the module, which the macros name in what they write. Give this another name
        """),
    Case(
      source: "struct A { @Key var a: Int\n @Key var §b: Int }",
      message: "`A` has two keys. Leave `@Key` at one of them"),
    Case(
      source: "struct A { var §id = makeKey() }",
      message: "the type of the key cannot be seen here. Write it: `id: String`"),
    Case(
      source: "struct A { @Key var §a: String? }",
      message: "a key cannot be nil. Write its type without the optional"),
    Case(
      source: "struct A { @Key var §a: Optional<Int> }",
      message: "a key cannot be nil. Write its type without the optional"),
    Case(
      source: "struct A { var §id: Double }",
      message: """
        a `Double` cannot be a key: a key is a `String`, an integer or a `UUID`, or an enum or \
        struct with such a raw value that is declared `Storable` and `DocumentKey`. Give `id` such a type, or \
        mark another property with `@Key`
        """),
    Case(
      source: "struct A { @Key var §day: Foundation.Date }",
      message: """
        a `Foundation.Date` cannot be a key: a key is a `String`, an integer or a `UUID`, or an \
        enum or struct with such a raw value that is declared `Storable` and `DocumentKey`. Give `day` such a \
        type, or mark another property with `@Key`
        """),
    Case(
      source: "struct A { var §id: [Int] }",
      message: """
        a `[Int]` cannot be a key: a key is a `String`, an integer or a `UUID`, or an enum or \
        struct with such a raw value that is declared `Storable` and `DocumentKey`. Give `id` such a type, or \
        mark another property with `@Key`
        """),
    Case(
      source: "struct A { var id: Int\n var §(a, b) = (1, 2) }",
      message: "`@Document` stores no tuples: write a `var` for each of (a, b)"),
    Case(
      source: "struct A {\n var id: Int\n #if DEBUG\n var §a = 1\n #endif\n}",
      message: """
        `a` stands in `#if`, and a record's fields are the same in all builds. Declare it in all \
        of them, mark it `@Transient`, or conform to `Document` by hand
        """),
    Case(
      source: "struct A { var id: Int\n let §a = 1 }",
      message: """
        `a` is a `let` with an initial value, which a record could not replace. Write `var a`, or \
        mark it `@Transient` to leave it out
        """),
    Case(
      source: "struct A { var id: Int\n @Transient var §a: [Int] }",
      message: """
        `a` is `@Transient` and needs an initial value, which it has after reading: `var a: [Int] \
        = ...`
        """),
    Case(
      source: "struct A { var id: Int\n @Transient let §a: Int? }",
      message: """
        `a` is `@Transient` and needs an initial value, which it has after reading: `var a: Int? \
        = ...`
        """),
    Case(
      source: "struct A { var id: Int\n @Transient §@Indexed var a = 1 }",
      message: "`a` is `@Transient`, and what is not stored cannot be `@Indexed`"),
    Case(
      source: "struct A { var id: Int\n §@Indexed var a: Int { 1 } }",
      message: "`@Indexed` belongs in front of a stored property, and `a` is computed"),
    Case(
      source: "struct A { var id: Int\n §@Key static var a = 1 }",
      message: "`@Key` belongs in front of a stored property, and `a` is static"),
    Case(
      source: "struct A { var id: Int\n §@Stored(as: \"b\") lazy var a = 1 }",
      message: "`@Stored` belongs in front of a stored property, and `a` is lazy"),
    Case(
      source: "struct A { var id: Int\n var a = 1\n §@Stored(as: \"a\") var b = 1 }",
      message: """
        `b` and `a` are both stored as "a". Give one another name: `@Stored(as: "...")`
        """),
    Case(
      source: "struct A {\n #if X\n §@Indexed\n #endif\n var id: Int }",
      message:
        "`@Indexed` cannot depend on `#if`: a record's fields are the same in all builds"),
    Case(
      source: "struct A {\n var id: Int\n §future var a: Int\n}",
      message: """
        `@Document` cannot read this member. Write it another way, or conform to `Document` by hand
        """),
    Case(
      source: "struct A { §@Key var a: Int }",
      message: """
        an embedded document has no key. Write `@Document` if `A` is to be stored on its own
        """, macro: "EmbeddedDocument"),
    Case(
      source: "struct A { §@Indexed var a: Int }",
      message: """
        a field of an embedded document is indexed by the document around it: `static let \
        indexes: [Index<...>] = [Index(\\.field.inner)]`
        """, macro: "EmbeddedDocument"),
  ]

  @Test("properties that cannot be fields are refused at the right place", arguments: properties)
  func property(test: Case) throws { try check(test.macro, role: "extension", test) }

  static let rules: [Case] = [
    Case(
      source: "struct A { var id: Int\n §@Merge(.counter) var name: String }",
      message: """
        `name` is a `String`, and `.counter` adds up numbers. Write `.max` for the larger one or \
        `.custom { ... }`, or leave `@Merge` out: the last writer wins then
        """),
    Case(
      source: "struct A { var id: Int\n §@Merge(.counter) var tags = [\"a\"] }",
      message: """
        `tags` is a `[String]`, and `.counter` adds up numbers. Write `.set` to keep what either \
        side has added, or leave `@Merge` out: the last writer wins then
        """),
    Case(
      source: "struct A { var id: Int\n §@Merge(.counter) var link: Foundation.URL? }",
      message: """
        `link` is a `Foundation.URL?`, and `.counter` adds up numbers. Write `.custom { ... }`, or \
        leave `@Merge` out: the last writer wins then
        """),
    Case(
      source: "struct A { var id: Int\n §@Merge(.set) var stock = 1 }",
      message: """
        `stock` is an `Int`, and `.set` merges the elements of an array or of a `Set`. Write \
        `.counter` to add both changes up, `.max` for the larger value, or leave `@Merge` out: the \
        last writer wins then
        """),
    Case(
      source: "struct A { var id: Int\n §@Merge(.set) var byName: [String: [Int]] }",
      message: """
        `byName` is a `[String: [Int]]`, and `.set` merges the elements of an array or of a `Set`. \
        Write `.custom { ... }`, or leave `@Merge` out: the last writer wins then
        """),
    Case(
      source: "struct A { var id: Int\n §@Merge(.max) var tags: Set<String> }",
      message: """
        `tags` is a `Set<String>`, and `.max` takes the larger of two numbers, dates or texts. \
        Write `.set` to keep what either side has added, or leave `@Merge` out: the last writer \
        wins then
        """),
    Case(
      source: "struct A { var id: Int\n §@Merge(.max) var picture: Optional<Data> }",
      message: """
        `picture` is an `Optional<Data>`, and `.max` takes the larger of two numbers, dates or \
        texts. Write `.custom { ... }`, or leave `@Merge` out: the last writer wins then
        """),
    Case(
      source: "struct A { var id: Int\n §@Merge(rule) var a = 1 }",
      message: """
        `@Merge` needs a rule that is written here: `.lastWriter`, `.counter`, `.set`, `.max` or \
        `.custom { ... }`
        """),
    Case(
      source: "struct A { var id: Int\n §@Merge(.counter.self) var a = 1 }",
      message: """
        `@Merge` needs a rule that is written here: `.lastWriter`, `.counter`, `.set`, `.max` or \
        `.custom { ... }`
        """),
    Case(
      source: "struct A { var id: Int\n @Merge(.max) §@Merge(.counter) var a = 1 }",
      message: "`a` is marked `@Merge` twice. Leave one of them"),
    Case(
      source: "struct A { §@Merge(.counter) var id: Int }",
      message: """
        `id` is the key, which is the same on all devices and never merged. Take `@Merge` away
        """),
    Case(
      source: "struct A { var id: Int\n @Transient §@Merge(.counter) var a = 1 }",
      message: "`a` is `@Transient`, and what is not stored cannot be `@Merge`"),
    Case(
      source: "struct A { var id: Int\n §@Merge(.counter) var a: Int { 1 } }",
      message: "`@Merge` belongs in front of a stored property, and `a` is computed"),
    Case(
      source: "struct A { §@Merge(.counter) var a = \"\" }",
      message: """
        `a` is a `String`, and `.counter` adds up numbers. Write `.max` for the larger one or \
        `.custom { ... }`, or leave `@Merge` out: the last writer wins then
        """, macro: "EmbeddedDocument"),
  ]

  @Test("rules of merging that mean nothing are refused with what to write", arguments: rules)
  func rule(test: Case) throws { try check(test.macro, role: "extension", test) }

  static let attributes: [Case] = [
    Case(
      source: "§@Merge(.max) var a: Int",
      message: """
        `@Merge` means nothing here: `A` is not marked `@Document` or `@EmbeddedDocument`
        """, macro: "Merge", context: ["struct A {}"]),
    Case(
      source: "/// é\n §@Key var a: Int",
      message: """
        `@Key` means nothing here: `A` is not marked `@Document` or `@EmbeddedDocument`
        """, macro: "Key", context: ["struct A {}", "@Document struct B {}"]),
    Case(
      source: "@X §@Indexed var a: Int",
      message: """
        `@Indexed` means nothing here: an extension is not marked `@Document` or \
        `@EmbeddedDocument`
        """, macro: "Indexed", context: ["extension A {}"]),
    Case(
      source: "§@Transient func f() {}",
      message: "`@Transient` belongs in front of a stored property", macro: "Transient",
      context: ["@Document struct A {}"]),
    Case(
      source: "§@Stored(as: \"b\") init() {}",
      message: "`@Stored` belongs in front of a stored property", macro: "Stored",
      context: ["@Document struct A {}"]),
  ]

  @Test("attributes where they mean nothing are refused", arguments: attributes)
  func attribute(test: Case) throws { try check(test.macro, role: "peer", test) }

  @Test("every mistake is told at once, and a second key with where the first one is")
  func several() throws {
    let expansion = try MacroPlugin().expand(
      at: "struct A { @Key var a: Int; @Key var b: Int; let c = 1; var (d, e) = (1, 2) }")

    #expect(expansion.problems.count == 3)
    #expect(expansion.problems.last?.notes == ["the other one is here at 1020"])
  }

  @Test("attributes of other packages with the same names are not ours")
  func others() throws {
    let source = try MacroPlugin().expand(
      role: "member",
      at:
        "struct A { @Other.Key var a: Int; @Larder.Key var b: Int; @SwiftData.Transient var c: Int }"
    ).source

    #expect(source?.contains("documentKey: \\.b") == true)
    #expect(source?.contains("\"c\", \\.c)") == true)
  }
}
