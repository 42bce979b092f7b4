import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

/// Where each broken table is refused, and what the error begins with.
private let faults: [String: (place: String, found: String)] = [
  "empty.csv": ("1:1", "the end of the file, expected a header"),
  "short-row.csv": ("3:101", "the end of a row of 12 fields"),
  "long-row.csv": ("3:107", "a field more than the 13 of the header"),
  "quote-inside.csv": ("3:14", "`\"`"), "text-behind-quote.csv": ("3:15", "` `"),
  "single-quote-doubled-once.csv": ("3:16", "`the`"),
  "unterminated.csv": (
    "4:84", "`[`, expected the next field or the end of the row, for the field that begins at 3:102"
  ),
  "invalid-utf8.csv": ("3:105", "byte E9, which is not UTF-8"),
  "utf16.csv": ("1:1", "what looks like UTF-16"),
  "carriage-returns.csv": ("1:78", "a carriage return alone"),
  "no-key.csv": ("1:1", "no column `id`"), "semicolons.csv": ("1:1", "no column `id`"),
  "duplicate-name.csv": ("1:13", "a second `name`"),
  "column-twice.csv": ("1:74", "`geo.lat`"),
  "bad-integer.csv": ("3:51", "`third` in `order`, expected an integer (int64)"),
  "fraction.csv": ("3:51", "`7.5` in `order`"),
  "huge-integer.csv": ("3:51", "`99999999999999999999` in `order`"),
  "empty-integer.csv": ("3:51", "an empty field in `order`"),
  "bad-number.csv": ("3:53", "`12,5` in `balance`, expected a number that a double can hold"),
  "overflow.csv": ("3:53", "`1e999` in `balance`"),
  "bad-bool.csv": ("3:96", "`yes` in `active`, expected true or false"),
  "bad-date.csv": ("3:58", "`2026-02-30T09:30:00.250Z` in `updatedAt`, expected a date"),
  "bad-json.csv": ("3:83", "the end of the file at 1:8 of the field in `tags`"),
  "object-for-array.csv": ("3:83", "an object in `tags`, expected an array"),
  "wrong-element.csv": ("3:83", "1 in `tags.0`, expected string"),
  "wrong-member.csv": ("3:101", "the string \"north\" in `geo.lat`, expected double"),
  "empty-key.csv": ("3:1", "0 bytes in `id`"), "no-key-value.csv": ("3:1", "nothing in `id`"),
  "long-key.csv": ("3:1", "300 bytes in `id`, expected a key of 1 to 255 bytes"),
]

