/// A link into the app, from outside.
///
/// ```
/// bookshop://book/9799075227184
/// bookshop://book-of-the-month
/// ```
enum Link: Equatable, Sendable {
  case book(Book.ID)
  case bookOfTheMonth

  /// Nil for a link that means nothing here.
  init?(_ text: String) {
    guard text.hasPrefix("bookshop://") else { return nil }
    let path = text.dropFirst("bookshop://".count).split(
      separator: "/", omittingEmptySubsequences: false)
    switch path.map(String.init) {
    case ["book-of-the-month"]: self = .bookOfTheMonth
    case let path where path.count == 2 && path[0] == "book" && !path[1].isEmpty:
      self = .book(path[1])
    default: return nil
    }
  }
}
