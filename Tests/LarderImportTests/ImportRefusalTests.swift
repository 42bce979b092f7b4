import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

/// Where each broken file is refused, whatever the collection knows.
private let places: [String: String] = [
  "empty.json": "1:1", "trailing-comma.json": "5:1", "duplicate-key.json": "3:35",
  "lone-surrogate.json": "3:251", "invalid-utf8.json": "3:250",
  "utf16.json": "1:1", "deep.json": "3:373", "truncated.json": "4:171",
  "leading-zero.json": "3:131", "nan.json": "3:144", "overflow.json": "3:144",
  "control-character.json": "3:252", "trailing-garbage.json": "6:1", "not-an-object.json": "3:1",
  "missing-key.ndjson": "3:1", "null-key.ndjson": "2:8", "empty-key.ndjson": "2:8",
  "long-key.ndjson": "2:8", "wrong-kind.ndjson": "3:130", "huge-integer.ndjson": "2:130",
  "line-spans.ndjson": "2:59", "bad-date.ndjson": "2:163",
]

@Suite("Refusing what is broken")
struct ImportRefusalTests {
  @Test("every broken fixture is known here")
  func complete() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Fixtures.path("Broken"))
    #expect(Set(files) == Set(places.keys))
  }

  @Test(
    "a broken file is refused at its place and changes nothing in a typed collection",
    arguments: places.keys.sorted())
  func typed(name: String) throws {
    try withTemporaryStore { store in
      try store.importDocuments(from: Fixtures.source("contacts.json"), into: Contact.self)

      let error = try refusal(in: store) {
        try store.importDocuments(from: Fixtures.source("Broken/\(name)"), into: Contact.self)
      }

      #expect(error?.position.map { "\($0)" } == places[name])
      #expect(error?.file == Fixtures.path("Broken/\(name)"))
    }
  }

  @Test(
    "a broken file is refused at its place and changes nothing in an inferred collection",
    arguments: places.keys.sorted().filter { $0 != "bad-date.ndjson" })
  func inferred(name: String) throws {
    try withTemporaryStore { store in
      try store.importDocuments(
        from: Fixtures.source("contacts.json"), into: "contacts", key: "id")

      let error = try refusal(in: store) {
        try store.importDocuments(
          from: Fixtures.source("Broken/\(name)"), into: "contacts", key: "id")
      }

      #expect(error?.position.map { "\($0)" } == places[name])
    }
  }

  @Test(
    "a broken file leaves a store empty that was empty: no collection, no field",
    arguments: places.keys.sorted())
  func empty(name: String) throws {
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(from: Fixtures.source("Broken/\(name)"), into: Contact.self)
      }

      #expect(error?.position.map { "\($0)" } == places[name])
      #expect(try store.collectionNames().isEmpty)
    }
  }

  @Test(
    "an error says what was found, where, and what was expected",
    arguments: [
      (
        #"[{"id": 1, "a": [{"b": 1}, {"b": "x"}]}]"#,
        "1:34: found the string `x` in `a.1.b`, expected int64, as in the documents before"
      ),
      (
        "[{\"id\": 1, \"a.b\": 1},\n {\"id\": 2, \"a.b\": true}]",
        "2:19: found true in `a.b`, expected int64, as in the documents before"
      ),
      (
        #"[{"id": 1}, {"id": "x"}]"#,
        "1:20: found the string `x` in `id`, expected int64, as in the documents before"
      ),
      (
        #"[{"id": 1, "n": 0.12345678901234567890123}]"#,
        "1:17: found the number `0.12345678901234567890123`, expected an integer of 64 bits, "
      ),
      (
        "[{\"id\": 1, \"e\\u0301\": 1, \"\u{E9}\": 2}]",
        "1:31: found `\u{E9}` a second time, in another Unicode normalisation"
      ),
    ])
  func sentences(text: String, sentence: String) throws {
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(from: .text(text), into: "c", key: "id")
      }

      #expect(error?.description.hasPrefix("test.json:" + sentence) == true, "\(error!)")
    }
  }

  @Test("a kind that the collection holds in a field is not changed by a file")
  func storedKind() throws {
    try withTemporaryStore { store in
      try store.collection("c").save([["id": 1, "zip": "0150"]], keyField: "id")

      let error = try refusal(in: store) {
        try store.importDocuments(from: .text(#"[{"id": 2, "zip": 150}]"#), into: "c", key: "id")
      }

      #expect(error?.position == TextPosition(line: 1, column: 19))
      #expect("\(error!)".contains("string, which the collection holds"))
    }
  }

  @Test("a required field that is missing is refused at its document")
  func missingField() throws {
    try withTemporaryStore { store in
      let text = "[\n" + #" {"isbn": "1", "title": "x"}"# + "\n]"

      let error = try refusal(in: store) {
        try store.importDocuments(from: .text(text), into: Book.self)
      }

      #expect(error?.position == TextPosition(line: 2, column: 2))
      #expect(error?.found == "nothing in `authors`")
    }
  }

  @Test("the key must be the collection's own")
  func otherKey() throws {
    try withTemporaryStore { store in
      try store.collection("c").save([["id": 1]], keyField: "id")

      #expect(throws: StoreError.self) {
        try store.importDocuments(from: .text("[]"), into: "c", key: "name")
      }
    }
  }
}
