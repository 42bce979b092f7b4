import Foundation
import Larder
import LarderSync
import LarderTesting
import Testing

@testable import Bookshop

@MainActor @Suite(.timeLimit(.minutes(1))) struct CatalogueServiceTests {
  let server = ScriptedServer([.example("a", "Almanac"), .example("b", "Barometer")])

  private func catalogue(_ store: Store) -> LarderCatalogue {
    LarderCatalogue(
      store: store,
      updater: RemoteUpdater.catalogue(from: server, into: store, limiter: FetchLimiter()))
  }

  private func books(_ store: Store) throws -> [Book] {
    try store.repository(of: Book.self).fetch(Book.all)
  }

  @Test(
    "every arrow of the states diagram is gone", arguments: Diagram.edges(of: "CatalogueService"))
  func states(_ edge: Diagram.Edge) async throws {
    try await withTemporaryStore { store in
      let catalogue = catalogue(store)
      var failures: [String] = []
      catalogue.onFailure = { failures.append($0) }
      if edge.from == "filled" { try await catalogue.refresh() }
      let before = try books(store)

      switch edge.label {
      case "": break
      case "fill":
        catalogue.fill(from: fixture("books.json"))
        #expect(try books(store).count == 60)
      case "fill, nothing is imported":
        catalogue.fill(from: fixture("books.json"))
        #expect(try books(store) == before)
      case "refresh":
        await server.serve([.example("a", "Atlas"), .example("c")])
        try await catalogue.refresh()
        #expect(try books(store).map(\.id) == ["a", "c"])
      case "refresh, failed":
        await server.fail(ServerError.status(500))
        await #expect(throws: ServerError.status(500)) { try await catalogue.refresh() }
        #expect(try books(store) == before)
      case "rate":
        try await catalogue.rate("a", stars: 4)
        #expect(try books(store).map(\.rating) == [4, nil])
      case "toggleBasket":
        try await catalogue.toggleBasket("b")
        #expect(try books(store).map(\.isInBasket) == [false, true])
      default: Issue.record("nobody goes this way: \(edge.label)")
      }

      #expect(try books(store).isEmpty == (edge.to == "empty"))
      #expect(failures == [])
    }
  }

  @Test("the states diagram has all states")
  func drawn() {
    #expect(Set(Diagram.edges(of: "CatalogueService").map(\.to)) == ["empty", "filled"])
  }

  @Test("stars and basket survive a refresh that changes everything else")
  func deviceFields() async throws {
    try await withTemporaryStore { store in
      let catalogue = catalogue(store)
      try await catalogue.refresh()
      try await catalogue.rate("a", stars: 5)
      try await catalogue.toggleBasket("a")
      await server.serve([
        Listing(
          id: "a", title: "T", author: "A", price: 7, year: 8, genre: "g", blurb: "new blurb")
      ])

      try await catalogue.refresh()

      #expect(
        try books(store) == [
          Book(
            id: "a", title: "T", author: "A", price: 7, year: 8, genre: "g", blurb: "new blurb",
            rating: 5, isInBasket: true)
        ])
    }
  }

  @Test("a book that the server no longer has goes, unless it is in the basket")
  func goneBooks() async throws {
    try await withTemporaryStore { store in
      let catalogue = catalogue(store)
      try await catalogue.refresh()
      try await catalogue.toggleBasket("a")
      await server.serve([.example("c")])

      try await catalogue.refresh()

      #expect(try books(store).map(\.id) == ["a", "c"])
    }
  }

  @Test("a page is asked for anew until it was saved")
  func savedVersions() async throws {
    try await withTemporaryStore { store in
      let catalogue = catalogue(store)
      await server.serve(rubbish: "[{}]")
      await #expect(throws: ServerError.self) { try await catalogue.refresh() }
      #expect(await server.savedVersions == [])

      await server.serve([.example("a")])
      try await catalogue.refresh()

      #expect(await server.savedVersions == ["v"])
    }
  }

  @Test("stars that are none, and books that are none, are refused")
  func refused() async throws {
    try await withTemporaryStore { store in
      let catalogue = catalogue(store)
      try await catalogue.refresh()
      await #expect(throws: CatalogueError.notStars(6)) { try await catalogue.rate("a", stars: 6) }
      await #expect(throws: CatalogueError.notStars(0)) { try await catalogue.rate("a", stars: 0) }
      await #expect(throws: CatalogueError.notInCatalogue("z")) {
        try await catalogue.rate("z", stars: 1)
      }
      await #expect(throws: CatalogueError.notInCatalogue("z")) {
        try await catalogue.toggleBasket("z")
      }
      #expect(try books(store).map(\.id) == ["a", "b"])
    }
  }

  @Test("the stored books come first, then a failure of the server, and then life goes on")
  func offlineFirst() async throws {
    try await withTemporaryStore { store in
      let catalogue = catalogue(store)
      try await catalogue.refresh()
      await server.fail(ServerError.unreachable("nobody is there"))

      var events = catalogue.books(Search(), isRefreshed: true).makeAsyncIterator()
      let first = await events.next(isolation: #isolation)
      let second = await events.next(isolation: #isolation)
      try await catalogue.rate("b", stars: 1)
      let third = await events.next(isolation: #isolation)

      #expect(first?.value?.map(\.id) == ["a", "b"])
      #expect(second?.error as? ServerError == .unreachable("nobody is there"))
      #expect(third?.value?.map(\.rating) == [nil, 1])
    }
  }

  @Test("who begins another search while the server thinks is told what became of it")
  func otherSearch() async throws {
    try await withTemporaryStore { store in
      let server = ThinkingServer()
      let catalogue = LarderCatalogue(
        store: store,
        updater: RemoteUpdater.catalogue(from: server, into: store, limiter: FetchLimiter()))
      var first = catalogue.books(Search(), isRefreshed: true).makeAsyncIterator()
      _ = await first.next(isolation: #isolation)
      await server.remote.waitForRequests(1)

      let second = Task {
        var failures: [String] = []
        for await event in catalogue.books(Search(text: "a"), isRefreshed: true) {
          guard let error = event.error else { continue }
          failures.append("\(error)")
          break
        }
        return failures
      }
      // Time to join; who comes later asks anew, and hears the same.
      try await Task.sleep(for: .milliseconds(300))
      let answering = Task {
        while !Task.isCancelled {
          server.remote.answer(.failure(Refused()))
          try await Task.sleep(for: .milliseconds(10))
        }
      }
      let watchdog = Task {
        try await Task.sleep(for: .seconds(20))
        second.cancel()
      }

      #expect(await second.value == ["refused"])
      watchdog.cancel()
      answering.cancel()
    }
  }

  @Test("a server that fails is told of once, however much is searched, until a reader asks again")
  func failsOnce() async throws {
    try await withTemporaryStore { store in
      let catalogue = catalogue(store)
      try await catalogue.refresh()
      await server.fail(ServerError.status(500))
      let viewModel = CatalogueViewModel(catalogue: catalogue)
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
      let catalogue = LarderCatalogue(store: store, updater: nil)
      catalogue.fill(from: fixture("books.json"))
      let all = try books(store)
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

  @Test("links lead to books, and those that lead nowhere are told of")
  func links() async throws {
    try await withTemporaryStore { store in
      let catalogue = catalogue(store)
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

  @Test("a file that is no catalogue is told of, and the app goes on without books")
  func badFixture() throws {
    try withTemporaryStore { store in
      let catalogue = LarderCatalogue(store: store, updater: nil)
      var failures: [String] = []
      catalogue.onFailure = { failures.append($0) }
      catalogue.fill(from: fixture("contacts.json"))
      catalogue.fill(from: "/no/such/books.json")
      let books = try books(store)
      #expect(failures.count == 2)
      #expect(books.isEmpty)
    }
  }

  @Test(
    "rubbish of a server is refused with its reason",
    arguments: [
      ("", "it is no JSON"), ("<html>", "it is no JSON"), ("[", "it is no JSON"),
      ("{}", "it is of another kind"), ("[]", "it has no books"), ("null", "it is no JSON"),
      ("[7]", "Index 0 is of another kind"),
      (#"[{"id":"a"}]"#, "a book has no title"),
      (
        #"[{"id":"a","title":1,"author":"","price":1,"year":1,"genre":"","blurb":""}]"#,
        "Index 0.title is of another kind"
      ),
      (
        #"[{"id":"","title":"","author":"","price":1,"year":1,"genre":"","blurb":""}]"#,
        "a book has no id that can be one"
      ),
    ])
  func rubbish(_ text: String, _ reason: String) {
    #expect(throws: ServerError.rubbish(reason)) { try Listing.decode(Data(text.utf8)) }
  }
}

/// A server that answers when a test says so.
private struct ThinkingServer: CatalogueServer {
  let remote = ScriptedRemote<CataloguePage>()

  func fetch() async throws -> Fetched<CataloguePage> { try await remote.fetch() }
  func noteSaved(_ page: CataloguePage) {}
}

func fixture(_ name: String) -> String {
  Diagram.sources.deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures/\(name)").path(percentEncoded: false)
}
