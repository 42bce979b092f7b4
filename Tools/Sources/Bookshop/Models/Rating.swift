internal import Larder

/// The stars that the reader has given to a book.
///
/// A document of its own and no field of ``Book``: it stays when the shop stops listing the book, and
/// is found again under the same key when the book comes back.
@Document
struct Rating: Equatable {
  @Key var book: Book.ID
  /// One to five. Of stars that were given on two devices at the same time those are kept that reach the server
  /// later.
  @Merge(.lastWriter) var stars: Int
}

/// The stars of all books that have any, kept up to date step by step: a step costs as much as it
/// changes.
struct Stars {
  private var ratings: Rows<Rating> = []
  private var counts: [Book.ID: Int] = [:]

  /// The stars of a book; nil where the reader has given none.
  subscript(book: Book.ID) -> Int? { counts[book] }

  mutating func apply(_ change: ResultChange<Rating>) {
    switch change {
    case .initial(let ratings, _), .reset(let ratings, _):
      counts = [:]
      for rating in ratings { counts[rating.book] = rating.stars }
    case .update(let difference):
      for removal in difference.removals { counts[ratings[removal.offset].book] = nil }
      for insertion in difference.insertions {
        counts[insertion.model.book] = insertion.model.stars
      }
      for update in difference.updates { counts[update.model.book] = update.model.stars }
    }
    ratings.apply(change)
  }
}
