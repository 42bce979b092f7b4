import Larder

@testable import Bookshop

/// View models without services: a router shows what a test gives them, and what it asks of them is
/// noted.
@MainActor class ViewModelDouble: ViewModel {
  let journal: Journal
  private(set) var isClosed = false
  var onChange: () -> Void = {}

  init(_ journal: Journal) { self.journal = journal }

  func note(_ message: String) { journal.note("ViewModel", message) }

  func close() {
    note("close")
    isClosed = true
  }
}

final class OnboardingDouble: ViewModelDouble, OnboardingViewModel {
  var pages = ["one", "two"]
  var index = 0
  var offer: Offer?

  func next() {
    note("next")
    index += isLast ? 0 : 1
    onChange()
  }
  func takeOffer() { note("takeOffer") }
}

final class SignInDouble: ViewModelDouble, SignInViewModel {
  var isOptional = true
  var phone: String?
  var secondsUntilNextCode = 0
  var error: String?
  var isBusy = false

  func submit(phone: String) async { note("submit(phone) \(phone)") }
  func resend() async { note("resend") }
  func submit(code: String) async { note("submit(code) \(code)") }
}

final class PaymentModelDouble: ViewModelDouble, PaymentViewModel {
  var offer = Offer.regular
  var error: String?
  var isBusy = false

  func pay(card: String) async { note("pay \(card)") }
}

final class CatalogueModelDouble: ViewModelDouble, CatalogueViewModel {
  var books: Rows<Book> = []
  var basket: Rows<Book> = []
  var givenStars: [Book.ID: Int] = [:]
  var isLoaded = true
  var isFilling = false
  var isRefreshing = false
  var isStale = false
  var sync: SyncStatus?
  var search = Search()

  convenience init(_ journal: Journal, _ books: [Book]) {
    self.init(journal)
    self.books = Rows(books)
    basket = Rows(books.filter(\.isInBasket))
  }

  func stars(of id: Book.ID) -> Int? { givenStars[id] }
  func find(_ text: String) {
    note("find \(text)")
    search.text = text
  }
  func toggleBasketOnly() {
    note("toggleBasketOnly")
    search.isBasketOnly.toggle()
  }
  func open(_ id: Book.ID) { note("open \(id)") }
  func openSettings() { note("openSettings") }
  func refresh() async { note("refresh") }
}

final class BookModelDouble: ViewModelDouble, BookViewModel {
  let id: Book.ID
  var book: Book?
  var stars: Int?
  var isLoaded = true

  init(_ journal: Journal, _ id: Book.ID, _ book: Book? = nil, stars: Int? = nil) {
    self.id = id
    self.book = book
    self.stars = stars
    super.init(journal)
  }

  func rate(_ stars: Int) async { note("rate \(stars)") }
  func toggleBasket() async { note("toggleBasket") }
}

final class SettingsDouble: ViewModelDouble, SettingsViewModel {
  var phone: String?
  var isPaid = false

  func signOut() { note("signOut") }
}
