import Foundation
import Larder
import LarderImport
import LarderTestKit
import LarderTesting
import Testing

@Suite("What goes out comes in again")
struct ExportRoundTripTests {
  /// Documents whose fields have one kind each, are nil now and then, or not there.
  private func documents(
    _ random: inout RandomSource, kinds: [(name: String, kind: Int)], count: Int
  ) -> [DynamicDocument] {
    (0..<count).map { index in
      var fields = [DynamicDocument.Field("id", .string("\(index) \(random.cell())"))]
      for (name, kind) in kinds where !random.chance(12) {
        let value = random.chance(12) ? .null : random.value(ofKind: kind)
        fields.append(.init(name, value))
      }
      return DynamicDocument(fields)
    }
  }

  private func all(_ store: Store) throws -> [String] {
    try store.collection("c").fetch(DynamicQuery()).map(exact)
  }

  @Test(
    "random documents come back equal to the last bit, and go out again as the same bytes",
    arguments: ExportFormat.allCases)
  func roundTrip(format: ExportFormat) throws {
    var random = RandomSource()
    for round in 0..<repetitions(15) {
      let names = ["a", "b.c", "d e", "`", "ü", "", "1", "geo"]
      let kinds = names.prefix(1 + random.below(8)).map { (name: $0, kind: random.below(12)) }
      let documents = documents(&random, kinds: kinds, count: 1 + random.below(20))
      let scratch = try ScratchFolder()
      let files = ["1", "2"].map { scratch.file("\($0).\(format.rawValue)") }
      try withTemporaryStore { store in
        try store.collection("c").save(documents, keyField: "id")
        try store.export(collection: "c", as: format, to: .file(files[0]))
        let again = try store.importDocuments(from: .file(files[0]), into: "c", key: "id")
        #expect(again.saved.unchanged == documents.count, "\(round)")
        try withTemporaryStore { other in
          // Another store that knows the same kinds, not declared by any type.
          var shape = InferredShape()
          for document in documents { try shape.add(document) }
          try other.collection("c").declare(shape, keyField: "id", keyKind: .string)

          try other.importDocuments(from: .file(files[0]), into: "c", key: "id")
          try other.export(collection: "c", as: format, to: .file(files[1]))

          #expect(try all(store) == all(other), "\(round)")
          #expect(try Data(contentsOf: files[0]) == Data(contentsOf: files[1]), "\(round)")
        }
      }
    }
  }

  @Test("where nothing is known but the table, text, numbers, dates, bools and nil come back")
  func unknown() throws {
    var random = RandomSource()
    for round in 0..<repetitions(20) {
      let kinds = ["a", "b.c", "d e", "ü"].map { (name: $0, kind: random.below(5)) }
      let documents = documents(&random, kinds: kinds, count: 1 + random.below(20))
      let scratch = try ScratchFolder()
      let file = scratch.file("c.csv")
      try withTemporaryStore { store in
        try store.collection("c").save(documents, keyField: "id")
        try store.export(collection: "c", as: .csv, to: .file(file))
        try withTemporaryStore { other in
          try other.importDocuments(from: .file(file), into: "c", key: "id")

          #expect(try all(store) == all(other), "\(round)")
        }
      }
    }
  }

  @Test("a file named .tsv has tabs, which its import takes, and another delimiter if one is given")
  func tabs() throws {
    let scratch = try ScratchFolder()
    try withTemporaryStore { store in
      try store.collection("c").save([["id": 1, "name": "a,b"]], keyField: "id")
      func text(_ name: String, _ delimiter: CSVDelimiter? = nil) throws -> String {
        var options = ExportOptions()
        options.delimiter = delimiter
        try store.export(
          collection: "c", as: .csv, to: .file(scratch.file(name)), options: options)
        return try String(contentsOf: scratch.file(name), encoding: .utf8)
      }

      #expect(try text("c.csv") == "id,name\n1,\"a,b\"\n")
      #expect(try text("other.TSV", .semicolon) == "id;name\n1;a,b\n")
      #expect(try text("c.tsv") == "id\tname\n1\ta,b\n")
      let report = try store.importDocuments(
        from: .file(scratch.file("c.tsv")), into: "d", key: "id")
      #expect(report.saved.inserted == 1)
      #expect(try store.collection("d").get(1)?["name"] == "a,b")
    }
  }

  @Test("a type's documents come back equal, by any delimiter", arguments: ExportFormat.allCases)
  func typed(format: ExportFormat) throws {
    let scratch = try ScratchFolder()
    for delimiter in [CSVDelimiter.comma, .semicolon, .tab, .pipe] {
      try withTemporaryStore { store in
        try store.importDocuments(from: Fixtures.source("contacts.json"), into: Contact.self)
        try store.importDocuments(from: Fixtures.source("books.ndjson"), into: Book.self)
        let contacts = store.repository(of: Contact.self)
        let books = store.repository(of: Book.self)
        let before = try (contacts.fetch(Contact.all), books.fetch(Book.all))
        var options = ExportOptions()
        options.delimiter = delimiter
        var importing = ImportOptions()
        importing.csv.delimiter = delimiter
        let files = ["contacts", "books"].map { scratch.file("\($0).\(format.rawValue)") }
        try store.export(Contact.all, as: format, to: .file(files[0]), options: options)
        try store.export(Book.all, as: format, to: .file(files[1]), options: options)
        try contacts.eraseAllData()
        try books.eraseAllData()

        try store.importDocuments(
          from: .file(files[0]), into: Contact.self, options: importing)
        try store.importDocuments(from: .file(files[1]), into: Book.self, options: importing)

        #expect(try contacts.fetch(Contact.all) == before.0)
        #expect(try books.fetch(Book.all) == before.1)
      }
    }
  }