@Suite("Importing tables")
struct CSVFixturesTests {
  private func lines(_ store: Store, _ collection: String) throws -> String {
    let file = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID()).ndjson")
    defer { try? FileManager.default.removeItem(at: file) }  // A temporary file does no harm.
    try store.export(collection: collection, as: .ndjson, to: .file(file))
    return try String(contentsOf: file, encoding: .utf8)
  }

  @Test("a table is the documents beside it: kinds inferred, names with dots, nil, empty, missing")
  func inferred() throws {
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: Fixtures.source("CSV/places.csv"), into: "places", key: "code")

      let expected = try String(
        contentsOfFile: Fixtures.path("CSV/places.expected.ndjson"), encoding: .utf8)
      let kinds = Dictionary(uniqueKeysWithValues: report.inferredFields.map { ($0.name, $0.kind) })
      #expect(try lines(store, "places").utf8.elementsEqual(expected.utf8))
      #expect(
        kinds["code"] == "string" && kinds["phone"] == "string?" && kinds["people"] == "int64")
      #expect(
        kinds["founded"] == "string?" && kinds["capital"] == "bool?" && kinds["mixed"] == "double")
      #expect(kinds["geo"] == "document?" && kinds["Sq. km"] == "string?")
    }
  }

  @Test("beside a column `x`, `x.a` is the name of a field, and no member of a document")
  func pointsInNames() throws {
    let table = "id,x,x.a,x.a.b\n1,a,b,d\n"
    try withTemporaryStore { store in
      for _ in 0..<2 {
        try store.importDocuments(from: .text(table, name: "t.csv"), into: "c", key: "id")
        try store.importDocuments(
          from: .text("x.c,id,x\ne,2,f\n", name: "t.csv"), into: "c", key: "id")
      }

      let first: DynamicDocument = ["id": 1, "x": "a", "x.a": "b", "x.a.b": "d"]
      #expect(try store.collection("c").get(1) == first)
      #expect(try store.collection("c").get(2) == ["id": 2, "x": "f", "x.c": "e"])
      let documents = try lines(store, "c")
      let folder = try ScratchFolder()
      try store.export(collection: "c", as: .csv, to: .file(folder.file("c.csv")))
      try withTemporaryStore { other in
        let file = folder.file("c.csv").path(percentEncoded: false)
        try other.importDocuments(from: .file(file), into: "c", key: "id")
        #expect(try lines(other, "c") == documents)
      }
    }
  }

  @Test("where the collection has a document `x`, `x.a` beside a column `x` is refused")
  func documentTwice() throws {
    try withTemporaryStore { store in
      try store.collection("c").save([["id": 1, "x": .document(["a": "a"])]], keyField: "id")

      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: .text("id,x,x.a\n1,,b\n", name: "t.csv"), into: "c", key: "id")
      }

      #expect(error?.position == TextPosition(line: 1, column: 6))
      #expect(error?.expected.contains("backquotes") == true)
    }
  }

  @Test("declared types win over what the fields look like")
  func declared() throws {
    var options = ImportOptions()
    options.csv.delimiter = .semicolon
    options.types = ["sku": .string, "price": .decimal, "sizes": .json]
    try withTemporaryStore { store in
      try store.importDocuments(
        from: Fixtures.source("CSV/prices.csv"), into: "prices", key: "sku", options: options)

      let expected = try String(
        contentsOfFile: Fixtures.path("CSV/prices.expected.ndjson"), encoding: .utf8)
      #expect(try lines(store, "prices").utf8.elementsEqual(expected.utf8))
      #expect(
        try store.collection("prices").get("0011")?["price"]
          == .decimal(try #require(Decimal(string: "9999999999999999999999999999999999.99"))))
    }
  }

  @Test("contacts from a table are the contacts from JSON, to the byte", arguments: [true, false])
  func contacts(isTyped: Bool) throws {
    try withTemporaryStore { store in
      func importContacts(_ name: String) throws -> ImportReport {
        isTyped
          ? try store.load(fixture: Fixtures.folder.appending(path: name), into: Contact.self)
          : try store.importDocuments(from: Fixtures.source(name), into: "c", key: "id")
      }
      _ = try importContacts("contacts.json")

      let report = try importContacts("contacts.csv")

      #expect(report.documentCount == 355)
      #expect(report.saved.unchanged == 355 && report.saved.changed == 0)
    }
  }

  @Test("a fixture is loaded as documents of a type, from JSON and CSV alike, on any thread")
  func load() async throws {
    try await withTemporaryStore { store in
      let folder = Fixtures.folder
      let json = try await store.load(
        fixture: folder.appending(path: "contacts.json"), into: Contact.self)
      let first = try store.repository(of: Contact.self).fetch(Contact.all)
      try await store.repository(of: Contact.self).eraseAllData()
      let csv = try await store.load(
        fixture: folder.appending(path: "contacts.csv"), into: Contact.self)
      let second = try store.repository(of: Contact.self).fetch(Contact.all)

      #expect(json.saved.inserted == 355 && csv.saved.inserted == 355)
      #expect(first == second && first.count == 355)
      let books = try await store.load(
        fixture: folder.appending(path: "books.ndjson"), into: Book.self)
      #expect(books.saved.inserted == 250)
    }
  }

  @Test("a fixture whose name tells no format is refused, as is one that is not there")
  func names() throws {
    try withTemporaryStore { store in
      for name in ["README.md", "make-fixtures", "nothing.csv"] {
        let error = try refusal(in: store) {
          try store.load(fixture: Fixtures.folder.appending(path: name), into: Contact.self)
        }
        #expect(error?.file == Fixtures.path(name))
      }
    }
  }

  @Test("every broken table is known here")
  func complete() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Fixtures.path("CSV/Broken"))
    #expect(Set(files) == Set(faults.keys))
  }

  @Test(
    "a broken table is refused at its place and changes nothing",
    arguments: faults.keys.sorted(), [true, false])
  func broken(name: String, isEmpty: Bool) throws {
    try withTemporaryStore { store in
      if !isEmpty {
        try store.importDocuments(from: Fixtures.source("contacts.json"), into: Contact.self)
      }

      let error = try refusal(in: store) {
        try store.load(
          fixture: Fixtures.folder.appending(path: "CSV/Broken/\(name)"), into: Contact.self)
      }

      let fault = try #require(faults[name])
      #expect(error?.position.map { "\($0)" } == fault.place, "\(error!)")
      #expect(error?.file == Fixtures.path("CSV/Broken/\(name)"))
      #expect(error?.description.contains(": found " + fault.found) == true, "\(error!)")
    }
  }
}
