internal import Foundation
internal import Larder
internal import LarderImport
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

  /// Imports the books that come with the app, where there are none yet.
  func fill(from fixture: String?)
  /// What the search finds, at once from the store and then each time that it has changed, also by
  /// another terminal. Meanwhile the server is asked for news, if that is wanted; its failures come
  /// between.
  func books(_ search: Search, isRefreshed: Bool) -> EventStream<Rows<Book>>
  /// The book under an id, as ``books(_:isRefreshed:)``, but that the server is not asked; empty where there is
  /// none.
  func book(_ id: Book.ID) -> EventStream<Rows<Book>>
  /// The books of the basket, as ``book(_:)``.
  func basket() -> EventStream<Rows<Book>>
  /// Asks the server now.
  ///
  /// - Throws: What became of it; the catalogue is as it was.
  func refresh() async throws
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
  private let store: Store
  private let updater: (any Updater)?
  private var repository: StoreRepository<Book> { store.repository(of: Book.self) }
  var onFailure: (String) -> Void = { _ in }

  /// - Parameter updater: Brings news into the store; nil where there is no server. A syncing remote
  ///   plugs in here: whatever it pulls into the store is seen by everyone who looks.
  init(store: Store, updater: (any Updater)?) {
    self.store = store
    self.updater = updater
  }

  func fill(from fixture: String?) {
    do {
      guard let fixture, try repository.count() == 0 else { return }
      try store.load(fixture: URL(filePath: fixture), into: Book.self)
    } catch {
      onFailure("The first books cannot be brought in: \(error)")
    }
  }

  func books(_ search: Search, isRefreshed: Bool) -> EventStream<Rows<Book>> {
    repository.stream(
      search.query, refreshedBy: isRefreshed ? updater.map(JoiningUpdater.init) : nil)
  }

  func book(_ id: Book.ID) -> EventStream<Rows<Book>> {
    repository.stream(Book.where { $0.id == id })
  }

  func basket() -> EventStream<Rows<Book>> { repository.stream(Book.where { $0.isInBasket }) }

  func refresh() async throws { try await updater?.sync(.afterNow) }

  func rate(_ id: Book.ID, stars: Int?) async throws {
    if let stars, !(1...5).contains(stars) { throw CatalogueError.notStars(stars) }
    try await change(id) { $0.rating = stars }
  }

  func toggleBasket(_ id: Book.ID) async throws { try await change(id) { $0.isInBasket.toggle() } }

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
      if let book = try repository.fetch(query).first { return book.id }
      complain("The link \(text) leads to no book of the catalogue.")
    } catch {
      complain("The catalogue cannot be read: \(error)")
    }
    return nil
  }

  /// In one transaction, so that another terminal's change of the same book is not undone.
  private func change(
    _ id: Book.ID, _ body: @escaping @Sendable (inout Book) -> Void
  ) async throws {
    let book = try await store.write { scope in try scope.update(Book.self, id) { body(&$0) } }
    if book == nil { throw CatalogueError.notInCatalogue(id) }
  }
}

/// Shares the outcome of a refresh that is under way: who begins another search while the server
/// thinks has to be told what became of it.
private struct JoiningUpdater: Updater {
  let updater: any Updater

  func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
    try await updater.sync(timing == .ifDue ? .joining : timing)
  }
}
