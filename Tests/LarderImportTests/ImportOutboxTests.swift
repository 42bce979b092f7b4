import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderImport

@Suite("imports into a collection that is synced") struct ImportOutboxTests {
  struct Source: Sendable, CustomTestStringConvertible {
    let name: String
    let text: String
    let isDirect: Bool

    var testDescription: String { "\(name), \(isDirect ? "without" : "with") trees" }
  }

  static let sources: [Source] = [true, false].flatMap { isDirect in
    [
      Source(
        name: "a.json", text: #"[{"id": "a", "n": 2}, {"id": "b", "n": 1}, {"id": "c", "n": 3}]"#,
        isDirect: isDirect),
      Source(
        name: "a.ndjson", text: "{\"id\": \"c\", \"n\": 3}\n{\"id\": \"a\", \"n\": 2}\n",
        isDirect: isDirect),
      Source(name: "a.csv", text: "id,n\na,2\nc,3\nb,1\n", isDirect: isDirect),
    ]
  }

  @Test("what an import changes is sent, and what stands there already is not", arguments: sources)
  func imported(_ source: Source) throws {
    try withTemporaryStore { store in
      let items = store.collection("items")
      try items.save([["id": "a", "n": 1], ["id": "b", "n": 1]], keyField: "id")
      try store.prepareOutbox()
      try store.write(as: .sync) { tx in
        try tx.setSynced("items", true)
        for id in ["a", "b"] { try tx.setBase("items", Array(id.utf8), to: [7]) }
      }

      _ = try ImportPath.$isDirect.withValue(source.isDirect) {
        try store.importDocuments(
          from: .bytes(Array(source.text.utf8), name: source.name), into: "items", key: "id")
      }

      var entries: [String] = []
      try store.read { snapshot in
        try snapshot.forEachOutboxEntry("items") { key, entry in
          let was = try entry.shadow.flatMap {
            try snapshot.document("items", key, record: $0)?["n"]
          }
          let now = try snapshot.recordBytes("items", key).flatMap {
            try snapshot.document("items", key, record: $0)?["n"]
          }
          let name = String(decoding: key, as: UTF8.self)
          entries.append("\(name) \(was.map { "\($0)" } ?? "new") \(now.map { "\($0)" } ?? "-")")
          return true
        }
      }
      #expect(entries == ["a 1 2", "c new 3"])
    }
  }
}
