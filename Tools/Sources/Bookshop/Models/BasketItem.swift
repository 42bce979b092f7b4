internal import Larder

/// A book that the reader has put into the basket, on whichever device.
///
/// Documents of its own and no field of ``Book``, so that the reader's other devices can have them: the
/// catalogue is the shop's, and is never sent. ``Book/isInBasket`` says the same of the books that are here.
@Document
struct BasketItem: Equatable {
  @Key var book: Book.ID
}
