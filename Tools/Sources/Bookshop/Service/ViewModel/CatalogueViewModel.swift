internal import Larder
internal import LarderSync

/// The books that a search finds, as they are now.
@MainActor protocol CatalogueViewModel: ViewModel {
  var books: Rows<Book> { get }
  var basket: Rows<Book> { get }
  /// The stars that the reader has given to a book.
  func stars(of id: Book.ID) -> Int?
  /// Whether the store was read: until then no books mean nothing.
  var isLoaded: Bool { get }
  /// Whether the books that come with the app are being brought in.
  var isFilling: Bool { get }
  var isRefreshing: Bool { get }
  /// Whether the shop's server could not be asked last time, so that the books may be old.
  var isStale: Bool { get }
  /// How the stars and the basket stand with those on other devices; nil where there is no server for them.
  var sync: SyncStatus? { get }
  var search: Search { get }

  func find(_ text: String)
  func toggleBasketOnly()
  func open(_ id: Book.ID)
  func openSettings()
  /// Asks the shop's server for news.
  func refresh() async
}

extension CatalogueViewModel {
  var basketPrice: Int { basket.reduce(0) { $0 + $1.price } }
}

final class BookshopCatalogueViewModel: CatalogueViewModel {
  private let catalogue: any CatalogueService
  private let syncService: any SyncService
  private(set) var sync: SyncStatus?
  private(set) var books: Rows<Book> = []
  private(set) var basket: Rows<Book> = []
  private var stars = Stars()
  private(set) var isLoaded = false
  private(set) var isFilling = false
  private var refreshState = RefreshState()
  /// Whether the reader has asked for news, and waits.
  private var isAsking = false
  private(set) var search = Search()
  private var searching: Follower?
  private var following: [Follower] = []
  var onChange: () -> Void = {}
  var onBook: (Book.ID) -> Void = { _ in }
  var onSettings: () -> Void = {}
  /// Told what the reader should know; the catalogue goes on.
  var onMessage: (String) -> Void = { _ in }
  let outcome = Outcome<Void>()

  init(catalogue: any CatalogueService, sync: any SyncService) {
    self.catalogue = catalogue
    syncService = sync
  }

  var isRefreshing: Bool { isAsking || refreshState.isRefreshing }
  var isStale: Bool { refreshState.lastFailure != nil }

  private var tell: @MainActor @Sendable (any Error) -> Void {
    { [weak self] error in self?.onMessage("\(error)") }
  }

  /// Begins to watch.
  func start() {
    followSearch()
    following = [
      Follower(catalogue.basket(), onFailure: tell) { [weak self] books in
        self?.basket = books
        self?.onChange()
      },
      Follower(catalogue.ratings(), onFailure: tell) { [weak self] change in
        self?.stars.apply(change)
        self?.onChange()
      },
      Follower(syncService.statuses(), onFailure: tell) { [weak self] status in
        self?.sync = status
        self?.onChange()
      },
    ]
    guard let filling = catalogue.filling else { return followNews() }
    isFilling = true
    Task { [weak self] in
      await filling.value
      self?.isFilling = false
      self?.followNews()
      self?.onChange()
    }
  }

  func stars(of id: Book.ID) -> Int? { stars[id] }

  func find(_ text: String) {
    guard search.text != text else { return }
    search.text = text
    followSearch()
  }

  func toggleBasketOnly() {
    search.isBasketOnly.toggle()
    followSearch()
  }

  func open(_ id: Book.ID) { onBook(id) }
  func openSettings() { onSettings() }

  func refresh() async {
    guard !isAsking else { return }
    isAsking = true
    onChange()
    do {
      try await catalogue.refresh()
    } catch is CancellationError {
      // Somebody's on purpose.
    } catch {
      onMessage("\(error)")
    }
    isAsking = false
    onChange()
  }

  /// The router does this to a catalogue that another takes the place of; a reader has nowhere to
  /// go back to.
  func close() {
    outcome.settle(())
    searching = nil
    following = []
  }

  private func followSearch() {
    guard !outcome.isSettled else { return }
    searching = Follower(
      catalogue.books(search), onFailure: tell,
      onValue: { [weak self] books in
        self?.books = books
        self?.isLoaded = true
        self?.onChange()
      })
    onChange()
  }

  /// One stream for all searches: what is typed is no reason to ask the server.
  private func followNews() {
    guard !outcome.isSettled else { return }
    following.append(
      Follower(
        catalogue.news(), onFailure: tell,
        onRefresh: { [weak self] state in
          self?.refreshState = state
          self?.onChange()
        },
        onValue: { _ in }))
  }
}
