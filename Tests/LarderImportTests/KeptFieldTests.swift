import Larder
import LarderImport
import LarderTesting
import Testing

/// What imports leave as it is in a collection that has documents.
@Suite("What an import leaves as it is")
struct KeptFieldTests {
  @Test(
    "a second file makes no doubles of integers that are stored and that no double equals",
    arguments: ["t.ndjson", "t.csv"])
  func integers(_ name: String) throws {
    func row(_ id: Int, _ number: String) -> ImportSource {
      .text(
        name == "t.csv" ? "id,a\n\(id),\(number)\n" : "{\"id\": \(id), \"a\": \(number)}\n",
        name: name)
    }
    try withTemporaryStore { store in
      let collection = store.collection("c")
      try store.importDocuments(from: row(1, "9007199254740993"), into: "c", key: "id")

      #expect(throws: (any Error).self) {
        try store.importDocuments(from: row(2, "1.5"), into: "c", key: "id")
      }

      let found = try collection.count(.where { $0.a == 9_007_199_254_740_993 })
      #expect(found == 1)
      #expect(try collection.count() == 1)
      try store.importDocuments(from: row(1, "7"), into: "c", key: "id")
      try store.importDocuments(from: row(2, "1.5"), into: "c", key: "id")
      #expect(try collection.count(.where { $0.a > 1 }) == 2)
    }
  }

  @Test(
    "a document that would make an index impossible is refused at its line, and the index stays")
  func indexes() throws {
    try withTemporaryStore { store in
      func source(_ codes: String) -> ImportSource {
        .text("{\"id\": 1, \"a\": 1}\n{\"id\": 2, \"codes\": \(codes)}\n", name: "t.ndjson")
      }
      try store.importDocuments(from: source(#"["A"]"#), into: "c", key: "id")
      let collection = store.collection("c")
      try collection.createIndex(on: "codes", unique: true)

      let error = try refusal(in: store) {
        try store.importDocuments(from: source(#"["B", null]"#), into: "c", key: "id")
      }

      #expect(error?.line == 2)
      #expect(error?.expected.contains("for the index `codes`") == true)
      #expect(try collection.indexes().map(\.name) == ["codes"])
      #expect(try collection.count(.where { $0.codes.contains("A") }) == 1)
    }
  }
}
