import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct PlainTypesTests {
  private let tests = URL(filePath: #filePath).deletingLastPathComponent()

  @Test("the program in the article on plain types is the one that is tested")
  func isTheSame() throws {
    let article = try String(
      contentsOf: tests.appending(
        path: "../../../Sources/Larder/Documentation.docc/PlainTypes.md"
      ).standardizedFileURL, encoding: .utf8)
    let source = try String(
      contentsOf: tests.appending(path: "PlainTypesExample.swift"), encoding: .utf8)

    let parts = article.components(separatedBy: "```")

    #expect(parts.first { $0.hasPrefix("swift\n") } == "swift\n" + source)
  }

  @Test("the program in the article on plain types does what it says")
  func runs() throws {
    try withTemporaryStore { store in
      let recipes = [
        Recipe(id: UUID(), title: "Porridge", steps: [.init(text: "Boil", minutes: 5)]),
        Recipe(id: UUID(), title: "Bread", course: .side(of: "soup")),
        Recipe(id: UUID(), title: "Lutefisk", servings: 6),
      ]

      #expect(try plainTypesExample(recipes, store) == ["Bread", "Porridge"])

      let stored = try store.repository(of: Recipe.self).get(keys: recipes.map(\.id))
      #expect(stored.map(\.servings) == [4, 4, 4])
      #expect(stored.map(\.course) == recipes.map(\.course))
    }
  }
}
