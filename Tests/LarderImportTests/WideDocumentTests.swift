import Larder
import LarderImport
import LarderTesting
import Testing

// Where the work grows with the square of the names, each of these takes many minutes.

@Suite("Documents of very many fields")
struct WideDocumentTests {
  private static let columnCount = 50_000

  @Test(
    "a table takes work by its cells, those of embedded objects, too", arguments: ["", "in."])
  func table(_ prefix: String) throws {
    let names = (1..<Self.columnCount).map { "\(prefix)c\($0)" }
    let header = (["id"] + names).joined(separator: ",")
    let rows = (0..<4).map { row in
      (["\(row)"] + names.indices.map { "\($0 % 7 + row)" }).joined(separator: ",")
    }
    let scratch = try ScratchFolder()
    let file = scratch.file("wide.csv")
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: .text(([header] + rows).joined(separator: "\n"), name: "t.csv"), into: "c",
        key: "id")
      try store.export(collection: "c", as: .csv, to: .file(file))
      let again = try store.importDocuments(from: .file(file), into: "c", key: "id")

      #expect(report.saved.inserted == 4 && again.saved.unchanged == 4)
      let document = try #require(try store.collection("c").get(3))
      var value = document["c10"]
      // So many names are keys.
      if case .dictionary(let inner)? = document["in"] { value = inner[.string("c10")] }
      #expect(value == .integer(9 % 7 + 3))
    }
  }

  @Test("documents with ever new names are refused before they fill the disk, and none is saved")
  func sparse() throws {
    func lines(_ count: Int) -> ImportSource {
      .text(
        (0..<count).map { "{\"id\": \($0), \"a\($0)\": 1, \"b\($0)\": 2}\n" }.joined(),
        name: "t.ndjson")
    }
    try withTemporaryStore { store in
      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(from: lines(600), into: "c", key: "id")
      }
      #expect(error?.kind == .shape, "\(String(describing: error))")
      #expect(try store.collectionNames().isEmpty)

      // A few names may be missing anywhere.
      let report = try store.importDocuments(from: lines(400), into: "c", key: "id")
      #expect(report.saved.inserted == 400)
    }
  }

  @Test("JSON takes work by its members, those of embedded objects, too")
  func members() throws {
    let text = (0..<4).map { number in
      let members = (1..<Self.columnCount).map { "\"c\($0)\":\($0 % 7 + number)" }
        .joined(separator: ",")
      return "{\"id\":\(number),\"in\":{\(members)},\(members)}\n"
    }.joined()
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: .text(text, name: "t.ndjson"), into: "c", key: "id")

      #expect(report.saved.inserted == 4)
      #expect(try store.collection("c").get(3)?["c10"] == .integer(10 % 7 + 3))
    }
  }
}
