import Foundation
import LarderLMDB
import LarderTesting
import Testing

@testable import Larder

@Suite struct DynamicSaveTests {
  @Test("a save without a type replaces the document: fields that it lacks are gone")
  func replaces() throws {
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save([["id": 1, "x": 2, "n": .document(["a": 1, "b": 2])]], keyField: "id")

      let report = try places.save([["id": 1, "n": .document(["a": 1])]])

      #expect(report.updated == 1)
      #expect(try places.get(1) == ["id": 1, "n": .document(["a": 1])])
    }
  }

  @Test("of many documents the one is named that has a value of another kind")
  func namedRefusal() throws {
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save([["id": 1, "x": 2]], keyField: "id")
      var documents: [DynamicDocument] = (2..<500).map { ["id": .integer($0), "x": 1] }
      documents[300]["x"] = "text"

      #expect {
        try places.save(documents)
      } throws: {
        guard case StoreError.valueRefused("Place", "302", "x", _, _) = $0 else { return false }
        return true
      }
      #expect(try places.count() == 1)
    }
  }

  @Test("a refusal names the document and the field that belong together")
  func refusedTogether() throws {
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save([["id": 1, "x": 2, "y": 3]], keyField: "id")
      #expect {
        try places.save([["id": 2, "x": 1, "y": "bad"], ["id": 3, "x": "bad", "y": 1]])
      } throws: {
        guard case StoreError.valueRefused("Place", "2", "y", _, _) = $0 else { return false }
        return true
      }
    }
  }

  @Test("a field that has had no value yet is compared with any, and no document matches")
  func fieldWithoutValue() throws {
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save([["id": 1, "name": .null]], keyField: "id")
      let name = DynamicFields().name
      for filter in [
        name.hasPrefix("A"), name.hasSuffix("A"), name.contains("A"), name == "A", name < 3,
      ] {
        #expect(try places.count(.where { _ in filter }) == 0)
      }
      #expect(try places.count(.where { $0.name == .null }) == 1)
      #expect {
        try places.createIndex(on: "name")
      } throws: {
        "\($0)".contains("no document has a value in `name` yet")
      }
    }
  }

  @Test("an integer that no double is equal to is refused by a field of doubles")
  func exactNumbers() throws {
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save([["id": 1, "x": 0.5]], keyField: "id")

      #expect(throws: StoreError.self) {
        try places.save([["id": 2, "x": 9_007_199_254_740_993]])
      }
      #expect(try places.count() == 1)
    }
  }

  @Test("a save that is refused or undone leaves what is known of the fields as it was")
  func unknown() throws {
    struct Undo: Error {}
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save([["id": 1, "n": 2, "text": "x"]], keyField: "id")
      let known = try store.read { $0.catalogue["Place"]?.description }
      // Of the first document alone each of these would be declared.
      let refused: [[DynamicDocument]] = [
        [["id": 2, "n": 0.5], ["id": .string("two")]], [["id": 2, "new": 1], ["id": .null]],
        [["id": 2, "n": 0.5, "text": .null], ["id": 3, "n": 9_007_199_254_740_993]],
      ]

      for documents in refused {
        #expect(throws: StoreError.self) { try places.save(documents) }
        #expect(throws: StoreError.self) {
          try store.write { try $0.save(documents, in: places, keyField: nil) }
        }
        // A body that goes on keeps nothing of it either.
        try store.write { scope in
          _ = try? scope.save(documents, in: places, keyField: nil)
          try scope.save([["id": 9, "n": 3]], in: places)
        }
      }
      #expect(throws: Undo.self) {
        try store.write { scope in
          try scope.save([["id": 2, "n": 0.5, "new": 1]], in: places, keyField: nil)
          throw Undo()
        }
      }

      let description = try store.read { $0.catalogue["Place"]?.description }
      #expect(description == known)
      #expect(try places.count() == 2)
    }
  }

  @Test(
    "of a collection that is new nothing stays of a save that is refused, and its key of one undone"
  )
  func unmade() throws {
    struct Undo: Error {}
    try withTemporaryStore { store in
      let places = store.collection("Place")
      let refused: [DynamicDocument] = [["id": 1], ["id": .unsigned(.max)]]
      #expect(throws: StoreError.self) { try places.save(refused, keyField: "id") }
      #expect(throws: StoreError.self) {
        try store.write { try $0.save(refused, in: places, keyField: "id") }
      }
      let names = try store.collectionNames()
      #expect(names == [])

      #expect(throws: Undo.self) {
        try store.write { scope in
          try scope.save([["id": 1, "x": 1]], in: places, keyField: "id")
          throw Undo()
        }
      }

      #expect(try places.keyField() == "id")
      #expect(try places.save([["id": 1, "x": "text"]]).inserted == 1)
    }
  }

  @Test("a save in a write scope knows fields at once, and the body runs once")
  func atOnce() throws {
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save([["id": 1]], keyField: "id")
      var runCount = 0

      try store.write { scope in
        runCount += 1
        try scope.save([["id": 2, "new": 1]], in: places, keyField: nil)
        try scope.save(
          [["id": 3, "new": 0.5, "other": .document(["x": 1])]], in: places, keyField: nil)
        let read = try scope.get(3, in: places)
        #expect(read?["other"] == .document(["x": 1]))
      }

      #expect(runCount == 1)
      #expect(try places.get(2)?["new"] == 1)
      #expect(try places.count(.where { $0.new > 0 }) == 2)
    }
  }

  @Test("a save that gives an indexed field another kind has its index anew, with what it saves")
  func renewed() throws {
    try withTemporaryStore { store in
      let places = store.collection("Place")
      try places.save((1...50).map { ["id": .integer($0), "n": .integer($0 % 7)] }, keyField: "id")
      try places.createIndex(on: "n")

      try places.save([["id": 51, "n": 0.5]])
      try store.write { try $0.save([["id": 52, "n": .null]], in: places, keyField: nil) }

      let found = try places.fetch(.where { $0.n == 0.5 }).map { $0["id"] }
      #expect(found == [51])
      #expect(try places.count(.where { $0.n == 3 }) == 7)
      #expect(try places.indexes().map(\.state) == [.complete])
    }
  }

  @Test("a document's hash and equality cost the same at every depth")
  func deepEquality() {
    func nested(_ depth: Int, _ leaf: Int64) -> DynamicDocument {
      depth == 0 ? ["leaf": .integer(leaf)] : ["a": .document(nested(depth - 1, leaf)), "b": 1]
    }

    #expect(nested(100, 1) == nested(100, 1))
    #expect(nested(100, 1) != nested(100, 2))
    #expect(nested(100, 1).hashValue == nested(100, 1).hashValue)
  }

  @Test("a query deletes no document that matches by damage alone")
  func damagedMatch() throws {
    let store = try Store.temporary()
    let contacts = store.repository(of: Contact.self)
    try contacts.save([Contact(id: "a", name: "keep"), Contact(id: "b", name: "keep")])
    try store.write { scope in
      let collection = try #require(scope.catalogue["Contact"])
      try Array("a".utf8).withUnsafeBytes { key in
        let record = try scope.transaction.withValue(for: key, in: collection.documents) {
          [UInt8]($0)
        }
        var altered = try #require(record)
        let place = try #require(altered.firstRange(of: Array("keep".utf8)))
        altered.replaceSubrange(place, with: Array("drop".utf8))
        try altered.withUnsafeBytes {
          try scope.transaction.put($0, for: key, in: collection.documents)
        }
      }
      scope.changeCount += 1
    }

    #expect(throws: StoreError.self) { try contacts.delete(Contact.where { $0.name == "drop" }) }
    #expect(throws: StoreError.self) {
      try contacts.save([], clearBeforeSaving: Contact.where { $0.name == "drop" })
    }
    #expect(try contacts.count() == 2)
    try store.close()
  }

  @Test("options out of their range are refused by name")
  func options() {
    var options = StoreOptions()
    options.maximumReaderCount = -1
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)

    #expect(
      throws: StoreError.invalidOption("maximumReaderCount", reason: "it must be 1 to 100,000")
    ) {
      try Store(at: folder, options: options)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path()))
  }

  @Test("the store's asynchronous reads give what the synchronous ones do")
  func asyncReads() async throws {
    try await withTemporaryStore { store in
      try await store.repository(of: Contact.self).save(Contact(id: "a"))

      #expect(try await store.async.read { try $0.count(Contact.all) } == 1)
      #expect(try await store.async.statistics().documentCount == 1)
      #expect(try await store.async.check().isSound)
    }
  }
}
