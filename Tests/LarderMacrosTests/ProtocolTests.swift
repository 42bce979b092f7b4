import Foundation
import Testing

@Suite struct ProtocolTests {
  private static let expansion = """
    {"expandAttachedMacro":{"macro":{"typeName":"Document"},"macroRole":"extension",\
    "attributeSyntax":{"source":"@Document","location":{"fileName":"a.swift","offset":7}},\
    "declSyntax":{"source":"struct A {}","location":{"fileName":"a.swift","offset":17}}}}
    """

  @Test("the plugin ends quietly when the compiler closes the pipe")
  func end() throws {
    #expect(try MacroPlugin().end() == 0)
    #expect(try MacroPlugin(compilerVersion: 0).end() == 0)
  }

  @Test("a compiler of an older protocol is told to be too old, in the words that it knows")
  func tooOld() throws {
    for version in [nil, 0, 4] {
      let answer = try MacroPlugin(compilerVersion: version).send(text: Self.expansion)
      #expect(answer.hasPrefix("{\"expandAttachedMacroResult\":{\"diagnostics\":[{"))
      #expect(answer.contains("this compiler is too old for Larder's macros"))
      #expect(answer.contains("\"expandedSources\":null"))
    }
    let answer = try MacroPlugin(compilerVersion: 6).send(text: Self.expansion)
    let expansion = try Expansion(answer: answer)
    #expect(expansion.source == nil)
    #expect(
      expansion.problems.map(\.message) == [
        """
        this compiler is too old for Larder's macros: it speaks version 6 of the macro protocol, \
        and they need 7. Update Swift, or write the conformance by hand
        """
      ])
    #expect(expansion.problems.first?.file == "a.swift")
    #expect(expansion.problems.first?.offset == 7)
  }

  @Test("a newer compiler is served, and is named where it is not understood")
  func newer() throws {
    let plugin = try MacroPlugin(compilerVersion: 9)

    #expect(try plugin.expand(at: "struct A { var id: Int }").source != nil)
    for message in ["{\"expandAllMacros\":{}}", "{\"expandAttachedMacro\":{\"macro\":8}}"] {
      let expansion = try Expansion(answer: try plugin.send(text: message))
      #expect(expansion.source == nil)
      #expect(
        expansion.problems.first?.message.contains(
          """
          this compiler is newer than Larder's macros: it speaks version 9 of the macro protocol, \
          they know 7. Update Larder, or write the conformance by hand
          """) == true)
    }
  }

  @Test(
    "what is no message that the plugin knows is answered, and the next one is served",
    arguments: [
      "", "{", "[]", "null", "{}", "{\"a\"", "{\"a\":", "\"\\ud800\"",
      "{\"expandAttachedMacro\":{}}",
      "{\"expandAttachedMacro\":[1,2", "nul", "{\"a\":1}x", String(repeating: "[", count: 100_000),
      String(repeating: "{\"a\":", count: 100_000), "\"", "-", "\u{0}",
    ])
  func unknown(message: String) throws {
    let plugin = try MacroPlugin()

    let expansion = try Expansion(answer: try plugin.send(text: message))

    #expect(expansion.source == nil)
    #expect(
      expansion.problems.first?.message.contains("do not understand each other") == true)
    #expect(try plugin.expand(at: "struct A { var id: Int }").source != nil)
  }

  @Test("macros that stand for themselves, and libraries, are declined")
  func declined() throws {
    let plugin = try MacroPlugin()

    let freestanding = try Expansion(
      answer: try plugin.send(text: "{\"expandFreestandingMacro\":{\"macro\":{}}}"))
    #expect(freestanding.problems.map(\.message) == ["Larder has no macro that stands for itself"])
    #expect(
      try plugin.send(text: "{\"loadPluginLibrary\":{\"libraryPath\":\"\"}}")
        == "{\"loadPluginLibraryResult\":{\"diagnostics\":[],\"loaded\":false}}")
    #expect(
      try plugin.expand("Index", at: "struct A {}").problems.map(\.message)
        == ["Larder has no macro `Index` that makes a declaration's extension"])
  }

  @Test("text of any script, and every escape, goes through the protocol unharmed")
  func text() throws {
    let name = "größe\\u0007\t\"🐶\u{2028}"
    let source = "struct A { @Stored(as: #\"\(name)\"#) var id = 1 }"

    let expansion = try MacroPlugin().expand(role: "member", at: source)

    #expect(expansion.source?.contains("Larder.Field(#\"\(name)\"#, \\.id)") == true)
  }

  @Test("escapes of characters are read, in pairs where they are pairs")
  func escapes() throws {
    let message = """
      {"expandAttachedMacro":{"macro":{"typeName":"Document"},"macroRole":"member",\
      "attributeSyntax":{"source":"","location":{"fileName":"","offset":0}},"declSyntax":\
      {"source":"struct A {\\n@Stored(as: \\"\\ud83d\\udc36\\u00e9\\u000b\\/\\b\\f\\t\\") var id = 1 }",\
      "location":{"fileName":"","offset":0}}}}
      """

    let expansion = try Expansion(answer: try MacroPlugin().send(text: message))

    #expect(
      expansion.source?.contains("Larder.Field(\"🐶é\u{B}/\u{8}\u{C}\t\", \\.id)") == true)
  }

  @Test("a length that no message has ends the plugin")
  func length() throws {
    let process = Process()
    let input = Pipe()
    process.executableURL = try BuildFolder.current().plugin
    process.standardInput = input
    process.standardOutput = Pipe()
    try process.run()

    try input.fileHandleForWriting.write(contentsOf: Data(repeating: 0xFF, count: 8))
    process.waitUntilExit()

    #expect(process.terminationStatus == 0)
    #expect(process.terminationReason == .exit)
  }
}
