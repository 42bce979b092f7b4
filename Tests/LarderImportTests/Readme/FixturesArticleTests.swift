import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

/// What the article on fixtures says of its examples, which `ArticleTests` compiles.
@Suite struct FixturesArticleTests {
  @Document
  struct Film: Identifiable, Equatable {
    var id: Int
    var title: String
    var released: Date?
    var genres: [String] = []
  }

  private let text = """
    {"id": 1, "title": "Elling", "released": "2001-03-16T00:00:00Z", "genres": ["comedy"]}
    {"id": 2, "title": "Insomnia"}
    """

  @Test("lines in a test become documents, with initial values for what they lack")
  func withoutFile() throws {
    try withTemporaryStore { store in
      try store.importDocuments(from: .bytes(Array(text.utf8), name: "films"), into: Film.self)

      let films = store.repository(of: Film.self)
      #expect(try films.get(1)?.released == Date(timeIntervalSince1970: 984_700_800))
      #expect(try films.get(2) == Film(id: 2, title: "Insomnia"))
    }
  }

  @Test("a date without a time becomes a date of the type")
  func date() throws {
    try withTemporaryStore { store in
      let text = #"[{"id": 1, "title": "Elling", "released": "2026-03-01"}]"#
      try store.importDocuments(from: .bytes(Array(text.utf8), name: "films"), into: Film.self)

      let released = try store.repository(of: Film.self).get(1)?.released
      #expect(released == Date(timeIntervalSince1970: 1_772_323_200))
    }
  }

  @Test("an exported fixture brings equal documents back", arguments: ["json", "ndjson", "csv"])
  func exported(_ format: String) throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).\(format)")
    defer { try? FileManager.default.removeItem(at: file) }
    try withTemporaryStore { store in
      try store.importDocuments(from: .bytes(Array(text.utf8), name: "films"), into: Film.self)
      let format = try #require(ExportFormat(rawValue: format))
      try store.export(Film.all, as: format, to: .file(file.path))
      let films = try store.repository(of: Film.self).fetch(Film.all)

      try withTemporaryStore { other in
        try other.load(fixture: file, into: Film.self)

        #expect(try other.repository(of: Film.self).fetch(Film.all) == films)
      }
    }
  }
}
