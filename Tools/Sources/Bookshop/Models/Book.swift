internal import Larder

/// A book as the shop lists it, and whether the reader has it in the basket.
@Document
struct Book: Equatable, Identifiable {
  var id: String
  @Indexed var title: String
  var author: String
  /// In cents.
  var price: Int
  var year: Int
  var genre: String
  var blurb: String

  /// Whether there is a ``BasketItem`` of it: noted here, too, so that searches and refreshes need no second
  /// look. A book in the basket stays when the shop stops listing it.
  var isInBasket = false
}

extension Book {
  init(_ listing: Listing) {
    self.init(
      id: listing.id, title: listing.title, author: listing.author, price: listing.price,
      year: listing.year, genre: listing.genre, blurb: listing.blurb)
  }
}

extension ConflictPolicy<Book> {
  /// A refresh changes what the shop lists, and leaves the basket alone.
  static var refresh: Self {
    .merge { stored, new in
      var book = new
      book.isInBasket = stored.isInBasket
      return book
    }
  }
}
