internal import LarderSync

/// One book, as it is now.
final class BookViewModel: ViewModel {
  private let catalogue: any CatalogueService
  let id: Book.ID
  /// Nil while it is not read, and where there is none.
  private(set) var book: Book?
  private(set) var isLoaded = false
  private var watching: Task<Void, Never>?
  var onChange: () -> Void = {}
  /// Told what the reader should know.
  var onMessage: (String) -> Void = { _ in }
  let outcome = Outcome<Void>()

  init(catalogue: any CatalogueService, id: Book.ID) {
    self.catalogue = catalogue
    self.id = id
  }

  /// Begins to watch.
  func start() {
    let events = catalogue.book(id)
    watching = Task { [weak self] in
      for await event in events {
        guard let self, !Task.isCancelled else { return }
        switch event {
        case .value(let books):
          book = books.first
          isLoaded = true
          onChange()
        case .failure(let error): onMessage("\(error)")
        }
      }
    }
  }

  /// Gives stars; the same number again takes them back.
  func rate(_ stars: Int) async {
    let taken = book?.rating == stars ? nil : stars
    await attempt { try await catalogue.rate(id, stars: taken) }
  }

  func toggleBasket() async { await attempt { try await catalogue.toggleBasket(id) } }

  func close() {
    watching?.cancel()
    outcome.settle(())
  }

  private func attempt(_ body: () async throws -> Void) async {
    do {
      try await body()
    } catch {
      onMessage("\(error)")
    }
  }
}
