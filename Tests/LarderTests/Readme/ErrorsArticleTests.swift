import Foundation
import Testing

@Suite struct ErrorsArticleTests {
  private static func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL
    return try String(contentsOf: root.appending(path: "Sources/Larder/\(path)"), encoding: .utf8)
  }

  @Test("the article on errors has a row for every case of StoreError, and for nothing else")
  func isComplete() throws {
    let source = try Self.text("Error/StoreError.swift")
    let article = try Self.text("Documentation.docc/Errors.md")

    let declaration = try #require(source.firstRange(of: "public enum StoreError"))
    let end = try #require(source[declaration.upperBound...].firstRange(of: "\n}\n")).lowerBound
    let cases = source[declaration.upperBound..<end]
      .matches(of: /\n  case (\w+)/).map { String($0.output.1) }
    let begin = try #require(article.firstRange(of: "## All cases")).upperBound
    let rowsEnd = try #require(article.firstRange(of: "## Storage errors")).lowerBound
    let rows = article[begin..<rowsEnd].matches(of: /\n\| `(\w+)` \|/).map { String($0.output.1) }

    #expect(cases.count > 40)
    #expect(cases.sorted() == rows.sorted())
  }
}
