import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderImport

@Suite("Imports that take the place of what a query matches")
struct ImportClearingTests {
  private static let small: ImportOptions = {
    var options = ImportOptions()
    options.batchDocumentCount = 50
    return options
  }()

  private func source(_ parts: [ClearedPart]) throws -> ImportSource {
    let text = parts.map { part in
      #"{"id": \#(part.id), "shelf": "\#(part.shelf)", "count": \#(part.count)}"# + "\n"
    }
    return .text(text.joined(), name: "parts.ndjson")
  }

  private static func random(_ random: inout RandomSource, _ count: Int) -> [ClearedPart] {
    Set((0..<count).map { _ in random.int(0..<600) }).shuffled(using: &random).map { id in
      ClearedPart(id: id, shelf: "s\(random.int(0..<4))", count: random.int(0..<3))
    }
  }

  @Test("an import with a query leaves and tells what a save that clears before would")
  func oracle() throws {
    var random = RandomSource()
    for round in 0..<repetitions(40) {
      let (stored, new) = (Self.random(&random, 400), Self.random(&random, 300))
      let text = "s\(random.int(0..<5))"
      let number = random.int(0..<4)
      let (query, dynamic): (Query<ClearedPart>, DynamicQuery) =
        switch random.int(0..<4) {
        case 0: (ClearedPart.all, DynamicQuery())
        case 1: (ClearedPart.where { $0.shelf == text }, .where { $0.shelf == .string(text) })
        case 2:
          (ClearedPart.where { $0.count < number }, .where { $0.count < .integer(Int64(number)) })
        default:
          (ClearedPart.where { $0.id > 300 }.sorted(by: \.shelf), .where { $0.id > 300 })
        }
      try withTemporaryStore { expected in
        try withTemporaryStore { typed in
          try withTemporaryStore { untyped in
            for store in [expected, typed, untyped] {
              try store.repository(of: ClearedPart.self).save(stored)
            }
            let sequence = try expected.statistics().sequence

            let saved = try expected.repository(of: ClearedPart.self).save(
              new, clearBeforeSaving: query)
            let report = try typed.importDocuments(
              from: source(new), into: ClearedPart.self, clearBeforeSaving: query,
              options: Self.small)
            let other = try untyped.importDocuments(
              from: source(new), into: "Part", key: "id", clearBeforeSaving: dynamic,
              options: Self.small)

            #expect(report.saved == saved, "round \(round): \(query)")
            #expect(other.saved == saved, "round \(round): \(query)")
            let documents = try expected.repository(of: ClearedPart.self).fetch(ClearedPart.all)
            for store in [typed, untyped] {
              #expect(
                try store.repository(of: ClearedPart.self).fetch(ClearedPart.all) == documents)
              #expect(try store.statistics().sequence == sequence + UInt64(saved.changed))
              #expect(try store.check().problems.isEmpty)
            }
          }
        }
      }
    }
  }

  @Test("a document may have the unique value of one that is deleted, in a dry run too")
  func unique() throws {
    try withTemporaryStore { store in
      let people = store.collection("people")
      try people.save([["id": 1, "mail": "a"], ["id": 2, "mail": "b"]], keyField: "id")
      try people.createIndex(on: "mail", unique: true)
      let file = ImportSource.text(#"[{"id": 3, "mail": "a"}]"#, name: "people.json")

      for isDryRun in [true, false] {
        var options = ImportOptions()
        options.isDryRun = isDryRun
        try store.importDocuments(
          from: file, into: "people", key: "id",
          clearBeforeSaving: .where { $0.mail == "a" }, options: options)
        let keys = try people.fetch(DynamicQuery()).map { $0["id"] }
        #expect(keys == (isDryRun ? [1, 2] : [2, 3]))
      }
      // What stays keeps its value.
      #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: .text(#"[{"id": 4, "mail": "b"}]"#, name: "people.json"), into: "people", key: "id",
          clearBeforeSaving: .where { $0.mail == "a" })
      }
      #expect(try people.count() == 2)
    }
  }

  @Test("a file without documents deletes what the query matches, and makes no collection")
  func empty() throws {
    try withTemporaryStore { store in
      try store.repository(of: ClearedPart.self).save(
        [ClearedPart(id: 1, shelf: "a", count: 1), ClearedPart(id: 2, shelf: "b", count: 1)])
      let nothing = ImportSource.text("[]", name: "nothing.json")

      let typed = try store.importDocuments(
        from: nothing, into: ClearedPart.self,
        clearBeforeSaving: ClearedPart.where { $0.shelf == "a" })
      let untyped = try store.importDocuments(
        from: nothing, into: "Part", key: "id", clearBeforeSaving: DynamicQuery())
      let other = try store.importDocuments(
        from: nothing, into: "other", key: "id", clearBeforeSaving: DynamicQuery())

      #expect(typed.saved.deleted == 1 && untyped.saved.deleted == 1 && other.saved.deleted == 0)
      #expect(try store.repository(of: ClearedPart.self).count() == 0)
      #expect(try store.collectionNames() == ["Part"])
    }
  }

  @Test("what cannot be imported deletes nothing, and neither does a query that is refused")
  func refused() throws {
    try withTemporaryStore { store in
      let parts = store.repository(of: ClearedPart.self)
      try parts.save([ClearedPart(id: 1, shelf: "a", count: 1)])
      let good = try source([ClearedPart(id: 2, shelf: "b", count: 1)])

      #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: .text(#"[{"id": 2, "shelf": "b", "count": "many"}]"#, name: "bad.json"),
          into: ClearedPart.self, clearBeforeSaving: ClearedPart.all)
      }
      #expect(
        throws: StoreError.queryNotAllowed(
          operation: "clearBeforeSaving", reason: "it has a limit")
      ) {
        try store.importDocuments(
          from: good, into: ClearedPart.self, clearBeforeSaving: ClearedPart.all.limit(1))
      }
      #expect(
        throws: StoreError.queryNotAllowed(
          operation: "clearBeforeSaving", reason: "it has an offset")
      ) {
        try store.importDocuments(
          from: good, into: "Part", key: "id", clearBeforeSaving: DynamicQuery().offset(1))
      }
      #expect(throws: DynamicQueryError.self) {
        try store.importDocuments(
          from: good, into: "Part", key: "id", clearBeforeSaving: .where { $0.aisle == "b" })
      }
      // A collection that is only about to be made has no such field either.
      #expect(throws: (any Error).self) {
        try store.importDocuments(
          from: good, into: "new", key: "id", clearBeforeSaving: .where { $0.aisle == "b" })
      }
      #expect(throws: ImportInterrupted.self) {
        try store.importDocuments(
          from: good, into: ClearedPart.self, clearBeforeSaving: ClearedPart.all
        ) {
          if $0.phase == .reading { throw CancellationError() }
        }
      }

      #expect(try parts.fetch(ClearedPart.all).map(\.id) == [1])
      #expect(try store.collectionNames() == ["Part"])
    }
  }

  @Test("fields that the file's type does not know stay in documents that are replaced")
  func unknownFields() throws {
    try withTemporaryStore { store in
      try store.collection("Part").save(
        [
          ["id": 1, "shelf": "a", "count": 1, "note": "kept"], ["id": 2, "shelf": "a", "count": 1],
        ],
        keyField: "id")

      try store.importDocuments(
        from: source([ClearedPart(id: 1, shelf: "b", count: 2)]), into: ClearedPart.self,
        clearBeforeSaving: ClearedPart.all)

      let documents = try store.collection("Part").fetch(DynamicQuery())
      #expect(documents == [["id": 1, "shelf": "b", "count": 2, "note": "kept"]])
    }
  }

  @Test("the first place that is not before a key is the one that a search from the start finds")
  func places() {
    var random = RandomSource()
    for _ in 0..<repetitions(200) {
      var list = KeyList()
      let keys = Set((0..<random.int(0..<60)).map { _ in UInt8(random.int(0..<120)) }).sorted()
      for key in keys { withUnsafeBytes(of: key) { list.append($0) } }
      for wanted in UInt8(0)..<122 {
        let start = random.int(0..<keys.count + 1)
        let expected = keys[start...].firstIndex { $0 >= wanted } ?? keys.count
        withUnsafeBytes(of: wanted) { key in
          #expect(list.firstPlace(notBefore: key, from: start) == expected)
          if expected < keys.count {
            #expect(list.hasKey(key, at: expected) == (keys[expected] == wanted))
          }
        }
      }
    }
  }
}

@Document(as: "Part")
private struct ClearedPart: Identifiable, Equatable {
  var id: Int
  @Indexed var shelf: String
  var count: Int
}
