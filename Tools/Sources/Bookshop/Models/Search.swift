internal import Larder

/// What of the catalogue is looked at.
struct Search: Equatable, Sendable {
  /// Words that a book has in its title, author or genre, all of them, in any case.
  var text = ""
  var isBasketOnly = false

  /// By title; books with one title by their ids.
  var query: Query<Book> {
    var query = Book.all
    for word in text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init) {
      query = query.where {
        $0.title.lowercased().contains(word) || $0.author.lowercased().contains(word)
          || $0.genre.lowercased().contains(word)
      }
    }
    if isBasketOnly { query = query.where { $0.isInBasket } }
    return query.sorted(by: \.title)
  }
}
