import Foundation
import Larder
import LarderImport
import LarderSync
import LarderTesting
import Testing

@testable import Bookshop

@MainActor @Suite(.timeLimit(.minutes(20))) struct CatalogueServiceTests {
  let server = ScriptedServer([.example("a", "Almanac"), .example("b", "Barometer")])

  private func catalogue(
    _ kept: Repositories, firstBooks: (any BookImporter)? = nil
  ) -> LarderCatalogue {
    LarderCatalogue(
      books: kept.books, stars: kept.stars,
      updater: RemoteUpdater.catalogue(
        from: server, into: kept.books, limiter: FetchLimiter()),
      firstBooks: firstBooks)
  }

  /// As many stars as each book has, in the order of the books.
  private func stars(_ kept: Repositories) throws -> [Int?] {
    try kept.books.fetch(Book.all).map { try kept.stars.get($0.id)?.stars }
  }

  @Test(
    "every arrow of the states diagram is gone", arguments: Diagram.edges(of: "CatalogueService"),
    Kept.allCases)
  func states(_ edge: Diagram.Edge, _ kept: Kept) async throws {
    try await kept.with { kept in
      let importer = HeldImporter(into: kept.books, [Book.example("x"), Book.example("y")])
      let catalogue = catalogue(kept, firstBooks: importer)
      var failures: [String] = []
      catalogue.onFailure = { failures.append($0) }
      if edge.from == "filled" { try await catalogue.refresh() }
      let before = try kept.books.fetch(Book.all)

      switch edge.label {
      case "": break
      case "fill":
        catalogue.fill()
        #expect(try kept.books.count() == 0, "nobody waits for the first books")
        await importer.go()
        await catalogue.filling?.value
        #expect(try kept.books.fetch(Book.all).map(\.id) == ["x", "y"])
      case "fill, failed":
        catalogue.fill()
        await importer.fail()
        await catalogue.filling?.value
        #expect(failures == ["The first books cannot be brought in: refused"])
      case "fill, nothing is imported":
        catalogue.fill()
        await catalogue.filling?.value
        #expect(try kept.books.fetch(Book.all) == before)
      case "refresh":
        await server.serve([.example("a", "Atlas"), .example("c")])
        try await catalogue.refresh()
        #expect(try kept.books.fetch(Book.all).map(\.id) == ["a", "c"])
      case "refresh, failed":
        await server.fail(ServerError.status(500))
        await #expect(throws: ServerError.status(500)) { try await catalogue.refresh() }
        #expect(try kept.books.fetch(Book.all) == before)
      case "rate":
        try await catalogue.rate("a", stars: 4)
        #expect(try stars(kept) == [4, nil])
        try await catalogue.rate("a", stars: nil)
        #expect(try stars(kept) == [nil, nil])
      case "toggleBasket":
        try await catalogue.toggleBasket("b")
        #expect(try kept.books.fetch(Book.all).map(\.isInBasket) == [false, true])
        try await catalogue.toggleBasket("b")
        #expect(try kept.books.fetch(Book.all).map(\.isInBasket) == [false, false])
      default: Issue.record("nobody goes this way: \(edge.label)")
      }

      #expect(try kept.books.fetch(Book.all).isEmpty == (edge.to == "empty"))
      if edge.label != "fill, failed" { #expect(failures == []) }
    }
  }

  @Test("the states diagram has all states")
  func drawn() {
    #expect(Set(Diagram.edges(of: "CatalogueService").map(\.to)) == ["empty", "filled"])
  }

  @Test("stars and basket survive a refresh that changes everything else", arguments: Kept.allCases)
  func deviceFields(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      try await catalogue.refresh()
      try await catalogue.rate("a", stars: 5)
      try await catalogue.toggleBasket("a")
      await server.serve([
        Listing(
          id: "a", title: "T", author: "A", price: 7, year: 8, genre: "g", blurb: "new blurb")
      ])

      try await catalogue.refresh()

      #expect(
        try kept.books.fetch(Book.all) == [
          Book(
            id: "a", title: "T", author: "A", price: 7, year: 8, genre: "g", blurb: "new blurb",
            isInBasket: true)
        ])
      #expect(try stars(kept) == [5])
    }
  }

  @Test("stars survive a book that the shop leaves out for a day", arguments: Kept.allCases)
  func starsSurvive(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      try await catalogue.refresh()
      try await catalogue.rate("a", stars: 5)
      await server.serve([.example("b", "Barometer")])
      try await catalogue.refresh()
      #expect(try kept.books.fetch(Book.all).map(\.id) == ["b"])

      await server.serve([.example("a", "Almanac"), .example("b", "Barometer")])
      try await catalogue.refresh()

      #expect(try stars(kept) == [5, nil])
    }
  }

  @Test(
    "the stars of a list follow what is given, changed and taken back", arguments: Kept.allCases)
  func starsFollow(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      await server.serve((0..<12).map { Listing.example("\($0)") })
      try await catalogue.refresh()
      try await catalogue.rate("7", stars: 1)
      var events = catalogue.ratings().makeAsyncIterator()
      var stars = Stars()
      for step in 0..<40 {
        if let change = await events.next(isolation: #isolation)?.value { stars.apply(change) }
        let given = try kept.stars.fetch(Rating.all)
        for id in (0..<12).map(String.init) {
          try #require(stars[id] == given.first { $0.book == id }?.stars, "\(id), step \(step)")
        }
        // Books get their first stars, others, and lose them, in turn.
        let id = "\(step * 5 % 12)"
        let old = try kept.stars.get(id)?.stars
        try await catalogue.rate(id, stars: step % 3 == 2 && old != nil ? nil : (old ?? 0) % 5 + 1)
      }
    }
  }

  @Test(
    "a book that the server no longer has goes, unless it is in the basket",
    arguments: Kept.allCases)
  func goneBooks(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      try await catalogue.refresh()
      try await catalogue.toggleBasket("a")
      await server.serve([.example("c")])

      try await catalogue.refresh()

      #expect(try kept.books.fetch(Book.all).map(\.id) == ["a", "c"])
    }
  }

  @Test("a page is asked for anew until it was saved", arguments: Kept.allCases)
  func savedVersions(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      await server.serve(rubbish: "[{}]")
      await #expect(throws: ServerError.self) { try await catalogue.refresh() }
      #expect(await server.savedVersions == [])

      await server.serve([.example("a")])
      try await catalogue.refresh()

      #expect(await server.savedVersions == ["v"])
    }
  }

  @Test("stars that are none, and books that are none, are refused", arguments: Kept.allCases)
  func refused(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      try await catalogue.refresh()
      await #expect(throws: CatalogueError.notStars(6)) { try await catalogue.rate("a", stars: 6) }
      await #expect(throws: CatalogueError.notStars(0)) { try await catalogue.rate("a", stars: 0) }
      await #expect(throws: CatalogueError.notInCatalogue("z")) {
        try await catalogue.rate("z", stars: 1)
      }
      await #expect(throws: CatalogueError.notInCatalogue("z")) {
        try await catalogue.toggleBasket("z")
      }
      #expect(try kept.books.fetch(Book.all).map(\.id) == ["a", "b"])
    }
  }

  @Test(
    "the stored books come first, then a failure of the server, and then life goes on",
    arguments: Kept.allCases)
  func offlineFirst(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      try await catalogue.refresh()
      await server.fail(ServerError.unreachable("nobody is there"))

      var events = catalogue.books(Search(), isRefreshed: true).makeAsyncIterator()
      let first = await events.next(isolation: #isolation)
      let second = await events.next(isolation: #isolation)
      try await catalogue.toggleBasket("b")
      let third = await events.next(isolation: #isolation)

      #expect(first?.value?.map(\.id) == ["a", "b"])
      #expect(second?.error as? ServerError == .unreachable("nobody is there"))
      #expect(third?.value?.map(\.isInBasket) == [false, true])
    }
  }

  @Test(
    "who begins another search while the server thinks is told what became of it",
    arguments: Kept.allCases)
  func otherSearch(_ kept: Kept) async throws {
    try await kept.with { kept in
      let updater = RecordingUpdater(nil)
      let catalogue = LarderCatalogue(
        books: kept.books, stars: kept.stars, updater: updater, firstBooks: nil)
      var first = catalogue.books(Search(), isRefreshed: true).makeAsyncIterator()
      _ = await first.next(isolation: #isolation)
      await updater.waitForCalls(1)

      var second = catalogue.books(Search(text: "a"), isRefreshed: true).makeAsyncIterator()
      _ = await second.next(isolation: #isolation)
      await updater.waitForCalls(2)
      // That is: to share what becomes of the one that is under way.
      #expect(updater.timings == [.joining, .joining])
      for _ in 0..<2 { updater.finish(.failure(Refused())) }

      #expect(await first.next(isolation: #isolation)?.error is Refused)
      #expect(await second.next(isolation: #isolation)?.error is Refused)
    }
  }

  @Test(
    "a server that fails is told of once, however much is searched, until a reader asks again",
    arguments: Kept.allCases)
  func failsOnce(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      try await catalogue.refresh()
      await server.fail(ServerError.status(500))
      let viewModel = BookshopCatalogueViewModel(catalogue: catalogue)
      var messages: [String] = []
      viewModel.onMessage = { messages.append($0) }
      viewModel.start()
      while messages.isEmpty { await Task.yield() }

      for text in ["al", "alm", "b"] {
        viewModel.find(text)
        while viewModel.books.map(\.id) != (text == "b" ? ["b"] : ["a"]) { await Task.yield() }
      }
      #expect(await server.requestCount == 2)

      await viewModel.refresh()

      #expect(await server.requestCount == 3)
      #expect(messages == [String](repeating: "\(ServerError.status(500))", count: 2))
      viewModel.close()
    }
  }

  @Test("a search finds words of title, author and genre in any case, all of them")
  func search() throws {
    try withTemporaryStore { store in
      try store.load(fixture: URL(filePath: fixture("books.json")), into: Book.self)
      let all = try store.repository(of: Book.self).fetch(Book.all)
      #expect(all.count == 60)
      for text in [
        "the", "LADDER", "crime ladder", "šimková", "猫", "  ", "no such book",
      ] {
        let words = text.lowercased().split(whereSeparator: \.isWhitespace)
        let expected = all.filter { book in
          words.allSatisfy { word in
            [book.title, book.author, book.genre].contains { $0.lowercased().contains(word) }
          }
        }.sorted { ($0.title, $0.id) < ($1.title, $1.id) }
        let found = try store.repository(of: Book.self).fetch(Search(text: text).query)
        #expect(found.map(\.id) == expected.map(\.id), "\(text)")
      }
    }
  }

  @Test("links lead to books, and those that lead nowhere are told of", arguments: Kept.allCases)
  func links(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      await server.serve([
        .example("a", price: 300), .example("b", price: 200), .example("free", price: 0),
      ])
      try await catalogue.refresh()
      var told: [String] = []
      @MainActor func resolve(_ link: String) -> Book.ID? {
        catalogue.resolve(link: link) { told.append($0) }
      }
      let (book, ofTheMonth) = (
        resolve("bookshop://book/a"), resolve("bookshop://book-of-the-month")
      )
      #expect(book == "a")
      #expect(ofTheMonth == "b")
      #expect(told.isEmpty)
      let dead = [
        "bookshop://book/z", "bookshop://book/", "bookshop://book/a/b", "bookshop://", "",
        "http://book/a", "bookshop://settings/a", "bookshop://book-of-the-month/",
      ]
      for link in dead {
        let id = resolve(link)
        #expect(id == nil)
      }
      #expect(told.count == dead.count)
    }
  }
}

func fixture(_ name: String) -> String {
  Diagram.sources.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures/\(name)").path(percentEncoded: false)
}
