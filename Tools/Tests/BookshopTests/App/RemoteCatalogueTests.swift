import Foundation
import LarderSync
import Testing

@testable import Bookshop

extension WholeAppTests {
  /// The catalogue over HTTP, from a real server that is started, stopped and ill.
  @MainActor @Suite(.timeLimit(.minutes(20))) struct RemoteCatalogueTests {
    private func text(_ listings: [Listing]) throws -> String {
      String(decoding: try JSONEncoder().encode(listings), as: UTF8.self)
    }

    private func titles(_ state: ScreenState?) -> [String] { (state?.books ?? []).map(\.title) }

    private func start(
      _ folder: URL, _ server: PythonServer, timeoutSeconds: Double = 1_000
    ) async throws -> TestApp {
      let app = try TestApp(
        in: folder, fixture: fixture("books.json"),
        server: HTTPCatalogueServer(url: server.catalogue, timeoutSeconds: timeoutSeconds))
      await app.passOnboarding()
      await app.wait(for: "catalogue")
      return app
    }

    @Test("the catalogue is refreshed when it is shown, and when it is asked for")
    func refreshed() async throws {
      let server = try PythonServer()
      try server.serve(text([.example("a", "Almanac")]), age: 100)
      try await withStoreFolder { folder in
        let app = try await start(folder, server)
        await app.wait { self.titles($0) == ["Almanac"] }

        try server.serve(text([.example("a", "Atlas"), .example("b", "Barometer")]), age: 50)
        await app.perform("refresh")

        await app.wait { self.titles($0) == ["Atlas", "Barometer"] }
        #expect(app.messages == [])
      }
    }

    @Test("a server that has nothing new says so, and nothing is written")
    func notModified() async throws {
      let server = try PythonServer()
      try server.serve(text([.example("a", "Almanac")]), age: 100)
      let remote = HTTPCatalogueServer(url: server.catalogue, timeoutSeconds: 1_000)
      let page = try #require(try await page(of: remote))
      #expect(try await self.page(of: remote) != nil, "what was not saved is asked for again")

      await remote.noteSaved(page)
      #expect(try await self.page(of: remote) == nil)

      try server.serve(text([.example("a", "Atlas")]), age: 50)
      #expect(try await self.page(of: remote) != nil)
    }

    /// What a server gives; nil where it has nothing new.
    private func page(of server: HTTPCatalogueServer) async throws -> CataloguePage? {
      switch try await server.fetch() {
      case .fromRemote(let page): page
      case .prefetched: nil
      }
    }

    @Test("a server that is gone is told of, the books stay, and it is found again when it is back")
    func gone() async throws {
      let server = try PythonServer()
      try server.serve(text([.example("a", "Almanac")]), age: 100)
      try await withStoreFolder { folder in
        let app = try await start(folder, server)
        await app.wait { self.titles($0) == ["Almanac"] }
        server.stop()

        await app.perform("refresh")

        await app.waitForMessage("nobody is there")
        #expect(await titles(app.screen) == ["Almanac"])
        try server.start()
        try server.serve(text([.example("a", "Atlas")]), age: 50)
        await app.perform("refresh")
        await app.wait { self.titles($0) == ["Atlas"] }
      }
    }

    @Test("an app that starts without its server shows its books and says why they may be old")
    func offlineStart() async throws {
      let server = try PythonServer()
      server.stop()
      try await withStoreFolder { folder in
        let app = try await start(folder, server)
        await app.waitForMessage("nobody is there")
        await app.waitForBooks()
        #expect(await app.screen?.books?.count == 60)
      }
    }

    @Test("rubbish and errors of the server are told of, and change nothing")
    func rubbish() async throws {
      let server = try PythonServer()
      try server.serve(text([.example("a", "Almanac")]), age: 1000)
      try await withStoreFolder { folder in
        let app = try await start(folder, server)
        await app.wait { self.titles($0) == ["Almanac"] }
        let ill = [
          ("<html>Welcome to the hotel</html>", "it is no JSON"), ("[]", "it has no books"),
          (String(try text([.example("b")]).dropLast(20)), "it is no JSON"),
          (#"[{"id": "b", "price": "free"}]"#, "no catalogue"),
        ]
        for (index, (text, message)) in ill.enumerated() {
          let count = app.messages.count
          try server.serve(text, age: Double(900 - index * 100))
          await app.perform("refresh")
          #expect(app.messages.count == count + 1)
          #expect(app.messages.last?.contains(message) == true, "\(app.messages)")
        }
        try FileManager.default.removeItem(at: server.folder.appending(path: "books.json"))
        await app.perform("refresh")
        #expect(app.messages.last?.contains("404") == true)
        #expect(await titles(app.screen) == ["Almanac"])
      }
    }

    @Test("a slow server holds up nobody")
    func slow() async throws {
      let server = try PythonServer(slow: true)
      try server.serve(text([.example("a", "Almanac")]), age: 100)
      try await withStoreFolder { folder in
        let app = try await start(folder, server)
        // The books are there while the server is still thinking.
        await app.waitForBooks()
        await app.perform("find", "the ladder")
        await app.wait { $0.books?.count == 6 }
        #expect(app.messages == [])
      }
    }

    @Test("a server that does not answer is given up in the end, and the books stay")
    func silent() async throws {
      let server = try PythonServer(slow: true)
      try server.serve(text([.example("a", "Almanac")]), age: 100)
      try await withStoreFolder { folder in
        let app = try await start(folder, server, timeoutSeconds: 1)
        await app.waitForMessage("it does not answer")
        await app.waitForBooks()
      }
    }

    @Test("stars and basket survive a refresh over HTTP")
    func deviceFields() async throws {
      let server = try PythonServer()
      try server.serve(text([.example("a", "Almanac"), .example("b", "Barometer")]), age: 100)
      try await withStoreFolder { folder in
        let app = try await start(folder, server)
        await app.wait { self.titles($0) == ["Almanac", "Barometer"] }
        await app.perform("open", "a")
        await app.signIn()
        await app.pay()
        await app.wait(for: "book")
        await app.perform("rate", number: 5)
        await app.perform("basket")
        await app.wait { $0.book?.rating == 5 && $0.book?.isInBasket == true }

        await app.perform("back")
        await app.wait(for: "catalogue")
        try server.serve(text([.example("a", "Atlas"), .example("b", "Barometer")]), age: 50)
        await app.perform("refresh")
        await app.wait { self.titles($0) == ["Atlas", "Barometer"] }

        await app.wait { $0.books?.first?.rating == 5 && $0.books?.first?.isInBasket == true }
      }
    }
  }
}
