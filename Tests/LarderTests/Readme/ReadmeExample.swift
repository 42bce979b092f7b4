import Foundation
import Larder

struct Book: Document, Identifiable, Equatable {
  var id: Int
  var title: String
  var genres: [String] = []

  static let schema = Schema<Book>(
    "Book", key: \.id,
    fields: [
      Field("id", \.id), Field("title", \.title), Field("genres", \.genres, default: []),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(title, at: 1)
    record.put(genres, at: 2)
  }
}

extension Book {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0), title: try record.get(1), genres: try record.get(2))
  }
}

func example(in folder: URL) async throws {
  let store = try Store(at: folder)
  let books = store.repository(of: Book.self)

  let report = try await books.save([
    Book(id: 1, title: "Pan", genres: ["novel"]), Book(id: 2, title: "Peer Gynt"),
  ])
  print(report)  // 2 inserted, 0 updated, 0 unchanged, 0 deleted

  let novels = Book.where { $0.genres.contains("novel") }
  print(try books.fetch(novels.sorted(by: \.title).limit(20)).map(\.title))  // ["Pan"]

  // Replaces what the query matches in one transaction: nobody sees an empty moment.
  try await books.save([Book(id: 3, title: "Sult", genres: ["novel"])], clearBeforeSaving: novels)
  print(try books.fetch(Book.all).map(\.title))  // ["Peer Gynt", "Sult"]
}
