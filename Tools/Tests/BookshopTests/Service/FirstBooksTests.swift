import Foundation
import Larder
import LarderImport
import LarderSync
import LarderTesting
import Testing

@testable import Bookshop

/// How the books that come with the app are brought in.
@MainActor @Suite(.timeLimit(.minutes(20))) struct FirstBooksTests {
  let server = ScriptedServer([.example("a", "Almanac"), .example("b", "Barometer")])

  @Test("a refresh waits for the first books, so that they do not come on top of its news")
  func refreshWaits() async throws {
    try await Kept.inMemory.with { kept in
      let importer = HeldImporter(into: kept.books, [.example("a", "An old title"), .example("z")])
      let catalogue = LarderCatalogue(
        books: kept.books, stars: kept.stars, basket: kept.basket,
        updater: RemoteUpdater.catalogue(
          from: server, into: kept.books, basket: kept.basket,
          limiter: FetchLimiter(clock: ManualClock())),
        trigger: nil, firstBooks: importer)
      catalogue.fill()
      let viewModel = BookshopCatalogueViewModel(
        catalogue: catalogue, sync: EngineSync(engine: nil))
      viewModel.start()
      let refresh = Task { try await catalogue.refresh() }
      while !viewModel.isLoaded, !Task.isCancelled { await Task.yield() }
      #expect(viewModel.books.isEmpty)
      await importer.waitForCall()
      #expect(await server.requestCount == 0)

      await importer.go()
      try await refresh.value

      while viewModel.books.map(\.title) != ["Almanac", "Barometer"], !Task.isCancelled {
        await Task.yield()
      }
      viewModel.close()
    }
  }

  @Test("the books that come with the app are imported once, as imported")
  func fixtureBooks() async throws {
    try await withTemporaryStore { store in
      let books = store.repository(of: Book.self)
      for _ in 0..<2 {
        let catalogue = LarderCatalogue(
          books: books, stars: store.repository(of: Rating.self),
          basket: store.repository(of: BasketItem.self), updater: nil,
          trigger: nil, firstBooks: FixtureImporter(file: fixture("books.json"), store: store))
        catalogue.fill()
        await catalogue.filling?.value
        let count = try books.count()
        #expect(count == 60)
      }
      #expect(try Set(store.history().changes.map(\.origin)) == [.imported])
    }
  }

  @Test("a file that is no catalogue is told of, and the app goes on without books")
  func badFixture() async throws {
    try await withTemporaryStore { store in
      let books = store.repository(of: Book.self)
      var failures: [String] = []
      for file in [fixture("contacts.json"), "/no/such/books.json"] {
        let catalogue = LarderCatalogue(
          books: books, stars: store.repository(of: Rating.self),
          basket: store.repository(of: BasketItem.self), updater: nil,
          trigger: nil, firstBooks: FixtureImporter(file: file, store: store))
        catalogue.onFailure = { failures.append($0) }
        catalogue.fill()
        await catalogue.filling?.value
        let count = try books.count()
        #expect(count == 0)
      }
      #expect(failures.count == 2)
    }
  }
}
