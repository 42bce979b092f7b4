import Foundation
import Larder

/// What `books.ndjson` holds.
struct Book: Document, Equatable {
  var isbn: String
  var title: String
  var authors: [String]
  var price: Decimal
  var currency: String
  var pages: Int
  var published: Date?
  var rating: Double?
  var genres: [String]
  var stock: Int
  var summary: String
  var publisher: Publisher

  var entityAccessorKey: String { isbn }

  static let schema = Schema<Book>(
    "Book", key: \.isbn,
    fields: [
      Field("isbn", \.isbn), Field("title", \.title), Field("authors", \.authors),
      Field("price", \.price), Field("currency", \.currency), Field("pages", \.pages),
      Field("published", \.published), Field("rating", \.rating), Field("genres", \.genres),
      Field("stock", \.stock), Field("summary", \.summary), Field("publisher", \.publisher),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(isbn, at: 0)
    record.put(title, at: 1)
    record.put(authors, at: 2)
    record.put(price, at: 3)
    record.put(currency, at: 4)
    record.put(pages, at: 5)
    record.put(published, at: 6)
    record.put(rating, at: 7)
    record.put(genres, at: 8)
    record.put(stock, at: 9)
    record.put(summary, at: 10)
    record.put(publisher, at: 11)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    isbn = try record.get(0)
    title = try record.get(1)
    authors = try record.get(2)
    price = try record.get(3)
    currency = try record.get(4)
    pages = try record.get(5)
    published = try record.get(6)
    rating = try record.get(7)
    genres = try record.get(8)
    stock = try record.get(9)
    summary = try record.get(10)
    publisher = try record.get(11)
  }
}

struct Publisher: EmbeddedDocument, Equatable {
  var name: String
  var city: String

  static let schema = Schema<Publisher>(
    "Publisher", fields: [Field("name", \.name), Field("city", \.city)])

  func encode(into record: inout RecordWriter) {
    record.put(name, at: 0)
    record.put(city, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    name = try record.get(0)
    city = try record.get(1)
  }
}
