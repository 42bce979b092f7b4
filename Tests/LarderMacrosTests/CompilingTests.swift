import Foundation
import Testing

/// What the compiler makes of programs that use the macros.
@Suite struct CompilingTests {
  @Test("misuse is refused at its line and column, with what to write instead")
  func misuse() throws {
    var source = ""
    var expected: [(line: Int, column: Int, text: String)] = []
    for (index, line) in try Compiler.source("Misuse").split(
      separator: "\n", omittingEmptySubsequences: false
    ).enumerated() {
      let parts = line.split(separator: "§", omittingEmptySubsequences: false)
      source += parts.joined() + "\n"
      guard parts.count == 2, let text = line.components(separatedBy: "✗ ").last else { continue }
      expected.append((index + 1, parts[0].utf8.count + 1, text))
    }
    #expect(expected.count == 20)

    let errors = try Compiler.messages(source, "-swift-version", "6")
      .filter { $0.severity == "error" }.sorted { $0.line < $1.line }

    let found = errors.filter { $0.text.contains("(from macro '") }
    #expect(found.map(\.line) == expected.map(\.line))
    #expect(found.map(\.column) == expected.map(\.column))
    #expect(found.allSatisfy { $0.file == "file.swift" })
    for (error, expected) in zip(found, expected) {
      #expect(error.text.contains(expected.text), "\(error)")
    }
    // What follows from a conformance that was not written is for the compiler to say.
    #expect(errors.count == found.count)
  }

  @Test("a type that can be no field, index or key is told what to declare")
  func types() throws {
    let errors = try Compiler.messages(try Compiler.source("Types"), "-swift-version", "6")
      .filter { $0.severity == "error" }

    let fields = errors.filter { $0.text.contains("the type of this property cannot be a field") }
    let native = errors.filter {
      $0.text.contains("is not `Storable`, and a key or an indexed field has to be")
    }
    #expect(fields.count == 2)
    #expect(native.count == 3)
  }

  @Test("a rule that does not fit a type whose name does not show it is refused by the compiler")
  func rules() throws {
    let errors = try Compiler.messages(try Compiler.source("Merging"), "-swift-version", "6")
      .filter { $0.severity == "error" }

    for (text, count) in [
      ("`.counter` adds up numbers", 3), ("`.set` merges the elements", 2),
      ("`.max` takes the larger", 3),
    ] {
      #expect(errors.count { $0.text.contains(text) } == count, "\(text) \(errors)")
    }
    #expect(errors.count == 8)
  }

  @Test("all that may be written compiles without a warning", arguments: ["5", "6"])
  func everything(version: String) throws {
    var source = try Compiler.source("Everything") + (try Compiler.source("Wrapped"))
    // Swift 5 knows no regular expressions between slashes.
    if version != "5" { source += try Compiler.source("Regexes") }

    #expect(try Compiler.messages(source, "-swift-version", version) == [])
  }

  @Test("it compiles where everything belongs to the main actor, and with every upcoming feature")
  func isolated() throws {
    let messages = try Compiler.messages(
      try Compiler.source("Everything"), "-swift-version", "6", "-default-isolation", "MainActor",
      "-enable-upcoming-feature", "ExistentialAny", "-enable-upcoming-feature",
      "InternalImportsByDefault", "-enable-upcoming-feature", "MemberImportVisibility",
      "-enable-upcoming-feature", "NonisolatedNonsendingByDefault", "-enable-upcoming-feature",
      "InferIsolatedConformances")

    #expect(messages == [])
  }

  /// The lines of a source that say what is wrong with them, behind `✗`.
  private func mistakes(in source: String) -> [(line: Int, text: String)] {
    source.components(separatedBy: "\n").enumerated().compactMap { index, line in
      line.components(separatedBy: "✗ ").dropFirst().first.map { (line: index + 1, text: $0) }
    }
  }

  @Test("calls that mean nothing are refused with what to write instead")
  func calls() throws {
    let source = try Compiler.source("Calls")
    let expected = mistakes(in: source)
    #expect(expected.count == 21)

    let errors = try Compiler.messages(source, "-swift-version", "6")
      .filter { $0.severity == "error" }.sorted { $0.line < $1.line }

    #expect(errors.map(\.line) == expected.map(\.line))
    for (error, expected) in zip(errors, expected) {
      #expect(error.text.contains(expected.text), "\(error)")
    }
  }

  @Test("a key of a type that cannot be one is refused with those that can, whatever its name")
  func keys() throws {
    let source = try Compiler.source("Keys")

    let errors = try Compiler.messages(source, "-swift-version", "6")
      .filter { $0.severity == "error" }

    let keys = errors.filter {
      $0.text.contains("the type of this property cannot be a key: a key is")
    }
    #expect(keys.count == 3)
  }

  @Test("where everything belongs to the main actor a plain type has to be nonisolated")
  func isolatedPlainTypes() throws {
    let messages = try Compiler.messages(
      try Compiler.source("PlainTypes"), "-swift-version", "6", "-default-isolation", "MainActor")

    #expect(!messages.isEmpty)
    // Those of `Isolated`; `Free` is taken.
    #expect(messages.allSatisfy { $0.line == 7 })
    #expect(
      messages.allSatisfy { $0.text.contains("main actor-isolated conformance of 'Isolated'") })
  }

  @Test(
    "there, enums that are compared and models whose entity is hidden have to be nonisolated, too")
  func isolatedEnumsAndModels() throws {
    let source = try Compiler.source("MainActorTypes")
    let expected = mistakes(in: source)
    #expect(expected.count == 3)

    let messages = try Compiler.messages(
      source, "-swift-version", "6", "-default-isolation", "MainActor"
    ).sorted { $0.line < $1.line }

    #expect(messages.map(\.line) == expected.map(\.line))
    for (message, expected) in zip(messages, expected) {
      #expect(message.text.contains(expected.text), "\(message)")
    }
  }

  @Test(
    "the note beside the refusal of a plain type shows what to write",
    arguments: ["", ", collection: \"a\""])
  func isolatedPlainTypeNote(collection: String) throws {
    let source = try Compiler.source("PlainTypes")
      .replacing("Isolated.self", with: "Isolated.self\(collection)")

    let screen = try Compiler.screen(
      source, "-swift-version", "6", "-default-isolation", "MainActor")

    let note = try #require(screen.range(of: "declared here"))
    #expect(screen[note.upperBound...].prefix(400).contains("`nonisolated struct`"), "\(screen)")
  }
}
