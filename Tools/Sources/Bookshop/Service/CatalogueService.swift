internal import Larder
internal import LarderSync

enum CatalogueError: Error, Equatable, CustomStringConvertible {
  case notInCatalogue(Book.ID)
  case notStars(Int)

  var description: String {
    switch self {
    case .notInCatalogue(let id): "Book \(id) is not in the catalogue."
    case .notStars(let count): "A rating has 1 to 5 stars, not \(count)."
    }
  }
}

/// The books: stored on the device, refreshed behind.
@MainActor protocol CatalogueService: AnyObject {
  /// Told when the first books could not be brought in.
  var onFailure: (String) -> Void { get set }

  /// Begins to bring in the books that come with the app, where there are none yet, and to follow what another
  /// device puts into the basket, and returns at once: nobody waits for them to see the first screen.
  func fill()
  /// Ends when the first books are in, or could not be brought in; nil where there is nothing to
  /// wait for.
  var filling: Task<Void, Never>? { get }
  /// What the search finds, at once from the store and then each time that it has changed, also by
  /// another terminal. The server is not asked: that is ``news()``.
  func books(_ search: Search) -> EventStream<Rows<Book>>
  /// How many books there are, while the server is asked for news: at once, and again for as long as
  /// somebody listens, also after a failure. To be begun when the first books are in.
  ///
  /// How fresh the books are comes between, and so does what fails, unless ``refresh()`` has thrown it.
  func news() -> EventStream<Int>
  /// The book under an id, as ``books(_:)``; empty where there is none.
  func book(_ id: Book.ID) -> EventStream<Rows<Book>>
  /// The books of the basket, as ``book(_:)``.
  func basket() -> EventStream<Rows<Book>>
  /// The stars that the reader has given, and how they change.
  func ratings() -> EventStream<ResultChange<Rating>>
  /// The stars of a book, as ``book(_:)``; empty where the reader has given none.
  func rating(of id: Book.ID) -> EventStream<Rows<Rating>>
  /// Asks the server now.
  ///
  /// - Throws: What became of it, to be shown to the reader by the caller; the catalogue is as it was.
  func refresh() async throws
  /// The reader is back: what has failed is tried again at once.
  func comeBack()
  /// Gives stars to a book, or takes them back.
  ///
  /// - Throws: ``CatalogueError``, `StoreError`; nothing is changed.
  func rate(_ id: Book.ID, stars: Int?) async throws
  /// Puts a book into the basket, or takes it out.
  ///
  /// - Throws: ``CatalogueError``, `StoreError`; nothing is changed.
  func toggleBasket(_ id: Book.ID) async throws
  /// The book that a link means; nil, and `complain` is told, where it means none.
  func resolve(link: String, orTell complain: (String) -> Void) -> Book.ID?
}

final class LarderCatalogue: CatalogueService {
  private let books: any Repository<Book, Book>
  private let stars: any Repository<Rating, Rating>
  private let items: any Repository<BasketItem, BasketItem>
  private let marks: BasketMarks
  private let updater: (any Updater)?
  private let trigger: RefreshTrigger?
  private let firstBooks: (any BookImporter)?
  private(set) var filling: Task<Void, Never>?
  private var marking: Follower?
  var onFailure: (String) -> Void = { _ in }

  /// - Parameters:
  ///   - updater: Brings news into the repository; nil where there is no server.
  ///   - trigger: Of the updater's limiter; nil where nothing has to be tried again.
  ///   - firstBooks: Brings in the books that come with the app; nil where there are none.
  init(
    books: any Repository<Book, Book>, stars: any Repository<Rating, Rating>,
    basket: any Repository<BasketItem, BasketItem>, updater: (any Updater)?,
    trigger: RefreshTrigger?, firstBooks: (any BookImporter)?
  ) {
    self.books = books
    self.stars = stars
    items = basket
    marks = BasketMarks(books: books, items: basket)
    self.updater = updater
    self.trigger = trigger
    self.firstBooks = firstBooks
  }

  func fill() {
    if marking == nil {
      marking = Follower(items.stream(BasketItem.all), onFailure: { [weak self] in self?.tell($0) })
      {
        [weak self] _ in self?.mark()
      }
    }
    guard filling == nil, let firstBooks else { return }
    filling = Task {
      do {
        guard try books.count() == 0 else { return }
        try await firstBooks.importBooks()
        mark()
      } catch {
        onFailure("The first books cannot be brought in: \(error)")
      }
    }
  }

  func books(_ search: Search) -> EventStream<Rows<Book>> { books.stream(search.query) }

  func news() -> EventStream<Int> {
    EventStream(books.watchCount(Book.all), refreshedBy: updater)
  }

  func book(_ id: Book.ID) -> EventStream<Rows<Book>> { books.stream(Book.where { $0.id == id }) }

  func basket() -> EventStream<Rows<Book>> { books.stream(Book.where { $0.isInBasket }) }

  func ratings() -> EventStream<ResultChange<Rating>> { stars.stream(changesOf: Rating.all) }

  func rating(of id: Book.ID) -> EventStream<Rows<Rating>> {
    stars.stream(Rating.where { $0.book == id })
  }

  func refresh() async throws {
    // News first and the books that came with the app on top of them would be the wrong way round.
    await filling?.value
    try await updater?.sync(.afterNow)
  }

  func comeBack() { trigger?.fire() }

  func rate(_ id: Book.ID, stars count: Int?) async throws {
    _ = try require(id)
    guard let count else {
      try await stars.delete(keys: [id])
      return
    }
    guard (1...5).contains(count) else { throw CatalogueError.notStars(count) }
    try await stars.save(Rating(book: id, stars: count))
  }

  func toggleBasket(_ id: Book.ID) async throws {
    _ = try require(id)
    if try items.get(id) == nil {
      try await items.save(BasketItem(book: id))
    } else {
      try await items.delete(keys: [id])
    }
    try marks.update()
  }

  private func mark() {
    do {
      try marks.update()
    } catch {
      tell(error)
    }
  }

  private func tell(_ error: any Error) { onFailure("The basket cannot be read: \(error)") }

  func resolve(link text: String, orTell complain: (String) -> Void) -> Book.ID? {
    guard let link = Link(text) else {
      complain("The link \(text) leads nowhere.")
      return nil
    }
    do {
      let query =
        switch link {
        case .book(let id): Book.where { $0.id == id }
        // The cheapest of what costs anything.
        case .bookOfTheMonth: Book.where { $0.price > 0 }.sorted(by: \.price).limit(1)
        }
      if let book = try books.fetch(query).first { return book.id }
      complain("The link \(text) leads to no book of the catalogue.")
    } catch {
      complain("The catalogue cannot be read: \(error)")
    }
    return nil
  }

  private func require(_ id: Book.ID) throws -> Book {
    guard let book = try books.get(id) else { throw CatalogueError.notInCatalogue(id) }
    return book
  }
}
