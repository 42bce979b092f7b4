import Larder
import LarderSync

@Document
struct Book: Identifiable, Equatable {
  var id: Int
  var title: String
  var shelf: String
  var authorID: Int
}

@Document
struct Author: Identifiable, Equatable {
  var id: Int
  var name: String
}

/// Observed by a view: `rows`, `lastError`, `isRefreshing`.
@MainActor
func makeCatalogue(
  _ books: any Repository<Book, Book>, refreshedBy updater: some Updater
) -> QueryModel<Book, Book> {
  let model = QueryModel(books, Book.all.sorted(by: \.title), refreshedBy: updater)
  model.start()
  return model
}

/// What a search field calls with each letter.
@MainActor
func search(for text: String, in model: QueryModel<Book, Book>) {
  model.query = Book.where { $0.title.hasPrefix(text) }.sorted(by: \.title)
}

/// Shows twenty books, and twenty more each time that the end of the list comes into sight.
@MainActor
func makeShelf(_ books: any Repository<Book, Book>) -> QueryModel<Book, Book> {
  QueryModel(books, Book.all.sorted(by: \.title), pageSize: 20)
}

@MainActor
func endIsInSight(of model: QueryModel<Book, Book>) {
  model.loadMore()
}

/// The books under the name of their shelf.
@MainActor
func makeShelves(_ books: any Repository<Book, Book>) -> SectionModel<String, Book> {
  StreamModel(books, sections: Book.all.sorted(by: \.title), by: \.shelf)
}

@MainActor
func show(_ shelves: SectionModel<String, Book>) -> [String] {
  shelves.value.flatMap { shelf in ["# \(shelf.key)"] + shelf.rows.map(\.title) }
}

/// A book's own screen; `value` is nil while there is no such book.
@MainActor
func makeDetail(_ books: any Repository<Book, Book>, _ id: Book.ID) -> KeyModel<Book, Book> {
  StreamModel(books, key: id)
}

/// Each book with its author, and each author with their books.
func joined(
  _ books: any Repository<Book, Book>, _ authors: any Repository<Author, Author>
) -> (
  JoinedModels<Book, Book, Author?>, JoinedModels<Author, Author, [Book]>
) {
  (
    books.including(\.authorID, from: authors),
    authors.collecting(Book.all.sorted(by: \.title), from: books, by: \.authorID)
  )
}

@MainActor
func makeCredits(
  _ books: any Repository<Book, Book>, _ authors: any Repository<Author, Author>
) -> QueryModel<Included<Book, Author?>, Book> {
  QueryModel(joined(books, authors).0, Book.all.sorted(by: \.title))
}