  @Test(
    "nil inside of an optional comes back as that, and not as nil",
    arguments: ExportFormat.allCases)
  func nestedOptionals(format: ExportFormat) throws {
    let scratch = try ScratchFolder()
    let file = scratch.file("c.\(format.rawValue)")
    let far = Date(timeIntervalSinceReferenceDate: 1e17)
    let documents = [
      Nested(id: 1), Nested(id: 2, number: .some(nil), date: .some(nil), texts: .some(nil)),
      Nested(id: 3, number: 7, date: far, texts: []), Nested(id: 4, real: .infinity, texts: ["x"]),
      Nested(id: 5, number: 7, real: .some(nil), texts: ["x", "y"]), Nested(id: 6, texts: [nil]),
    ]
    try withTemporaryStore { store in
      let nested = store.repository(of: Nested.self)
      try nested.save(documents)

      try store.export(Nested.all, as: format, to: .file(file))
      let again = try store.importDocuments(from: .file(file), into: Nested.self)
      #expect(again.saved.unchanged == documents.count)
      try nested.eraseAllData()
      try store.importDocuments(from: .file(file), into: Nested.self)

      #expect(try nested.fetch(Nested.all) == documents)
    }
  }

  @Test("text that a spreadsheet may take for a formula is written as it is")
  func formulas() throws {
    let texts = ["=1+1", "+47 22", "-x", "@sum", "\t=1"]
    let scratch = try ScratchFolder()
    try withTemporaryStore { store in
      try store.collection("c").save(
        texts.enumerated().map { ["id": .integer(Int64($0)), "t": .string($1)] }, keyField: "id")

      try store.export(collection: "c", as: .csv, to: .file(scratch.file("c.csv")))

      let text = try String(contentsOf: scratch.file("c.csv"), encoding: .utf8)
      #expect(text == "id,t\n0,=1+1\n1,+47 22\n2,-x\n3,@sum\n4,\t=1\n")
    }
  }

  @Test("nil alone in a row comes back, and so do empty text and what is missing")
  func oneColumn() throws {
    let scratch = try ScratchFolder()
    let file = scratch.file("c.csv")
    let values: [Value?] = [.null, "a", .null, .null, "", nil, "\\N", "b", .null]
    try withTemporaryStore { store in
      try store.collection("c").save(
        values.enumerated().map { id, value in
          var document: DynamicDocument = ["id": .integer(Int64(id))]
          document["x"] = value
          return document
        }, keyField: "id")
      var options = ExportOptions()
      options.fields = [FieldPath(field: "x")]
      try store.export(collection: "c", as: .csv, to: .file(file), options: options)
      let text = try String(contentsOf: file, encoding: .utf8)

      for (name, text) in [("t.csv", text), ("t.csv", text.replacing("\n", with: "\r\n"))] {
        var options = ImportOptions()
        options.makesKeys = true
        try withTemporaryStore { other in
          try other.importDocuments(
            from: .text(text, name: name), into: "c", key: "id", options: options)
          #expect(try other.collection("c").fetch(DynamicQuery()).map { $0["x"] } == values)
        }
        // Without a header, the first line may be empty.
        options.csv.columns = ["x"]
        try withTemporaryStore { other in
          let rows = String(text.drop { !$0.isNewline }.dropFirst())
          try other.importDocuments(
            from: .text(rows, name: name), into: "c", key: "id", options: options)
          #expect(try other.collection("c").fetch(DynamicQuery()).map { $0["x"] } == values)
        }
      }
    }
  }

  @Test("an empty line is no row where a row cannot be empty: among keys, or in several columns")
  func emptyLines() throws {
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text("\nid\n\na\n\nb\n\n", name: "t.csv"), into: "keys", key: "id")
      var options = ImportOptions()
      options.makesKeys = true
      try store.importDocuments(
        from: .text("\na,b\n\n1,2\n\n", name: "t.csv"), into: "rows", key: "id", options: options)

      #expect(try store.collection("keys").count() == 2)
      #expect(try store.collection("rows").count() == 1)
    }
  }

  @Test("nil is empty, what is missing is \\N, and text that looks like either is in quotes")
  func nothing() throws {
    let scratch = try ScratchFolder()
    try withTemporaryStore { store in
      try store.collection("c").save(
        [
          ["id": 1, "t": .null, "n": 5], ["id": 2, "n": .double(.nan)], ["id": 3, "t": ""],
          ["id": 4, "t": "\\N", "n": -0.0], ["id": 5, "t": "5", "n": .double(.infinity)],
        ], keyField: "id")

      try store.export(collection: "c", as: .csv, to: .file(scratch.file("c.csv")))

      #expect(
        try String(contentsOf: scratch.file("c.csv"), encoding: .utf8)
          == "id,t,n\n1,,5.0\n2,\\N,NaN\n3,\"\",\\N\n4,\"\\N\",-0.0\n5,\"5\",Infinity\n")
    }
  }
}

@Document
private struct Nested: Equatable {
  var id: Int
  var number: Int??
  var date: Date??
  var real: Double??
  var texts: [String?]??
}
