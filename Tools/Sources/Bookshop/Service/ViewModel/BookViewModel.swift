internal import Larder

/// One book, as it is now.
@MainActor protocol BookViewModel: ViewModel {
  var id: Book.ID { get }
  /// Nil while it is not read, and where there is none.
  var book: Book? { get }
  /// The stars that the reader has given.
  var stars: Int? { get }
  var isLoaded: Bool { get }

  /// Gives stars; the same number again takes them back.
  func rate(_ stars: Int) async
  func toggleBasket() async
}

final class BookshopBookViewModel: BookViewModel {
  private let catalogue: any CatalogueService
  let id: Book.ID
  private var books: Rows<Book>?
  private var ratings: Rows<Rating>?
  private var following: [Follower] = []
  var onChange: () -> Void = {}
  /// Told what the reader should know.
  var onMessage: (String) -> Void = { _ in }
  let outcome = Outcome<Void>()

  init(catalogue: any CatalogueService, id: Book.ID) {
    self.catalogue = catalogue
    self.id = id
  }

  var book: Book? { books?.first }
  var stars: Int? { ratings?.first?.stars }
  var isLoaded: Bool { books != nil && ratings != nil }

  /// Begins to watch.
  func start() {
    let tell: @MainActor @Sendable (any Error) -> Void = { [weak self] error in
      self?.onMessage("\(error)")
    }
    following = [
      Follower(catalogue.book(id), onFailure: tell) { [weak self] books in
        self?.books = books
        self?.onChange()
      },
      Follower(catalogue.rating(of: id), onFailure: tell) { [weak self] ratings in
        self?.ratings = ratings
        self?.onChange()
      },
    ]
  }

  func rate(_ count: Int) async {
    let taken = stars == count ? nil : count
    await attempt { try await catalogue.rate(id, stars: taken) }
  }

  func toggleBasket() async { await attempt { try await catalogue.toggleBasket(id) } }

  func close() {
    following = []
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
