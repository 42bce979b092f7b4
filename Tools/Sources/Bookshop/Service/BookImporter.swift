internal import Foundation
internal import Larder
internal import LarderImport

/// Brings in the books that come with the app.
protocol BookImporter: Sendable {
  /// - Throws: `ImportError`, `StoreError`; no book is brought in then.
  func importBooks() async throws
}

/// Imports a file of books, in one transaction: an app that is killed meanwhile begins again.
struct FixtureImporter: BookImporter {
  let file: String
  let store: Store

  func importBooks() async throws {
    try await store.load(fixture: URL(filePath: file), into: Book.self)
  }
}
