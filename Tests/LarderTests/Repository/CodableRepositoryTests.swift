import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

struct CodableRepositoryTests {
  @Test("queries over a plain type mean what Swift's filter and sorted mean")
  func queries() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let notes = store.repository(of: PlainNote.self)
      let all = (0..<80).map { random.note(String(format: "%03d", $0)) }
      try notes.save(all)
      func check(
        _ query: Query<CodableDocument<PlainNote>>, _ expected: [PlainNote],
        _ place: SourceLocation = #_sourceLocation
      ) throws {
        #expect(try notes.fetch(query) == expected, "\(random.hint)", sourceLocation: place)
        #expect(try notes.count(query) == expected.count, sourceLocation: place)
      }

      try check(notes.where { $0.isDone }, all.filter(\.isDone))
      try check(
        notes.where { !$0.isDone && $0.order < 3 }, all.filter { !$0.isDone && $0.order < 3 })
      try check(
        notes.where { $0.city == nil || $0.title.hasPrefix("a") },
        all.filter { $0.city == nil || $0.title.hasPrefix("a") })
      try check(notes.where { $0.tags.contains("a") }, all.filter { $0.tags.contains("a") })
      try check(
        notes.where { $0.place.lat > 0 }, all.filter { $0.place.map { $0.lat > 0 } ?? false })
      try check(notes.where { $0.place.label == nil }, all.filter { $0.place?.label == nil })
      try check(notes.where { $0.place != nil }, all.filter { $0.place != nil })
      try check(notes.where { $0.title.count == 3 }, all.filter { $0.title.count == 3 })
      try check(
        notes.all.sorted(by: \.order).sorted(by: \.id, .reverse).offset(5).limit(20),
        Array(
          all.sorted { ($0.order, $1.id) < ($1.order, $0.id) }.dropFirst(5).prefix(20)))
      try check(
        notes.where { $0.order.isIn(2..<7) }.where { $0.isDone },
        all.filter { (2..<7).contains($0.order) && $0.isDone })
    }
  }

  @Test("a query that is saved over clears what it matches, by the closure")
  func clearBeforeSaving() throws {
    try withTemporaryStore { store in
      let notes = store.repository(of: PlainNote.self)
      try notes.save([
        PlainNote(id: "1", title: "a", city: "Oslo"), PlainNote(id: "2", title: "b", city: "Voss"),
      ])
      let report = try notes.save(
        [PlainNote(id: "3", title: "c", city: "Oslo")],
        clearBeforeSaving: notes.where { $0.city == "Oslo" })
      #expect("\(report)" == "1 inserted, 0 updated, 0 unchanged, 1 deleted")
      #expect(try notes.fetch(notes.all).map(\.id) == ["2", "3"])
      #expect(try notes.delete(notes.where { $0.city == "Voss" }) == 1)
    }
  }

  @Test("one type may have several collections, and several types one")
  func collections() throws {
    struct Title: Codable, Identifiable, Sendable, Equatable {
      var id: String
      var title: String
    }
    try withTemporaryStore { store in
      let notes = store.repository(of: PlainNote.self)
      let archive = store.repository(of: PlainNote.self, collection: "archive")
      let titles = store.repository(of: Title.self, collection: "archive")
      try notes.save(PlainNote(id: "1", title: "a"))
      try archive.save([PlainNote(id: "1", title: "old", order: 4), PlainNote(id: "2", title: "z")])

      #expect(try store.collectionNames() == ["PlainNote", "archive"])
      #expect(try notes.count() == 1)
      #expect(try titles.fetch(titles.all).map(\.title) == ["old", "z"])
      try titles.save(Title(id: "1", title: "new"))
      #expect(try archive.get("1") == PlainNote(id: "1", title: "new", order: 4))
      #expect(try archive.eraseAllData() == 2)
      #expect(try notes.get("1")?.title == "a")
      #expect(try titles.get(keys: ["1"]) == [])
    }
  }

  @Test("a write scope takes plain values as documents, and gives them back")
  func writeScope() throws {
    try withTemporaryStore { store in
      let notes = store.repository(of: PlainNote.self)
      try store.write { tx in
        try tx.save(
          [PlainNote(id: "1", title: "a"), PlainNote(id: "2", title: "b")].map(CodableDocument.init)
        )
        try tx.update(CodableDocument<PlainNote>.self, "2") { $0.model.title = "c" }
        #expect(try tx.get(CodableDocument<PlainNote>.self, "2")?.title == "c")
        #expect(
          try tx.fetch(CodableDocument<PlainNote>.where { $0.title == "a" }).map(\.id) == ["1"])
      }
      #expect(try notes.fetch(notes.all).map(\.title) == ["a", "c"])
      #expect(throws: CancellationError.self) {
        try store.write { tx in
          try tx.save(CodableDocument(PlainNote(id: "3", title: "x", city: "y")))
          throw CancellationError()
        }
      }
      #expect(try notes.count() == 2)
      let documents = store.repository(of: CodableDocument<PlainNote>.self)
      try documents.save(CodableDocument(PlainNote(id: "4", title: "d")))
      #expect(try notes.get("4")?.title == "d")
    }
  }

  @Test("a body that swallows an error for fields that are lacking still keeps its save")
  func swallowed() throws {
    try withTemporaryStore { store in
      try store.write { tx in
        _ = try? tx.save(CodableDocument(PlainNote(id: "1", title: "a")))
      }
      #expect(try store.repository(of: PlainNote.self).get("1")?.title == "a")
    }
  }

  @Test("a large save in the order of its keys, and one out of order, are saved whole")
  func large() throws {
    try withTemporaryStore { store in
      let notes = store.repository(of: PlainNote.self)
      // A field comes up late, so that the save begins again.
      var many = (0..<3000).map { PlainNote(id: String(format: "%05d", $0), title: "t\($0)") }
      many[2900].stops = [.init(lat: 1, lon: 2)]
      let report = try notes.save(many)
      #expect(report.inserted == 3000)
      #expect(try notes.fetch(notes.all) == many)
      #expect(try notes.save(many.reversed() + [many[0]]).unchanged == 3000)
      #expect(try notes.save(Array(many.prefix(10)), clearBeforeSaving: notes.all).deleted == 2990)
    }
  }

  @Test("a type that is a Document and Codable has its own repository")
  func documentsFirst() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Both.self)
      try repository.save(Both(id: "1"))
      #expect(try repository.fetch(Both.all) == [Both(id: "1")])
      #expect(try store.collectionNames() == ["both"])
    }
  }

  @Test("many threads save and read values of one type whose fields are new")
  func threads() async throws {
    try await withTemporaryStore { store in
      let notes = store.repository(of: PlainNote.self)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            var random = RandomSource(seed: UInt64(task))
            for round in 0..<40 {
              let note = random.note("\(task)-\(round)")
              try await notes.save(note)
              #expect(try notes.get(note.id) == note)
              _ = try notes.fetch(notes.where { $0.isDone })
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(try notes.count() == 320)
    }
  }
}

private struct Both: Document, Codable, Identifiable, Equatable {
  var id: String

  static let schema = Schema<Both>("both", key: \.id, fields: [Field("id", \.id)])

  func encode(into record: inout RecordWriter) { record.put(id, at: 0) }
}

extension Both {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0))
  }
}
