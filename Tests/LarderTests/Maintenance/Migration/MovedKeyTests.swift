import Foundation
import LarderTesting
import Testing

@testable import Larder

@Suite struct MovedKeyTests {
  /// Adds `distance` to every key.
  private func move(_ number: inout MigratingDocument, by distance: Int64) throws {
    guard case .integer(let id) = number.key else { throw Unexpected() }
    number["id"] = .integer(id + distance)
    try convert(&number)
  }

  @Test(
    "a document that moves to another key is migrated once, whether it moves ahead or back",
    arguments: [1000, -1000], [1, 7, 100])
  func moved(distance: Int64, batchCount: Int) throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(50)

      let report = try numbers.migrate(to: 2, batchCount: batchCount) {
        try move(&$0, by: distance)
      }

      #expect(report == MigrationReport(version: 2, migrated: 50))
      let expected = converted(50).map { document in
        var document = document
        if case .integer(let id)? = document["id"] { document["id"] = .integer(id + distance) }
        return document
      }
      #expect(try numbers.documents() == expected)
      #expect(try store.repository(of: Number.self).get(Int(distance + 3))?.text == 3)
    }
  }

  @Test("documents that move ahead into a migration that is resumed are not migrated again")
  func resumed() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(50)
      for key in [20, 45] {
        #expect(throws: MigrationError.self) {
          try numbers.migrate(to: 2, batchCount: 3) { number in
            if number.key == .integer(Int64(key)) { throw Unexpected() }
            try move(&number, by: 100)
          }
        }
      }

      try numbers.migrate(to: 2, batchCount: 3) { try move(&$0, by: 100) }

      #expect(try numbers.documents().map { $0["changes"] } == Array(repeating: 1, count: 50))
    }
  }

  @Test(
    "a key that is taken is a typed error, whatever batch its owner is in", arguments: [1, 3, 9])
  func taken(batchCount: Int) throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(9)

      // Each document wants the next one's key, which that one would have left afterwards.
      let error = StoreError.keyTaken(collection: "Number", key: "0", taken: "1")
      #expect(throws: error) {
        try numbers.migrate(to: 2, batchCount: batchCount) { try move(&$0, by: 1) }
      }
      #expect(error.description.contains("another document has it"))
      #expect(throws: StoreError.keyTaken(collection: "Number", key: "5", taken: "100")) {
        try numbers.migrate(to: 2, batchCount: batchCount) { number in
          if number.key == 2 || number.key == 5 { number["id"] = 100 }
          try convert(&number)
        }
      }
      // A key that was left before is free.
      try numbers.migrate(to: 2, batchCount: batchCount) { number in
        if number.key == 6 { number.delete() }
        if number.key == 7 || number.key == 8, case .integer(let key) = number.key {
          number["id"] = .integer(key - 1)
        }
        try convert(&number)
      }
      #expect(
        try numbers.documents().filter { $0["id"] != 100 }.map { $0["id"] }.suffix(2) == [6, 7])
    }
  }

  @Test("two documents swap their keys by way of a third")
  func emptied() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(4)

      try numbers.migrate(to: 2, batchCount: 10) { number in
        try convert(&number)
        if number.key == 1 { number["id"] = -1 }
        if number.key == 2 { number["id"] = 1 }
        if number.key == 3 { number["id"] = 2 }
      }

      #expect(try numbers.documents().map { $0["text"] } == [1, 0, 2, 3])
      #expect(try numbers.documents().map { $0["id"] } == [-1, 0, 1, 2])
    }
  }

  @Test("a key that is none is refused by the key that the document had")
  func noKey() throws {
    try withTemporaryStore { store in
      let numbers = try store.numbers(3)
      for (value, found) in [(Value?.none, "nothing"), (.some("x"), "the string \"x\"")] {
        #expect(
          throws: StoreError.valueRefused(
            collection: "Number", key: "1", field: "id", found: found,
            expected: "a key (integer)")
        ) { try numbers.migrate(to: 2) { if $0.key == 1 { $0["id"] = value } } }
      }
      try store.collection("Text").save([["id": "a"]], keyField: "id")
      #expect(throws: StoreError.self) {
        try store.collection("Text").migrate(to: 2) { $0["id"] = "" }
      }
      #expect(try numbers.documents() == numbered(3))
    }
  }

  @Test("documents whose key is computed by their type keep it")
  func computedKey() throws {
    try withTemporaryStore { store in
      try store.repository(of: Computed.self).save([Computed(text: "a"), Computed(text: "b")])

      try store.migrate(Computed.self, to: 2) { computed in
        guard case .string(let key) = computed.key else { throw Unexpected() }
        computed["text"] = .string(key + computed.document.fields.map(\.name).joined())
      }

      #expect(try store.collection("Computed").get("key a") == ["text": "key atext"])
    }
  }
}

private struct Computed: Document {
  var text: String

  var entityAccessorKey: String { "key " + text }

  static let schema = Schema<Computed>("Computed", fields: [Field("text", \.text)])

  func encode(into record: inout RecordWriter) { record.put(text, at: 0) }
}

extension Computed {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(text: try record.get(0))
  }
}
