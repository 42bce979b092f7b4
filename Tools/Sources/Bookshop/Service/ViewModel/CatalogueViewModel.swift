internal import Larder
internal import LarderSync

/// The books that a search finds, as they are now.
final class CatalogueViewModel: ViewModel {
  private let catalogue: any CatalogueService
  private(set) var books: Rows<Book> = []
  private(set) var basket: Rows<Book> = []
  /// Whether the store was read: until then no books mean nothing.
  private(set) var isLoaded = false
  private(set) var isRefreshing = false
  private(set) var search = Search()
  private var watching: [Task<Void, Never>] = []
  private var searching: Task<Void, Never>?
  /// Whether a failure was told: the next word that is searched for is no reason to fail again.
  private var hasFailed = false
  var onChange: () -> Void = {}
  var onBook: (Book.ID) -> Void = { _ in }
  var onSettings: () -> Void = {}
  /// Told what the reader should know; the catalogue goes on.
  var onMessage: (String) -> Void = { _ in }
  let outcome = Outcome<Void>()

  init(catalogue: any CatalogueService) { self.catalogue = catalogue }

  /// Begins to watch.
  func start() {
    watchSearch()
    let baskets = catalogue.basket()
    watching.append(
      Task { [weak self] in
        for await event in baskets {
          guard let self, !Task.isCancelled else { return }
          if let books = event.value { basket = books }
          onChange()
        }
      })
  }

  var basketPrice: Int { basket.reduce(0) { $0 + $1.price } }

  func find(_ text: String) {
    guard search.text != text else { return }
    search.text = text
    watchSearch()
  }

  func toggleBasketOnly() {
    search.isBasketOnly.toggle()
    watchSearch()
  }

  func open(_ id: Book.ID) { onBook(id) }
  func openSettings() { onSettings() }

  func refresh() async {
    guard !isRefreshing else { return }
    isRefreshing = true
    onChange()
    do {
      try await catalogue.refresh()
      hasFailed = false
    } catch is CancellationError {
      // Somebody's on purpose.
    } catch {
      onMessage("\(error)")
    }
    isRefreshing = false
    onChange()
  }

  /// The router does this to a catalogue that another takes the place of; a reader has nowhere to
  /// go back to.
  func close() {
    outcome.settle(())
    searching?.cancel()
    for task in watching { task.cancel() }
  }

  private func watchSearch() {
    guard !outcome.isSettled else { return }
    searching?.cancel()
    let events = catalogue.books(search, isRefreshed: !hasFailed)
    searching = Task { [weak self] in
      for await event in events {
        guard let self, !Task.isCancelled else { return }
        switch event {
        case .value(let books):
          self.books = books
          isLoaded = true
          onChange()
        case .failure(let error):
          hasFailed = true
          onMessage("\(error)")
        }
      }
    }
    onChange()
  }
}
