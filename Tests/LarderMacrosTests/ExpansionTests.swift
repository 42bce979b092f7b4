import Testing

@Suite struct ExpansionTests {
  @Test("searchable properties are marked in the schema, and the document gets its search index")
  func searchable() throws {
    let source = """
      @Document public struct Note {
        public var id: Int
        @Searchable(weight: 3) var title = "untitled"
        @Searchable var place: Place?
      }
      """

    let expansion = try MacroPlugin().expand(role: "member", at: source)

    #expect(expansion.problems.isEmpty)
    let text = try #require(expansion.source)
    #expect(
      text.contains(
        #"Larder.Field("title", \.title, default: "untitled").searchable(\.title, weight: 3),"#))
    #expect(text.contains(#"Larder.Field("place", \.place).searchable(\.place),"#))
    #expect(
      text.contains(
        "public nonisolated static let search: Larder.SearchIndex<Self> = Larder.SearchIndex()"))
    // What is written by hand stays, and an embedded document has no index of its own.
    let own = source.replacing("public var id", with: "static let search = f()\n  public var id")
    #expect(
      try MacroPlugin().expand(role: "member", at: own).source?.contains("SearchIndex") == false)
    let inner = source.replacing("@Document", with: "@EmbeddedDocument")
    let embedded = try MacroPlugin().expand("EmbeddedDocument", role: "member", at: inner)
    #expect(embedded.source?.contains("SearchIndex") == false)
    #expect(embedded.source?.contains(".searchable(\\.title, weight: 3)") == true)
  }

  @Test("rules of merging stand in the schema, behind an index and as they were written")
  func merging() throws {
    let source = """
      @Document struct Item {
        var id: Int
        @Merge(.counter) @Indexed var stock = 0
        @Merge(Larder.MergeRule.max) var seen: Date?
        @Stored(as: "sh") @Merge(.set) var shops: Shops
        @Merge(.custom { (a: Int?, b: Int?, c: Int?) in [a, b, c].compactMap { $0 }.max() }) var top: Int
        @Larder.Merge( .lastWriter ) var name: Name
      }
      """

    let expansion = try MacroPlugin().expand(role: "member", at: source)

    #expect(expansion.problems.isEmpty)
    let text = try #require(expansion.source)
    for line in [
      #"Larder.Field("stock", \.stock, default: 0).indexed().merged(\.stock, by: .counter),"#,
      #"Larder.Field(stored: "seen", \.seen).merged(\.seen, by: .max),"#,
      #"Larder.Field(stored: "sh", \.shops).merged(\.shops, by: .set),"#,
      #"by: .custom { (a: Int?, b: Int?, c: Int?) in [a, b, c].compactMap { $0 }.max() }),"#,
      #"Larder.Field(stored: "name", \.name).merged(\.name, by: .lastWriter),"#,
    ] {
      #expect(text.contains(line), "\(line)")
    }
    let embedded = try MacroPlugin().expand(
      "EmbeddedDocument", role: "member", at: "struct A { @Merge(.counter) var a = 1.5 }")
    #expect(embedded.source?.contains(".merged(\\.a, by: .counter)") == true)
  }

  @Test("the conformance is written as a person would write it")
  func whole() throws {
    let source = """
      /// A person.
      @Document
      struct Contact: Equatable {
        var id: String                       // the key
        @Stored(as: "tel") var phone = ""    // renamed
        @Indexed var city: String
        @Indexed(unique: true, descending: true) var order = 0
        var tags: [String] = []
        var geo: Geo?
        var note: String! = nil
        var channel = Channel.unknown { didSet { print(channel) } }
        var `default`: [String: (any P)?] = [
          "a": nil,  // two lines
        ]
        var full: String { id + city }
        @Transient var cache: [Int] = []
        lazy var slow = f()
        static let shared = Contact()
      }
      """

    let expansion = try MacroPlugin().expand(role: "member", at: source)

    #expect(expansion.problems.isEmpty)
    #expect(
      expansion.source == #"""
        nonisolated static let schema: Larder.Schema<Self> = Larder.Schema(
          "Contact", documentKey: \.id,
          fields: [
            Larder.Field("id", \.id),
            Larder.Field(stored: "tel", \.phone, default: ""),
            Larder.Field("city", \.city).indexed(),
            Larder.Field("order", \.order, default: 0).indexed(unique: true, descending: true),
            Larder.Field(stored: "tags", \.tags, default: []),
            Larder.Field(stored: "geo", \.geo),
            Larder.Field(stored: "note", \.note),
            Larder.Field(stored: "channel", \.channel, default: Channel.unknown),
            Larder.Field(stored: "default", \.`default`, default: [
            "a": nil,  // two lines
          ]),
          ])

        nonisolated var entityAccessorKey: String { self.id }

        nonisolated func encode(into record: inout Larder.RecordWriter) {
          record.put(stored: self.id, at: 0)
          record.put(stored: self.phone, at: 1)
          record.put(stored: self.city, at: 2)
          record.put(stored: self.order, at: 3)
          record.put(stored: self.tags, at: 4)
          record.put(stored: self.geo, at: 5)
          record.put(stored: self.note, at: 6)
          record.put(stored: self.channel, at: 7)
          record.put(stored: self.`default`, at: 8)
        }
        """#)
    #expect(
      try MacroPlugin().expand(at: source).source == #"""
        extension Contact: nonisolated Larder.Document {
          nonisolated init(from record: borrowing Larder.RecordReader) throws(Larder.RecordError) {
            self.init(
              id: try record.get(stored: 0, as: String.self),
              phone: try record.get(stored: 1),
              city: try record.get(stored: 2, as: String.self),
              order: try record.get(stored: 3),
              tags: try record.get(stored: 4, as: [String].self),
              geo: try record.get(stored: 5, as: Geo?.self),
              note: try record.get(stored: 6, as: String?.self),
              channel: try record.get(stored: 7),
              default: try record.get(stored: 8, as: ([String: (any P)?]).self)
            )
          }
        }
        """#)
  }

  @Test("an embedded document has no key")
  func embedded() throws {
    let source = "public struct Geo { var lat: Double }"
    let plugin = try MacroPlugin()

    #expect(
      try plugin.expand("EmbeddedDocument", role: "member", at: source).source == #"""
        public nonisolated static let schema: Larder.Schema<Self> = Larder.Schema(
          "Geo",
          fields: [
            Larder.Field(stored: "lat", \.lat),
          ])

        public nonisolated func encode(into record: inout Larder.RecordWriter) {
          record.put(stored: self.lat, at: 0)
        }
        """#)
    #expect(
      try plugin.expand("EmbeddedDocument", at: source, extending: "Geo").source == #"""
        extension Geo: nonisolated Larder.EmbeddedDocument {
          public nonisolated init(from record: borrowing Larder.RecordReader) throws(Larder.RecordError) {
            self.init(
              lat: try record.get(stored: 0, as: Double.self)
            )
          }
        }
        """#)
  }

  @Test("inside another type no types are named: an extension would not find them")
  func nested() throws {
    let source = try MacroPlugin().expand(
      at: "struct A { var id: Kind }", extending: "B.A", in: ["enum B {}"]
    ).source

    #expect(source?.contains("self.init(\n      id: try record.get(stored: 0)\n    )") == true)
  }

  /// Bodies, and whether the memberwise initializer may be called.
  static let bodies: [(String, Bool)] = [
    ("var id: Int", true),
    ("var id: Int\n private(set) var a = 1", true),
    ("var id: Int\n private var a: Int { 1 }", true),
    ("var id: Int\n private static var a = 1", true),
    ("var id: Int\n @available(*, deprecated) var a = 1\n @MainActor func f() {}", true),
    ("var id: Int\n struct N { init() {} }", true),
    ("var id: Int\n init() { id = 1 }", false),
    ("var id: Int\n #if A\n init() { id = 1 }\n #endif", false),
    ("var id: Int\n private var a = 1", false),
    ("var id: Int\n fileprivate let a: Int", false),
    ("var id: Int\n @Transient private var a = 1", false),
    ("var id: Int\n private lazy var a = 1", false),
    ("var id: Int\n @Clamped var a = 1", false),
  ]

  @Test("the memberwise initializer is called where there is one to call", arguments: bodies)
  func memberwise(body: String, isMemberwise: Bool) throws {
    let source = try #require(try MacroPlugin().expand(at: "struct A {\n\(body)\n}").source)

    #expect(source.contains("self.init(") == isMemberwise)
    #expect(source.contains("self.id = try record.get(stored: 0, as: Int.self)") == !isMemberwise)
  }

  @Test("the key is the property that is marked, and `id` where none is")
  func key() throws {
    let plugin = try MacroPlugin()
    func key(_ body: String) throws -> String? {
      try plugin.expand(role: "member", at: "struct A {\n\(body)\n}").source?.split(separator: "\n")
        .first { $0.contains("var entityAccessorKey") }
        .map { String($0.drop { $0 == " " }) }
    }

    #expect(
      try key("var id: Int\n@Key var code: String")
        == "nonisolated var entityAccessorKey: String { self.code }")
    #expect(
      try key("let `id`: UUID") == "nonisolated var entityAccessorKey: UUID { self.`id` }")
    #expect(
      try key("var id = UUID()") == "nonisolated var entityAccessorKey: UUID { self.id }")
    #expect(
      try key("@Larder.Key var a = -1") == "nonisolated var entityAccessorKey: Int { self.a }")
    #expect(try key("var a: Int\nvar entityAccessorKey: Int { a }") == nil)
    #expect(try key("@Key var entityAccessorKey: Int") == nil)
  }

  @Test("beside an accessor of the type's own `id` is a field like others, unless it is marked")
  func ownAccessor() throws {
    let plugin = try MacroPlugin()
    func members(_ properties: String) throws -> String {
      let expansion = try plugin.expand(
        role: "member",
        at:
          "struct A {\n\(properties)\nvar entityAccessorKey: String { String(describing: id) }\n}")
      return try #require(expansion.source)
    }

    let plain = try members("var id = \"\"")
    #expect(!plain.contains("documentKey"))
    #expect(plain.contains(#"Larder.Field(stored: "id", \.id, default: ""),"#))
    // Nothing is asked of a type that is none of a key.
    #expect(try members("var id: Double?").contains(#"Larder.Field(stored: "id", \.id),"#))
    let marked = try members("@Key var id = \"\"")
    #expect(marked.contains("documentKey: \\.id,"))
    #expect(marked.contains(#"Larder.Field("id", \.id),"#))
    #expect(!marked.contains("var entityAccessorKey"))
  }

  @Test("a key has no default: a record without its key is damaged")
  func keyDefault() throws {
    let source = try MacroPlugin().expand(
      role: "member", at: "struct A { var id = UUID(); var a = UUID() }"
    ).source

    #expect(source?.contains(#"Larder.Field("id", \.id),"#) == true)
    #expect(source?.contains(#"Larder.Field(stored: "a", \.a, default: UUID()),"#) == true)
  }

  @Test("access, availability and the collection's name are those of the type")
  func head() throws {
    let plugin = try MacroPlugin()

    let type =
      "@available(macOS 99, *) @Document(as: \"people\")\npackage struct A { let id: Int }"
    let context = ["@available(iOS 99, *) enum B {}", "@MainActor struct C {}"]

    #expect(
      try plugin.expand(at: type, in: context).source?.hasPrefix(
        "@available(iOS 99, *)\n@available(macOS 99, *)\nextension Contact: nonisolated") == true)
    let members = try #require(try plugin.expand(role: "member", at: type, in: context).source)
    #expect(members.hasPrefix("package nonisolated static let schema: "))
    #expect(members.contains("\n  \"people\", documentKey: \\.id,\n"))
    #expect(
      try plugin.expand(at: "open struct A { let id: Int }").source?.contains("open") == false)
  }

  @Test("a type without access of its own has that of the extension right around it")
  func outerAccess() throws {
    let plugin = try MacroPlugin()
    func firstWord(_ type: String, in context: String...) throws -> String {
      let expansion = try plugin.expand(role: "member", at: type, in: context)
      return String(try #require(expansion.source).prefix { $0 != " " })
    }
    let type = "@Document struct A { var id: Int }"

    #expect(try firstWord(type, in: "public extension B {}") == "public")
    #expect(try firstWord(type, in: "@available(macOS 99, *) package extension B {}") == "package")
    #expect(try firstWord(type, in: "fileprivate extension B {}") == "nonisolated")
    #expect(try firstWord(type, in: "extension B {}", "public struct B {}") == "nonisolated")
    #expect(try firstWord(type, in: "public struct B {}") == "nonisolated")
    #expect(try firstWord(type, in: "struct C {}", "public extension B {}") == "nonisolated")
    #expect(
      try firstWord("internal struct A { var id: Int }", in: "public extension B {}")
        == "nonisolated")
    #expect(
      try firstWord("public struct A { var id: Int }", in: "package extension B {}") == "public")
    #expect(
      try plugin.expand(at: type, in: ["public extension B {}"]).source?
        .contains("  public nonisolated init(from record: ") == true)
  }

  @Test("a conformance that the type declares itself is not written again")
  func declared() throws {
    let source = try MacroPlugin().expand(at: "struct A: Document { let id: Int }", missing: [])
      .source

    #expect(source?.hasPrefix("extension Contact {\n") == true)
  }

  @Test("the attributes of properties write nothing, wherever they are understood")
  func attributes() throws {
    let plugin = try MacroPlugin()

    for (macro, source) in [
      ("Key", "@Key var a: Int"), ("Indexed", "@Larder.Indexed(unique: true) var a: Int"),
      ("Stored", "@Stored(as: \"b\") let a: Int"), ("Transient", "@Transient var a = 1"),
    ] {
      for owner in ["@Document struct A {}", "@Larder.EmbeddedDocument struct A {}"] {
        let expansion = try plugin.expand(
          macro, role: "peer", at: source, in: [owner, "enum B {}"])
        #expect(expansion == Expansion(source: "", problems: []))
      }
    }
  }
}
