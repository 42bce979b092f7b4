internal import Larder

/// A book as it is stored and shown: what the server says, and what only this device knows.
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

  /// One to five stars that the reader has given.
  var rating: Int?
  var isInBasket = false
}

/// Stands between what the server says and what is stored: a refresh changes the one and leaves
/// the other, so that ratings and the basket survive it.
struct ListingMapper: EntityMapper {
  func convert(_ book: Book) -> Listing? {
    Listing(
      id: book.id, title: book.title, author: book.author, price: book.price, year: book.year,
      genre: book.genre, blurb: book.blurb)
  }

  func newEntity(for listing: Listing) -> Book {
    Book(
      id: listing.id, title: listing.title, author: listing.author, price: listing.price,
      year: listing.year, genre: listing.genre, blurb: listing.blurb)
  }

  func update(_ book: inout Book, by listing: Listing) {
    book.title = listing.title
    book.author = listing.author
    book.price = listing.price
    book.year = listing.year
    book.genre = listing.genre
    book.blurb = listing.blurb
  }

  func entityAccessorKey(_ listing: Listing) -> String { listing.id }
}
