import Foundation
import Larder
import LarderImport
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@Document(as: "ImportedFilm")
private struct OlderFilm: Equatable {
  var id: Int
  var title: String
  var genres: [String] = []
  var rank = 5
  var length: Int?
  var place = OlderPlace(city: "o")
}

@EmbeddedDocument
private struct OlderPlace: Equatable {
  var city: String
}

@EmbeddedDocument
private struct NewerPlace: Equatable {
  var city: String
  var street: String?
}

@Document(as: "ImportedFilm")
private struct NewerFilm: Equatable {
  var id: Int
  var title: String
  var genres: [String] = []
  var rank = 5
  var length: Int?
  var place = NewerPlace(city: "o")
  var stars: Int?
}

@Document
private struct ImportedReading: Equatable {
  static let ageing: [Ageing<ImportedReading>] = [.keepNewest(100, by: \.number)]

  var id: Int
  @Indexed var number: Int
}

@Document
private struct RankedPlayer: Equatable {
  var id: Int
  @Indexed(unique: true) var rank: Int
}

@Suite("Imports of a type")
struct TypedImportTests {
  private let seed = ImportSource.text(#"{"id": 1, "title": "Elling"}"# + "\n", name: "f.ndjson")

  @Test("fields that the type does not know stay, and those that it knows go, as in a save")
  func keeps() async throws {
    try await withTemporaryStore { store in
      let newer = store.repository(of: NewerFilm.self)
      try await newer.save(
        NewerFilm(
          id: 1, title: "Ellinge", genres: ["a"], rank: 7, length: 89,
          place: NewerPlace(city: "p", street: "s"), stars: 5))

      let report = try store.importDocuments(from: seed, into: OlderFilm.self)

      #expect(report.saved.updated == 1)
      #expect(
        try newer.get(1)
          == NewerFilm(id: 1, title: "Elling", place: NewerPlace(city: "o", street: "s"), stars: 5)
      )
      // An import without a type is the whole document.
      try store.importDocuments(from: seed, into: "ImportedFilm", key: "id")
      #expect(try newer.get(1) == NewerFilm(id: 1, title: "Elling"))
    }
  }

  @Test("what the app has saved is equal to what the file has without initial values")
  func initialValues() async throws {
    try await withTemporaryStore { store in
      let films = store.repository(of: OlderFilm.self)
      try await films.save(OlderFilm(id: 1, title: "Elling"))
      let start = try store.changeToken()

      let report = try store.importDocuments(from: seed, into: OlderFilm.self)

      #expect(report.saved.unchanged == 1 && report.saved.updated == 0)
      #expect(try store.changeToken() == start)
      try await films.save(OlderFilm(id: 1, title: "Elling", rank: 6))
      #expect(try store.importDocuments(from: seed, into: OlderFilm.self).saved.updated == 1)
      #expect(try films.get(1)?.rank == 5)
    }
  }

  @Test("the rules of ageing of the type hold", arguments: [false, true])
  func ageing(atomically: Bool) throws {
    try withTemporaryStore { store in
      var options = ImportOptions()
      options.atomically = atomically
      options.batchDocumentCount = 100
      let lines = (0..<1000).map { #"{"id": \#($0), "number": \#($0)}"# + "\n" }.joined()

      try store.importDocuments(
        from: .text(lines, name: "r.ndjson"), into: ImportedReading.self, options: options)

      let readings = store.repository(of: ImportedReading.self)
      #expect(try readings.fetch(ImportedReading.all).map(\.number) == Array(900..<1000))
    }
  }

  @Test("unique values may change places anywhere in a file", arguments: [false, true])
  func swapped(isDryRun: Bool) throws {
    try withTemporaryStore { store in
      var options = ImportOptions()
      options.batchDocumentCount = 100
      func lines(_ rank: (Int) -> Int) -> ImportSource {
        .text(
          (0..<1000).map { #"{"id": \#($0), "rank": \#(rank($0))}"# + "\n" }.joined(),
          name: "p.ndjson")
      }
      let players = store.repository(of: RankedPlayer.self)
      try store.importDocuments(from: lines { $0 }, into: RankedPlayer.self, options: options)
      options.isDryRun = isDryRun

      // All move up by one, and the first becomes the last.
      try store.importDocuments(
        from: lines { ($0 + 999) % 1000 }, into: RankedPlayer.self, options: options)

      #expect(try players.get(0)?.rank == (isDryRun ? 0 : 999))
      #expect(try players.count() == 1000)
      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: lines { $0 == 950 ? 3 : $0 }, into: RankedPlayer.self, options: options)
      }
      #expect(error?.position?.line == 951)
      #expect(error?.found == "rank 3 in the unique index `rank`, as RankedPlayer 3 has")
      #expect(try store.check().isSound)
      // Looking for the place is no progress.
      var fractions: [Double] = []
      #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: lines { $0 == 950 ? 3 : $0 }, into: RankedPlayer.self, options: options
        ) { fractions.append($0.fraction ?? -1) }
      }
      #expect(fractions == fractions.sorted())
    }
  }

  @Test("a unique index that comes while the file is checked has all saved at once")
  func lateIndex() throws {
    try withTemporaryStore { store in
      var options = ImportOptions()
      options.batchDocumentCount = 100
      let people = store.collection("people")
      try people.save([["id": -1, "email": "z"]], keyField: "id")
      let lines = (0..<1000).map { #"{"id": \#($0), "email": "e\#($0 == 950 ? 3 : $0)"}"# + "\n" }
      let hasIndex = Locked(false)

      #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: .text(lines.joined(), name: "p.ndjson"), into: "people", key: "id",
          options: options
        ) { _ in
          try hasIndex.withLock {
            if $0 { return }
            $0 = true
            try people.createIndex(on: "email", unique: true)
          }
        }
      }

      #expect(try people.count() == 1)
    }
  }
}
