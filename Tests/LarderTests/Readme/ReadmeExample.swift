import Foundation
import Larder

// 1. Define a type. `id` is the primary key.
@Document
struct Book: Identifiable, Equatable {
  var id: Int
  var title: String
  @Indexed var genres: [String] = []
}

func example(in folder: URL) async throws {
  // 2. Open a store (a folder) and name the types that it holds.
  let store = try Store(at: folder, documents: [Book.self])
  let books = store.repository(of: Book.self)

  // 3. Save, read, query, replace, delete. A write that returned is on the disk.
  let report = try await books.save([
    Book(id: 1, title: "Pan", genres: ["novel"]), Book(id: 2, title: "Peer Gynt"),
  ])
  print(report)  // 2 inserted, 0 updated, 0 unchanged, 0 deleted
  print(try books.get(2)?.title ?? "none")  // Peer Gynt
  let novels = Book.where { $0.genres.contains("novel") }
  print(try books.fetch(novels.sorted(by: \.title).limit(20)).map(\.title))  // ["Pan"]
  // Replaces all novels in one transaction: no reader sees an empty list in between.
  try await books.save([Book(id: 3, title: "Sult", genres: ["novel"])], clearBeforeSaving: novels)
  try await books.delete(key: 2)

  // 4. Watch: the stored result at once, then a new one after each change, whoever makes it.
  for try await stored in books.values(of: Book.all) {
    print(stored.map(\.title))  // ["Sult"]
    break
  }
}
