import Foundation
import Larder
import LarderImport
import LarderSync
import LarderTesting
import Testing

@testable import Bookshop

@MainActor @Suite(.timeLimit(.minutes(20))) struct CatalogueServiceTests {
  let server = ScriptedServer([.example("a", "Almanac"), .example("b", "Barometer")])
  private let clock = ManualClock()
  private let trigger = RefreshTrigger()

  private func catalogue(
    _ kept: Repositories, firstBooks: (any BookImporter)? = nil
  ) -> LarderCatalogue {
    LarderCatalogue(
      books: kept.books, stars: kept.stars, basket: kept.basket,
      updater: RemoteUpdater.catalogue(
        from: server, into: kept.books, basket: kept.basket,
        limiter: FetchLimiter(
          // The longest pause each time: 1, 2, 4 seconds.
          minimumInterval: .seconds(30), retrying: Backoff(random: { 1 }), trigger: trigger,
          clock: clock)),
      trigger: trigger, firstBooks: firstBooks)
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
      case "news":
        await server.serve([.example("a", "Atlas"), .example("c")])
        clock.advance(by: .seconds(30))
        let news = EventRecorder(catalogue.news())
        let date = clock.date
        await news.waitForEvent { @Sendable in $0.refresh?.lastRefreshed == date }
        #expect(try kept.books.fetch(Book.all).map(\.id) == ["a", "c"])
        #expect(news.values == [2])
      case "news, failed and tried again", "comeBack, tried again at once":
        clock.advance(by: .seconds(30))
        await server.fail(ServerError.status(500))
        let news = EventRecorder(catalogue.news())
        await news.waitForErrors(1)
        await clock.waitForSleeps(1)
        #expect(news.errors as? [ServerError] == [.status(500)])
        #expect(try kept.books.fetch(Book.all) == before)
        await server.serve([.example("a", "Atlas"), .example("c")])
        if edge.label.hasPrefix("news") {
          clock.advance(by: .seconds(1))
        } else {
          catalogue.comeBack()
        }
        let date = clock.date
        await news.waitForEvent { @Sendable in $0.refresh?.lastRefreshed == date }
        #expect(try kept.books.fetch(Book.all).map(\.id) == ["a", "c"])
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

  /// Puts each book into the basket while it is being saved, as another device may.
  private struct BasketFillingMapper: EntityMapper {
    let basket: any Repository<BasketItem, BasketItem>

    func convert(_ entity: Book) -> Book? { entity }

    func newEntity(for model: Book) -> Book {
      do { try basket.save(BasketItem(book: model.id)) } catch { Issue.record(error) }
      return model
    }

    func update(_ entity: inout Book, by model: Book) { entity = model }
  }

  @Test(
    "a book that is put into the basket while the catalogue is saved is marked",
    arguments: Kept.allCases)
  func basketBesideSave(_ kept: Kept) async throws {
    try await kept.with { kept in
      let books = InMemoryRepository(mappedBy: BasketFillingMapper(basket: kept.basket))
      let updater = RemoteUpdater.catalogue(
        from: server, into: books, basket: kept.basket, limiter: FetchLimiter(clock: clock))

      try await updater.sync(.afterNow)

      #expect(try books.fetch(Book.all).map(\.isInBasket) == [true, true])
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

  /// What a reader of the catalogue sees.
  @MainActor private final class Reader {
    let viewModel: BookshopCatalogueViewModel
    private(set) var messages: [String] = []

    init(_ catalogue: LarderCatalogue) {
      viewModel = BookshopCatalogueViewModel(catalogue: catalogue, sync: EngineSync(engine: nil))
      viewModel.onMessage = { [weak self] in self?.messages.append($0) }
      viewModel.start()
    }

    func sees(_ ids: [Book.ID]) async {
      await until { self.viewModel.books.map(\.id) == ids }
    }

    func until(_ condition: @MainActor () -> Bool) async {
      while !condition(), !Task.isCancelled { await Task.yield() }
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
      clock.advance(by: .seconds(30))

      let reader = Reader(catalogue)
      await reader.sees(["a", "b"])
      await reader.until { reader.messages.count == 1 && reader.viewModel.isStale }
      try await catalogue.toggleBasket("b")
      await reader.until { reader.viewModel.books.map(\.isInBasket) == [false, true] }

      #expect(reader.messages == ["\(ServerError.unreachable("nobody is there"))"])
    }
  }

  @Test(
    "a server that fails is told of once, however much is searched, and tried again in time",
    arguments: Kept.allCases)
  func failsOnce(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      try await catalogue.refresh()
      await server.fail(ServerError.status(500))
      clock.advance(by: .seconds(30))
      let reader = Reader(catalogue)
      await reader.until { reader.messages.count == 1 }

      for text in ["al", "alm", "b"] {
        reader.viewModel.find(text)
        await reader.sees(text == "b" ? ["b"] : ["a"])
      }
      #expect(await server.requestCount == 2)
      // Again after 1 and 2 seconds, and then the server is back.
      for request in 3...4 {
        await clock.waitForSleeps(request - 2)
        if request == 4 { await server.serve([.example("b", "Barometer, revised")]) }
        clock.advance(by: clock.sleepDurations[request - 3])
        while await server.requestCount < request, !Task.isCancelled { await Task.yield() }
      }
      await reader.until { reader.viewModel.books.map(\.title) == ["Barometer, revised"] }
      await reader.until { !reader.viewModel.isStale && !reader.viewModel.isRefreshing }

      #expect(clock.sleepDurations.prefix(2) == [.seconds(1), .seconds(2)])
      #expect(reader.messages == ["\(ServerError.status(500))"])
    }
  }

  @Test(
    "a refresh that the reader asks for and that fails is told of once", arguments: Kept.allCases)
  func asked(_ kept: Kept) async throws {
    try await kept.with { kept in
      let catalogue = catalogue(kept)
      let readers = [Reader(catalogue), Reader(catalogue)]
      for reader in readers { await reader.sees(["a", "b"]) }
      while clock.sleeperCount < 2, !Task.isCancelled { await Task.yield() }
      await server.fail(ServerError.status(500))

      await readers[0].viewModel.refresh()
      for reader in readers { await reader.until { reader.viewModel.isStale } }
      // The pause after the failure, and then the same failure.
      while clock.sleepDurations.suffix(2) != [.seconds(1), .seconds(1)], !Task.isCancelled {
        await Task.yield()
      }
      clock.advance(by: .seconds(1))
      while clock.sleepDurations.suffix(2) != [.seconds(2), .seconds(2)], !Task.isCancelled {
        await Task.yield()
      }
      await server.serve([.example("c")])
      clock.advance(by: .seconds(2))
      for reader in readers { await reader.sees(["c"]) }

      #expect(readers.map(\.messages) == [["\(ServerError.status(500))"], []])
    }
  }

  @Test("a reader who comes back has what failed tried again at once", arguments: Kept.allCases)
  func comeBack(_ kept: Kept) async throws {
    try await kept.with { kept in
      await server.fail(ServerError.unreachable("nobody is there"))
      let catalogue = catalogue(kept)
      let reader = Reader(catalogue)
      await reader.until { reader.messages.count == 1 }
      await clock.waitForSleeps(1)
      await server.serve([.example("a"), .example("b")])

      catalogue.comeBack()
      await reader.sees(["a", "b"])
      await reader.until { !reader.viewModel.isStale }

      #expect(clock.elapsed == .zero)
    }
  }

  @Test("the catalogue is refreshed at the end of every interval while it is looked at")
  func interval() async throws {
    try await Kept.inMemory.with { kept in
      let reader = Reader(catalogue(kept))
      await reader.sees(["a", "b"])
      for round in 1...3 {
        await clock.waitForSleeps(round)
        await server.serve([.example("\(round)")])
        clock.advance(by: .seconds(30))
        await reader.sees(["\(round)"])
      }
      #expect(await server.requestCount == 4)
    }
  }

  @Test("a server that refuses says when it is of use to ask again")
  func refusals() {
    let busy = ServerError.status(503, retryAfter: "60")
    #expect(busy.retryAdvice == .after(.seconds(60)))
    #expect(ServerError.status(404).retryAdvice == .whenTriggered)
    #expect(ServerError.status(500).retryAdvice == .backoff)
    #expect(ServerError.unreachable("nobody is there").retryAdvice == .backoff)
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
