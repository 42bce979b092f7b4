import Larder
import LarderSync
import Testing

@testable import Bookshop

/// View models over a catalogue in memory: what their screens see.
@MainActor @Suite(.timeLimit(.minutes(20))) struct ViewModelTests {
  private let books = InMemoryRepository(of: Book.self)
  private let stars = InMemoryRepository(of: Rating.self)

  private func catalogue(
    updater: (any Updater)? = nil, firstBooks: (any BookImporter)? = nil
  ) -> LarderCatalogue {
    LarderCatalogue(
      books: books, stars: stars, basket: InMemoryRepository(of: BasketItem.self), updater: updater,
      trigger: nil, firstBooks: firstBooks)
  }

  private func list(_ catalogue: LarderCatalogue) -> BookshopCatalogueViewModel {
    let viewModel = BookshopCatalogueViewModel(catalogue: catalogue, sync: EngineSync(engine: nil))
    viewModel.start()
    return viewModel
  }

  private func until(_ condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
  }

  @Test("a list is there while its first books are being brought in, says so, and follows")
  func filling() async throws {
    let importer = HeldImporter(into: books, [.example("a"), .example("b")])
    let catalogue = catalogue(firstBooks: importer)
    catalogue.fill()
    let viewModel = list(catalogue)
    var wasFilling: [Bool] = []
    viewModel.onChange = { [unowned viewModel] in wasFilling.append(viewModel.isFilling) }
    await until { viewModel.isLoaded }
    #expect(viewModel.isFilling)
    #expect(viewModel.books.isEmpty)

    await importer.go()

    await until { viewModel.books.count == 2 && !viewModel.isFilling }
    #expect(wasFilling.first == true)
    #expect(wasFilling.last == false)
  }

  @Test("a list without first books to wait for does not say that it waits")
  func notFilling() { #expect(!list(catalogue()).isFilling) }

  @Test(
    "stars that are given on a book's screen are in the list, and the same ones again take them back"
  )
  func rate() async throws {
    try await books.save([.example("a"), .example("b")])
    let catalogue = catalogue()
    let list = list(catalogue)
    let viewModel = BookshopBookViewModel(catalogue: catalogue, id: "a")
    viewModel.start()
    #expect(!viewModel.isLoaded)
    await until { viewModel.isLoaded }

    for (given, kept) in [(4, 4), (2, 2), (2, nil), (2, 2)] as [(Int, Int?)] {
      await viewModel.rate(given)
      await until { viewModel.stars == kept && list.stars(of: "a") == kept }
    }
    #expect(list.stars(of: "b") == nil)
    await viewModel.toggleBasket()
    await until { viewModel.book?.isInBasket == true && list.basket.map(\.id) == ["a"] }
  }

  @Test(
    "a book that goes while it is looked at is gone from its screen, with a message to who rates it"
  )
  func gone() async throws {
    try await books.save([.example("a")])
    let viewModel = BookshopBookViewModel(catalogue: catalogue(), id: "a")
    var messages: [String] = []
    viewModel.onMessage = { messages.append($0) }
    viewModel.start()
    await until { viewModel.book != nil }

    try await books.delete(keys: ["a"])
    await until { viewModel.book == nil }
    await viewModel.rate(3)

    #expect(viewModel.isLoaded)
    #expect(messages == ["Book a is not in the catalogue."])
  }

  @Test("a list follows its repository while a refresh goes wrong, which is told of once")
  func failing() async throws {
    let updater = FailingUpdater()
    let viewModel = list(catalogue(updater: updater))
    var messages: [String] = []
    viewModel.onMessage = { messages.append($0) }
    await until { messages.count == 1 }

    try await books.save([.example("a")])
    await until { viewModel.books.count == 1 }
    viewModel.find("no such book")
    await until { viewModel.books.isEmpty }

    #expect(messages == ["refused"])
  }

  @Test(
    "a view model that is closed, or let go of, follows nothing any more", arguments: [true, false])
  func over(_ isClosed: Bool) async throws {
    let catalogue = catalogue()
    var viewModel: BookshopCatalogueViewModel? = list(catalogue)
    weak let left = viewModel
    await until { viewModel?.isLoaded == true }
    if isClosed { viewModel?.close() }
    viewModel = nil
    await until { left == nil }
  }

  @Test("a follower that is let go of ends the iteration that it follows")
  func letGo() async {
    let (begins, begun) = AsyncStream<Void>.makeStream()
    let (ends, ended) = AsyncStream<Void>.makeStream()
    let stream = EventStream<Int> {
      {
        begun.yield()
        await withTaskCancellationHandler {
          // Ends with the task, and not before.
          try? await Task.sleep(for: .seconds(3600))
        } onCancel: {
          ended.yield()
        }
        return nil
      }
    }
    var follower: Follower? = Follower(stream, onFailure: { _ in }, onValue: { _ in })
    for await _ in begins { break }
    #expect(follower != nil)
    follower = nil
    for await _ in ends { break }
  }
}

/// An updater that never gets through.
private struct FailingUpdater: Updater {
  func sync(_ timing: SyncTiming) async throws -> UpdateStatus { throw Refused() }
}
