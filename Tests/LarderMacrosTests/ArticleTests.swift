import Foundation
import Testing

/// The articles in `Documentation.docc` whose code is compiled from their own text. The code of the
/// others is compared with code that runs, by tests of their own.
@Suite struct ArticleTests {
  private static let articles = [
    "Larder/Documentation.docc/GettingStarted", "Larder/Documentation.docc/Saving",
    "Larder/Documentation.docc/Indexes", "Larder/Documentation.docc/Concurrency",
    "Larder/Documentation.docc/Errors", "Larder/Documentation.docc/Processes",
    "Larder/Documentation.docc/Testing", "Larder/Documentation.docc/Performance",
    "Larder/Documentation.docc/ComingFrom", "Larder/Documentation.docc/Dynamic",
    "Larder/Documentation.docc/Relations", "Larder/Documentation.docc/Searching",
    "LarderTesting/Documentation.docc/LarderTesting",
    "LarderImport/Documentation.docc/LarderImport", "LarderImport/Documentation.docc/Fixtures",
    "LarderRemote/Documentation.docc/Syncing",
  ]

  private static func code(of article: String) throws -> ArticleCode {
    let file = BuildFolder.root.appending(path: "Sources/\(article).md")
    return ArticleCode(
      file.deletingPathExtension().lastPathComponent,
      text: try String(contentsOf: file, encoding: .utf8))
  }

  @Test("the examples in the articles compile")
  func compile() throws {
    let examples = try Self.articles.map { try Self.code(of: $0) }
    // An article whose code was not found would compile as well.
    #expect(examples.allSatisfy { $0.compiledCount > 0 })

    let source = ArticleCode.imports + examples.map(\.source).joined()
    let errors = try Compiler.messages(source, "-swift-version", "6")
      .filter { $0.severity == "error" }

    #expect(errors == [])
  }

  @Test("an example that does not compile is found, at its line in the article")
  func mistake() throws {
    let code = ArticleCode(
      "Mistaken",
      text: """
        # Mistaken

        ```swift
        @Document
        struct Note {
          var id: Int
        }
        ```

        <!-- func(notes: StoreRepository<Note>) throws -->
        ```swift
        let found = try notes.fetch(Note.all)
        let title: String = found[0].title
        ```

        <!-- not compiled: another library's code -->
        ```swift
        let found = try context.fetch(descriptor)
        ```
        """)
    #expect((code.compiledCount, code.leftOutCount) == (2, 1))

    let errors = try Compiler.messages(ArticleCode.imports + code.source, "-swift-version", "6")
      .filter { $0.severity == "error" }

    #expect(errors.map(\.file) == ["Mistaken.md"])
    #expect(errors.map(\.line) == [13])
  }
}
