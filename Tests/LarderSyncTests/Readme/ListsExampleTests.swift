import Foundation
import Larder
import LarderSync
import LarderTesting
import Testing

@MainActor @Suite(.timeLimit(.minutes(20))) struct ListsExampleTests {
  private func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    return try String(contentsOf: root.standardizedFileURL.appending(path: path), encoding: .utf8)
  }

  @Test(
    "what the article shows of lists is what is tested, or compiled against the stub of SwiftUI")
  func isTheSame() throws {
    let sources = try [
      text("Tests/LarderSyncTests/Readme/ListsExample.swift"),
      text("Tests/SwiftUINames/ContactList.swift"),
    ]
    let shown = try text("Sources/LarderSync/Documentation.docc/Lists.md")
      .components(separatedBy: "```swift\n").dropFirst()
      .compactMap { $0.components(separatedBy: "\n```").first }

    #expect(shown.count == 7)
    for part in shown {
      #expect(sources.contains { $0.contains(part) }, "\(part)")
    }
  }

  @Test("the article's models show a catalogue, search it, and load more")
  func catalogue() async throws {
    let books: any Repository<Book, Book> = InMemoryRepository(of: Book.self)
    let titles = (0..<30).map { "\($0 % 2 == 0 ? "A" : "B") \($0 + 10)" }
    try await books.save(
      titles.indices.map { Book(id: $0, title: titles[$0], shelf: "s", authorID: 0) })
    let updater = RecordingUpdater()

    let model = makeCatalogue(books, refreshedBy: updater)
    await waitUntil { model.isLoaded }
    #expect(model.rows.map(\.title) == titles.sorted())
    search(for: "B", in: model)
    await waitUntil { model.loadedQuery == model.query }
    #expect(model.rows.map(\.title) == titles.filter { $0.hasPrefix("B") })
    let shelf = makeShelf(books)
    shelf.start()
    await waitUntil { shelf.isLoaded }
    #expect(shelf.rows.count == 20)
    endIsInSight(of: shelf)
    await waitUntil { shelf.rows.count == 30 }

    #expect(shelf.rows.map(\.title) == titles.sorted())
  }

  @Test("the article's models show sections, one record, and authors")
  func others() async throws {
    try await withTemporaryStore { store in
      let books: any Repository<Book, Book> = store.repository(of: Book.self)
      let authors: any Repository<Author, Author> = store.repository(of: Author.self)
      let fjords = Book(id: 1, title: "Fjords", shelf: "Travel", authorID: 7)
      try await books.save([fjords, Book(id: 2, title: "Bread", shelf: "Kitchen", authorID: 8)])
      try await authors.save(Author(id: 7, name: "Liv"))

      let shelves = makeShelves(books)
      let detail = makeDetail(books, 1)
      let credits = makeCredits(books, authors)
      shelves.start()
      detail.start()
      credits.start()
      await waitUntil { shelves.isLoaded && detail.isLoaded && credits.isLoaded }
      #expect(show(shelves) == ["# Kitchen", "Bread", "# Travel", "Fjords"])
      #expect(detail.value == fjords)
      #expect(credits.rows.map(\.related?.name) == [nil, "Liv"])
      try await authors.save(Author(id: 8, name: "Kim"))
      await waitUntil { credits.rows.first?.related?.name == "Kim" }

      #expect(
        try joined(books, authors).1.fetch(Author.all).map { $0.related.map(\.id) } == [[1], [2]])
      shelves.stop()
      detail.stop()
      credits.stop()
      await settle { !store.hasWatchers }
    }
  }
}
