import Foundation
import Larder

@Document
struct Book: Identifiable, Equatable {
  var id: Int
  var title: String
  @Indexed var genres: [String] = []
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
