import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

@Suite("Values of an import")
struct ImportValueTests {
  @Test("a file with tagged values is imported a second time as it was the first")
  func taggedAgain() throws {
    let text = #"""
      {"id": 1, "x": {"$dictionary": [[1, "a"]]}, "y": {"k": {"$dictionary": [[2, true]]}}}
      {"id": 2, "x": {"$dictionary": []}, "t": {"$dictionary": [["a", "b"]]}, "z": {"$date": "2026-03-01T09:30:00.000Z"}}
      """#
    try withTemporaryStore { store in
      for isFirst in [true, false] {
        let report = try store.importDocuments(
          from: .text(text, name: "t.ndjson"), into: "c", key: "id")
        #expect(report.saved.inserted == (isFirst ? 2 : 0))
        #expect(report.saved.unchanged == (isFirst ? 0 : 2))
      }
      #expect(try store.collection("c").get(1)?["x"] == .dictionary([1: "a"]))
    }
  }

  @Test("a number of many digits goes where the catalogue has a decimal or a double, exactly")
  func longNumbers() throws {
    try withTemporaryStore { store in
      let digits = "12345678901234567890.123456789"
      // All digits of the double that is nearest to 0.1.
      let tenth = "0.1000000000000000055511151231257827021181583404541015625"
      let decimal = try #require(Decimal(string: digits))
      try store.collection("c").save(
        [["id": 0, "decimal": .decimal(1), "double": 0.5, "in": .document(["list": [0.5]])]],
        keyField: "id")

      try store.importDocuments(
        from: .text(
          """
          [{"id": 1, "decimal": \(digits), "double": \(tenth), "in": {"list": [\(tenth)]}}]
          """), into: "c", key: "id")

      let document = try #require(try store.collection("c").get(1))
      #expect(document["decimal"] == .decimal(decimal))
      #expect(document["double"] == 0.1)
      #expect(document["in"] == .document(["list": [0.1]]))
    }
  }

  @Test("a decimal keeps 16 and 17 digits, which no double does, wherever it stands")
  func decimals() throws {
    try withTemporaryStore { store in
      let numbers = [
        "1234567890123456.7", "-90071992547409.93", "99999999999999.999", "0.30000000000000001",
        "1.2345678901234567e-5", "0.1",
      ]
      let rows = numbers.enumerated().map { id, number in
        #"{"id": \#(id), "d": \#(number), "list": [\#(number), 1], "in": {"d": \#(number)}}"#
      }
      var options = ImportOptions()
      options.types = ["d": .decimal, "list": .decimal, "in.d": .decimal]
      try store.importDocuments(
        from: .text(rows.joined(separator: "\n"), name: "a.ndjson"), into: "c", key: "id",
        options: options)
      // Once more, where the catalogue has the kinds.
      try store.importDocuments(
        from: .text(rows.joined(separator: "\n"), name: "a.ndjson"), into: "c", key: "id")

      for (id, number) in numbers.enumerated() {
        let decimal = try Value.decimal(#require(Decimal(string: number)))
        let document = try #require(try store.collection("c").get(.integer(Int64(id))))
        #expect(document["d"] == decimal)
        #expect(document["list"] == [decimal, .decimal(1)])
        #expect(document["in"] == .document(["d": decimal]))
      }
    }
  }

  @Test(
    "16 or 17 digits that no double has are refused in JSON, text in a table, and kept in a decimal",
    arguments: [
      "0.12345678901234567", "-0.12345678901234567", "8.000000000000001", "92030920993190389e+5",
      "0.00026993876720759868", "8531701701925027e-30",
    ])
  func lostDigits(_ number: String) throws {
    let json = ImportSource.text(#"{"id": 1, "x": \#(number)}"#, name: "t.ndjson")
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(from: json, into: "c", key: "id")
      }
      #expect(error?.position == TextPosition(line: 1, column: 16))
      #expect(error?.expected.contains("--types NAME=decimal") == true)

      try store.importDocuments(
        from: .text("id,x\n1,\(number)\n", name: "t.csv"), into: "table", key: "id")
      var options = ImportOptions()
      options.types = ["x": .decimal]
      try store.importDocuments(from: json, into: "decimals", key: "id", options: options)

      #expect(try store.collection("table").get(1)?["x"] == .string(number))
      let decimal = try #require(Decimal(string: number))
      #expect(try store.collection("decimals").get(1)?["x"] == .decimal(decimal))
    }
  }

  @Test("what programs write of a double comes in as that, and goes out as its fewest digits")
  func writtenDoubles() throws {
    // Others write all digits that a double may need.
    let numbers = [
      "0.30000000000000004", "5e-324", "1.7976931348623157e+308", "2.2250738585072014e-308",
      "0.10000000000000001", "4.9406564584124654e-324", "123456789.12345678", "1e+23",
      "9007199254740992.0", "-1.0000000000000002",
    ]
    let scratch = try ScratchFolder()
    for name in ["t.ndjson", "t.csv"] {
      let rows = numbers.enumerated().map {
        name == "t.csv" ? "\($0),\($1)\n" : #"{"id": \#($0), "x": \#($1)}"# + "\n"
      }
      try withTemporaryStore { store in
        try store.importDocuments(
          from: .text((name == "t.csv" ? "id,x\n" : "") + rows.joined(), name: name), into: "c",
          key: "id")
        let file = scratch.file(name)
        try store.export(collection: "c", as: .csv, to: .file(file))

        let doubles = try numbers.map { try #require(Double($0)) }
        #expect(
          try store.collection("c").fetch(DynamicQuery()).map { $0["x"] }
            == doubles.map { .double($0) })
        #expect(
          try String(contentsOf: file, encoding: .utf8)
            == "id,x\n" + doubles.enumerated().map { "\($0),\($1)\n" }.joined())
      }
    }
  }

  @Test("a text of more digits than a decimal holds is refused, as a number is")
  func tooManyDigitsInText() throws {
    try withTemporaryStore { store in
      try store.collection("c").save([["id": 0, "d": .decimal(1)]], keyField: "id")
      let pi = "3.14159265358979323846264338327950288419716939937510"
      for value in ["\"\(String(repeating: "9", count: 39))\"", "\"\(pi)\"", pi] {
        let error = try refusal(in: store) {
          try store.importDocuments(
            from: .text("[{\"id\": 1, \"d\": \(value)}]"), into: "c", key: "id")
        }
        #expect(error?.line == 1)
      }
      let most = String(repeating: "9", count: 38)
      try store.importDocuments(
        from: .text("[{\"id\": 1, \"d\": \"\(most)\"}]"), into: "c", key: "id")
      let nines = try #require(Decimal(string: most))
      #expect(try store.collection("c").get(1)?["d"] == .decimal(nines))
    }
  }

  @Test("a number that would lose digits even so is refused")
  func tooManyDigits() throws {
    try withTemporaryStore { store in
      try store.collection("c").save(
        [["id": 0, "decimal": .decimal(1), "double": 0.5]], keyField: "id")
      for member in [
        #""decimal": 0.\#(String(repeating: "7", count: 39))"#, #""decimal": 1e999"#,
        #""double": 1e999"#, #""double": 1e-999"#, #""double": 0.1234567890123456789"#,
        #""double": 123456789012345678901234567890"#, #""double": 9007199254740993.0"#,
        #""new": 9007199254740993.0"#, #""new": 0.1234567890123456789"#,
      ] {
        let error = try refusal(in: store) {
          try store.importDocuments(from: .text("[{\"id\": 1, \(member)}]"), into: "c", key: "id")
        }
        #expect(error?.line == 1)
      }
    }
  }

  @Test("what a type declares takes a string in one document and a number in the next")
  func mixedNotation() throws {
    try withTemporaryStore { store in
      let rest = """
        "title": "", "authors": [], "currency": "", "pages": 1, "genres": [], "stock": 0, \
        "summary": "", "publisher": {"name": "", "city": ""}
        """

      try store.importDocuments(
        from: .text(
          """
          {"isbn": "1", "price": "12.90", \(rest)}
          {"isbn": "2", "price": 12.9, \(rest), "published": "2026-03-01", "extra": [1]}
          """, name: "books.ndjson"), into: Book.self)

      let books = store.repository(of: Book.self)
      #expect(try books.get("1")?.price == books.get("2")?.price)
      #expect(try books.get("2")?.published == ISO8601.date(from: "2026-03-01"))
      #expect(try store.collection("Book").get("2")?["extra"] == [1])
    }
  }

  @Test("fields that a declared embedded document does not know are kept")
  func unknownEmbedded() throws {
    try withTemporaryStore { store in
      try store.declare(Contact.self)
      let path = Fixtures.path("Broken/bad-date.ndjson")
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let line = String(text.prefix { $0 != "\n" })
        .replacing("\"geo\": null", with: #""geo": {"lat": 1, "lon": 2, "altitude": 3}"#)

      try store.importDocuments(from: .text(line, name: "x.ndjson"), into: Contact.self)

      #expect(try store.repository(of: Contact.self).get("seller-1")?.geo?.lon == 2)
      guard case .document(let geo)? = try store.collection("Contact").get("seller-1")?["geo"]
      else {
        Issue.record("no embedded document")
        return
      }
      #expect(geo["altitude"] == 3)
    }
  }

  @Test("a keyed file's outer key is one of the kind that the collection has")
  func outerKeys() throws {
    try withTemporaryStore { store in
      try store.collection("c").save([["id": 7, "a": 1]], keyField: "id")

      let report = try store.importDocuments(
        from: .text(#"{"7": {"a": 1}, "8": {"a": 2}, "x": {"id": 9, "a": 3}}"#), into: "c",
        key: "id")

      #expect(report.saved.unchanged == 1 && report.saved.inserted == 2)
      #expect(try store.collection("c").get(9)?["a"] == 3)
      let error = try refusal(in: store) {
        try store.importDocuments(from: .text(#"{"x": {"a": 1}}"#), into: "c", key: "id")
      }
      #expect(error?.position == TextPosition(line: 1, column: 7))
    }
  }

  @Test("an element of an array that does not fit is named as what it is")
  func elements() throws {
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text(#"[{"id": 1, "a": [1, 2, "x"]}]"#), into: "c", key: "id")
      }

      #expect(error?.found.hasPrefix("string in `a.2`") == true, "\(String(describing: error))")
    }
  }

  @Test("of documents with one key the last one is taken on request, in one batch and in two")
  func duplicates() throws {
    for batchDocumentCount in [1, 10] {
      try withTemporaryStore { store in
        var options = ImportOptions()
        options.batchDocumentCount = batchDocumentCount
        options.repeatedKeys = .lastWins

        let report = try store.importDocuments(
          from: .text(#"[{"id": 1, "a": 1}, {"id": 1, "a": 2}]"#), into: "c", key: "id",
          options: options)

        #expect(report.documentCount == 2 && report.repeatedKeyCount == 1)
        #expect(try store.collection("c").get(1)?["a"] == 2)
      }
    }
  }

  @Test(
    "documents that a later one has the key of are never saved, however far away that is",
    arguments: [false, true], [1, 2, 5_000])
  func superseded(atomically: Bool, batchDocumentCount: Int) throws {
    try withTemporaryStore { store in
      var options = ImportOptions()
      options.batchDocumentCount = batchDocumentCount
      options.repeatedKeys = .lastWins
      options.atomically = atomically
      let file = """
        {"id": 1, "a": "first"}
        {"id": 2, "a": "x"}
        {"id": 1, "a": "second"}
        {"id": 3, "a": "x"}
        {"id": 1, "a": "last"}
        {"id": 2, "a": "y"}
        """
      func importFile() throws -> ImportReport {
        try store.importDocuments(
          from: .text(file, name: "t.ndjson"), into: "c", key: "id", options: options)
      }

      let report = try importFile()
      let before = try store.statistics().sequence
      let again = try importFile()

      #expect(report.documentCount == 6 && report.repeatedKeyCount == 3)
      #expect(report.saved.inserted == 3 && report.saved.duplicates == 3)
      #expect(before == 3)
      #expect(again.saved.unchanged == 3 && again.saved.duplicates == 3)
      #expect(try store.statistics().sequence == before)
      let values = try store.collection("c").fetch(DynamicQuery()).map { $0["a"] }
      #expect(values == ["last", "y", "x"])
    }
  }

  @Test(
    "a unique index does not see documents that are left out, and says where another one stands")
  func supersededUnique() throws {
    try withTemporaryStore { store in
      try store.collection("c").save([["id": 1, "a": "x"]], keyField: "id")
      try store.collection("c").createIndex(on: "a", unique: true)
      var options = ImportOptions()
      options.batchDocumentCount = 2
      options.repeatedKeys = .lastWins
      let lines = [
        #"{"id": 3, "a": "x"}"#, #"{"id": 4, "a": "y"}"#, #"{"id": 5, "a": "z"}"#,
        #"{"id": 3, "a": "w"}"#, #"{"id": 6, "a": "v"}"#,
      ]

      let report = try store.importDocuments(
        from: .text(lines.joined(separator: "\n"), name: "t.ndjson"), into: "c", key: "id",
        options: options)
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text(
            (lines + [#"{"id": 7, "a": "v"}"#]).joined(separator: "\n"), name: "t.ndjson"),
          into: "c", key: "id", options: options)
      }

      #expect(report.saved.inserted == 4)
      #expect(error?.position == TextPosition(line: 6, column: 1), "\(String(describing: error))")
    }
  }

  @Test("a file without documents is imported, and makes no collection")
  func nothing() throws {
    try withTemporaryStore { store in
      let report = try store.importDocuments(from: .text("[]"), into: "c", key: "id")

      #expect(report.documentCount == 0)
      #expect(try store.collectionNames().isEmpty)
    }
  }
}
