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
