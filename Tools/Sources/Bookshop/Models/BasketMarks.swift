internal import Larder

/// Keeps ``Book/isInBasket`` what the basket says, whoever has changed either of them.
///
/// Both are read anew each time, on the main actor: what a stream has brought may be old by the time that it is
/// heard of, and would take a mark away that belongs there. Whatever changes the basket or lists books asks
/// for this afterwards, so that the last to change one of them is followed by a look at both.
@MainActor struct BasketMarks {
  let books: any Repository<Book, Book>
  let items: any Repository<BasketItem, BasketItem>

  /// Marks what is in the basket, and nothing else. Items whose books are not listed here wait for them.
  ///
  /// - Throws: `StoreError`.
  func update() throws {
    let wanted = Set(try items.fetch(BasketItem.all).map(\.book))
    let marked = Set(try books.fetch(Book.where { $0.isInBasket }).map(\.id))
    for id in wanted.symmetricDifference(marked) {
      let isWanted = wanted.contains(id)
      try books.update(id) { $0.isInBasket = isWanted }
    }
  }
}
