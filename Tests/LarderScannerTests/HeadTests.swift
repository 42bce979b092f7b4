import LarderScanner
import Testing

@Suite struct HeadTests {
  @Test("every kind of type is told by its keyword")
  func kinds() {
    #expect(declaration("struct A {}").kind == .structure)
    #expect(declaration("final class A {}").kind == .class)
    #expect(declaration("indirect enum A {}").kind == .enumeration)
    #expect(declaration("distributed actor A {}").kind == .actor)
    #expect(declaration("extension A.B where C == D {}").kind == .extension)
    #expect(declaration("protocol A {}").kind == .protocol)
    #expect(declaration("private(set) var a = 1").kind == .variable)
    #expect(declaration("class func a() {}").kind == .other)
    #expect(declaration("func a() {}").kind == .other)
    #expect(declaration("").kind == .other)
  }

  @Test("the head gives name, modifiers, attributes, generics and what is inherited")
  func head() {
    let found = declaration(
      """
      /// A comment with @Key and { braces.
      @Document(as: "people") @Larder.Other
      @available(macOS 15, *) public nonisolated struct Contact<T: Hashable, each U>:
        Equatable, Swift.Identifiable, any A & B, ~Copyable, @unchecked Sendable
      where T == Int { var id: Int }
      """)

    #expect(found.name.text == "Contact")
    #expect(found.modifiers.map(\.text) == ["public", "nonisolated"])
    #expect(found.attributes.map(\.name) == ["Document", "Other", "available"])
    #expect(found.attributes.map(\.qualifier) == [nil, "Larder", nil])
    #expect(
      found.attributes.map(\.arguments?.text) == ["as: \"people\"", nil, "macOS 15, *"])
    #expect(found.generics?.text == "<T: Hashable, each U>")
    #expect(
      found.inheritance.map(\.text) == [
        "Equatable", "Swift.Identifiable", "any A & B", "~Copyable", "@unchecked Sendable",
      ])
    #expect(found.variables.map(\.name.text) == ["id"])
  }

  @Test("offsets count the UTF-8 of the text")
  func offsets() throws {
    let source = "/* é */ struct Ø { @Key\n var `ü`: Int }"
    let found = declaration(source)
    let variable = try #require(found.variables.first)

    func text(_ offset: Int, _ count: Int) -> String {
      String(decoding: Array(source.utf8)[offset..<offset + count], as: UTF8.self)
    }
    #expect(text(found.keyword.offset, 6) == "struct")
    #expect(text(found.name.offset, 2) == "Ø")
    #expect(text(variable.attributes[0].offset, 4) == "@Key")
    #expect(text(variable.name.offset, 4) == "`ü`")
    #expect(variable.name.plainName == "ü")
  }

  @Test("a name that merely looks like a modifier is no modifier")
  func contextual() {
    #expect(
      names("var lazy = 1\nvar `class` = 2\nvar final: Int\nvar open, prefix: Int")
        == ["lazy", "`class`", "final", "open", "prefix"])
  }
}
