import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

/// Whose votes have other keys than text.
@Document private struct Poll: Identifiable, Equatable {
  var id: Int
  var votes: [Int: Int] = [:]
  var voters: [UUID: Int] = [:]
}

@Suite("Keys that stand around values in a file")
struct OuterKeyTests {
  private func refusal(
    of text: String, into store: Store, shape: JSONShape = .automatic, makesKeys: Bool = false
  ) -> ImportError? {
    var options = ImportOptions()
    options.shape = shape
    options.makesKeys = makesKeys
    return #expect(throws: ImportError.self) {
      try store.importDocuments(
        from: .text(text, name: "t.json"), into: "c", key: "id", options: options)
    }
  }

  @Test(
    "keys of documents are not lost for keys that are made",
    arguments: [JSONShape.automatic, .keyed])
  func made(shape: JSONShape) throws {
    try withTemporaryStore { store in
      let error = refusal(
        of: "{\n\"anna\": {\"x\": 1},\n\"bo\": {\"x\": 2}}", into: store, shape: shape,
        makesKeys: true)

      let names = try store.collectionNames()
      #expect(error?.kind == .value && error?.line == 2)
      #expect(error?.found == "a document under the key `anna`")
      #expect(names.isEmpty)
    }
  }

  @Test("a key of a document is a number only as that is written", arguments: [7, UInt64.max])
  func numbers(known: UInt64) throws {
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text("{\"id\": \(known)}", name: "t.ndjson"), into: "c", key: "id")
      for key in ["007", "+8", "-0", "1.0", "x"] {
        let error = refusal(of: "{\n\"9\": {\"x\": 0},\n\"\(key)\": {\"x\": 1}}", into: store)

        #expect(error?.found == "a document under the key `\(key)`")
        #expect(error?.line == 3)
      }
      try store.importDocuments(
        from: .text("{\n\"9\": {\"x\": 0},\n\"0\": {\"x\": 1}}", name: "t.json"), into: "c",
        key: "id")
      #expect(try store.collection("c").count() == 3)
    }
  }

  @Test("a UUID may be written in small letters, as a key of a document and of a dictionary")
  func identifiers() throws {
    try withTemporaryStore { store in
      let id = UUID()
      let text = id.uuidString.lowercased()
      try store.collection("c").save([["id": .uuid(UUID())]], keyField: "id")

      try store.importDocuments(
        from: .text("{\n\"\(text)\": {\"x\": 1}}", name: "t.json"), into: "c", key: "id")
      try store.importDocuments(
        from: .text("{\"id\": 1, \"voters\": {\"\(text)\": 5}}", name: "p.ndjson"), into: Poll.self)

      #expect(try store.collection("c").get(.uuid(id))?["x"] == 1)
      #expect(try store.repository(of: Poll.self).get(1)?.voters == [id: 5])
    }
  }

  @Test(
    "what is wrong with a key of a dictionary is said of the key, and not of its value",
    arguments: [
      ("votes", #"{"7": 1, "anna": 2}"#, #"the key "anna""#, "a key that is int64"),
      ("votes", #"{"007": 1}"#, #"the key "007""#, "a key that is int64"),
      ("votes", #"{"-0": {}}"#, #"the key "-0""#, "a key that is int64"),
      ("voters", #"{"x": 1}"#, #"the key "x""#, "a key that is uuid"),
    ])
  func dictionary(field: String, votes: String, found: String, expected: String) throws {
    try withTemporaryStore { store in
      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: .text("{\"id\": 1, \"\(field)\": \(votes)}", name: "p.ndjson"), into: Poll.self)
      }

      #expect(error?.found == "\(found) in `\(field)`")
      #expect(error?.expected == expected)
      #expect(error?.column == field.count + 15)
    }
  }
}
