/// One line that the app answers: what is shown now, or what the reader is told.
struct RemoteEvent: Encodable, Equatable {
  /// `shown`, `changed`, `closed`, `message`, `refused`.
  var event: String
  /// How a screen is shown.
  var how: String?
  /// The screen that is seen.
  var screen: ScreenState?
  /// All that are open, the one that is seen last.
  var open: [String]?
  var text: String?
}

/// What a screen would show, as data.
struct ScreenState: Codable, Equatable {
  var name: String
  var text: String?
  var page: Int?
  var pages: Int?
  var offer: Int?
  var phone: String?
  var error: String?
  var isBusy: Bool?
  var isOptional: Bool?
  var seconds: Int?
  var price: Int?
  var search: String?
  var isBasketOnly: Bool?
  var isLoaded: Bool?
  var isFilling: Bool?
  var isStale: Bool?
  var sync: String?
  var books: [BookState]?
  var book: BookState?
  var basketCount: Int?
  var basketPrice: Int?
  var isPaid: Bool?
}

struct BookState: Codable, Equatable {
  var id: String
  var title: String
  var author: String
  var price: Int
  var year: Int
  var genre: String
  var blurb: String?
  var rating: Int?
  var isInBasket: Bool

  init(_ book: Book, stars: Int?, hasBlurb: Bool) {
    id = book.id
    title = book.title
    author = book.author
    price = book.price
    year = book.year
    genre = book.genre
    blurb = hasBlurb ? book.blurb : nil
    rating = stars
    isInBasket = book.isInBasket
  }
}

extension ScreenState {
  @MainActor init(_ screen: Screen) {
    self.init(name: "\(screen.name)")
    switch screen {
    case .onboarding(let viewModel):
      text = viewModel.pages[viewModel.index]
      page = viewModel.index + 1
      pages = viewModel.pages.count
      offer = viewModel.offer?.price
    case .signIn(let viewModel):
      phone = viewModel.phone
      error = viewModel.error
      isBusy = viewModel.isBusy
      isOptional = viewModel.isOptional
      seconds = viewModel.secondsUntilNextCode
    case .payment(let viewModel):
      price = viewModel.offer.price
      error = viewModel.error
      isBusy = viewModel.isBusy
    case .catalogue(let viewModel):
      search = viewModel.search.text
      isBasketOnly = viewModel.search.isBasketOnly
      isLoaded = viewModel.isLoaded
      isFilling = viewModel.isFilling
      isBusy = viewModel.isRefreshing
      isStale = viewModel.isStale
      sync = viewModel.sync.map { "\($0)" }
      books = viewModel.books.map {
        BookState($0, stars: viewModel.stars(of: $0.id), hasBlurb: false)
      }
      basketCount = viewModel.basket.count
      basketPrice = viewModel.basketPrice
    case .book(let viewModel):
      isLoaded = viewModel.isLoaded
      book = viewModel.book.map {
        BookState($0, stars: viewModel.stars, hasBlurb: true)
      }
    case .settings(let viewModel):
      phone = viewModel.phone
      isPaid = viewModel.isPaid
    }
  }
}
