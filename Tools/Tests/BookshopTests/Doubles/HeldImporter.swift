import Larder
import LarderSync
import LarderTesting

@testable import Bookshop

/// Brings books in when a test says so.
final class HeldImporter: BookImporter {
  private let books: any Repository<Book, Book>
  private let given: [Book]
  private let remote = ScriptedRemote<Bool>()

  init(into books: any Repository<Book, Book>, _ given: [Book]) {
    self.books = books
    self.given = given
  }

  func importBooks() async throws {
    _ = try await remote.fetch()
    try await books.save(given, as: .imported)
  }

  func waitForCall() async { await remote.waitForRequests(1) }
  func go() async { await answer(.success(.prefetched)) }
  func fail() async { await answer(.failure(Refused())) }

  private func answer(_ answer: ScriptedRemote<Bool>.Answer) async {
    await waitForCall()
    remote.answer(answer)
  }
}
