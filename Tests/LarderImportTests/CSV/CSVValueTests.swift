import Foundation
import Larder
import LarderImport
import LarderTesting
import Testing

@Suite("Values of a table")
struct CSVValueTests {
  /// The kind that a column with these fields is given, by the report of a dry run.
  private func kind(_ fields: [String]) throws -> String? {
    var options = ImportOptions()
    options.isDryRun = true
    let rows = fields.enumerated().map { "\($0),\($1)\n" }.joined()
    return try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: .text("id,x\n" + rows, name: "t.csv"), into: "c", key: "id", options: options)
      return report.inferredFields.first { $0.name == "x" }?.kind
    }
  }

  @Test(
    "a column is what all of its fields are",
    arguments: [
      (["1", "-2", "0"], "int64"), (["1", ""], "int64?"), (["1", "2.5"], "double"),
      (["true", "false"], "bool"), (["TRUE", "False"], "bool"), (["1", "true"], "string"),
      (["2026-03-01T09:30:00.250Z", "2001-01-01T00:00:00.000Z"], "date"),
      (["2026-03-01"], "string"), (["2026-03-01T09:30:00+02:00"], "string"),
      (["2026-03-01T09:30:00Z"], "string"), (["2020-01-01T00:00:00.123456789Z"], "string"),
      (["2026-03-01", "1"], "string"),
      (["2026-02-30"], "string"), (["9223372036854775807", "-9223372036854775808"], "int64"),
      (["9223372036854775808", "0"], "uint64"), (["9223372036854775808", "-1"], "string"),
      (["9223372036854775808", "0.5"], "string"), (["18446744073709551616"], "string"),
      (["9007199254740993"], "int64"),
      (["9007199254740993", "0.5"], "string"), (["9007199254740992", "0.5"], "double"),
      (["007"], "string"), (["1", "01"], "string"), (["+47"], "string"), (["1e5"], "string"),
      (["1e+5", "2E-3"], "double"), (["1e+999"], "string"), (["1e-999"], "string"),
      (["0.12345678901234567"], "string"), (["0.12345678901234568"], "double"),
      (["0.123456789012345678"], "string"),
      ([".5"], "string"), (["5."], "string"), (["-"], "string"), (["--1"], "string"),
      (["NaN", "1"], "double"), (["Infinity", "-Infinity"], "double"), (["nan"], "string"),
      (["inf"], "string"), (["\"1\""], "string"), (["1", "\"2\""], "string"), (["\"\""], "string"),
      (["", ""], "null?"), (["\\N", "1"], "int64"), (["\\N", "\\n"], "string"), ([" 1"], "string"),
      (["1 "], "string"), (["1,5".replacing(",", with: ";")], "string"), (["0x10"], "string"),
      (["1_000"], "string"), (["１"], "string"), (["-0"], "double"), (["-0", "5"], "double"),
      (["2001-01-01T00:00:00Z + 1e+17 s"], "date"), (["12:30"], "string"),
      (["E621E1F8-C36C-495A-93FC-0C247A3E6E5F"], "string"), (["null"], "string"),
      (["1-2-3-4-5-6"], "string"), (["[1]", "{}"], "string"), (["t", "f"], "string"),
    ])
  func inference(fields: [String], kind: String) throws {
    #expect(try self.kind(fields) == kind)
  }

  @Test(
    "a declared column takes other spellings of its kind",
    arguments: [
      ("007", .integer, 7), ("+5", .integer, 5), ("5.0", .integer, 5), ("\"5\"", .integer, 5),
      (".5", .double, 0.5), ("+1.", .double, 1.0), ("7", .double, 7.0),
      ("NaN", .double, .double(.nan)),
      ("0e9", .double, 0.0), ("1", .bool, true), ("0", .bool, false), ("True", .bool, true),
      ("5", .string, "5"), ("\"\"", .string, ""), ("", .string, .null), ("true", .string, "true"),
      ("NaN", .decimal, .decimal(.nan)), ("1.10", .decimal, .decimal(Decimal(string: "1.1")!)),
      ("2026-03-01", .string, "2026-03-01"), ("AP8=", .data, .data(Data([0, 255]))),
      ("2001-01-01", .date, .date(Date(timeIntervalSinceReferenceDate: 0))),
      ("https://a.b/c", .url, .url(URL(string: "https://a.b/c")!)),
      (
        "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", .uuid,
        .uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!)
      ),
      ("\"{\"\"a\"\": [null]}\"", .json, .document(["a": [.null]])), ("5", .json, 5),
    ] as [(String, ImportType, Value)])
  func declared(field: String, type: ImportType, value: Value) throws {
    var options = ImportOptions()
    options.types = ["x": type]
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text("id,x\n1,\(field)\n", name: "t.csv"), into: "c", key: "id", options: options)

      let stored = try store.collection("c").get(1)?["x"]
      #expect("\(String(describing: stored))" == "\(Optional(value) as Value?)", "\(stored!)")
    }
  }

  @Test(
    "a declared column refuses what is none of its kind, at its place",
    arguments: [
      ("x", .integer), ("1.5", .integer), ("9223372036854775808", .integer), ("", .json),
      ("1e999", .double), ("1e-999", .double), ("9007199254740993", .double), ("0x1", .double),
      ("nan", .double), ("infinity", .double), ("1 ", .double), ("yes", .bool), ("2", .bool),
      ("2026-13-01", .date), ("x", .uuid), ("x", .data), ("1,", .decimal),
      ("0.\(String(repeating: "7", count: 39))", .decimal), ("1e999", .decimal), ("[1", .json),
      ("x", .json), ("\"\"", .integer), ("\"\"", .date),
    ] as [(String, ImportType)])
  func refused(field: String, type: ImportType) throws {
    guard !(field.isEmpty && type == .json) else { return }  // Nil, as in every column.
    var options = ImportOptions()
    options.types = ["x": type]
    options.csv.delimiter = .semicolon
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text("id;x\n1;\n2;\(field)\n", name: "t.csv"), into: "c", key: "id",
          options: options)
      }

      #expect(error?.position == TextPosition(line: 3, column: 3), "\(error!)")
      #expect(error?.found.contains("in `x`") == true, "\(error!)")
    }
  }

  @Test("what a collection holds wins over what a file looks like; only numbers grow wider")
  func stored() throws {
    try withTemporaryStore { store in
      let collection = store.collection("c")
      try collection.save(
        [
          [
            "id": "1", "zip": "0150", "n": 1, "on": .date(Date(timeIntervalSinceReferenceDate: 0)),
            "tags": ["a"], "f": true,
          ]
        ], keyField: "id")

      try store.importDocuments(
        from: .text("id,zip,n,on,tags,f\n2,150,2.5,2001-01-01,\"[\"\"b\"\"]\",0\n", name: "t.csv"),
        into: "c", key: "id")

      let document = try #require(try collection.get("2"))
      #expect(document["zip"] == "150" && document["n"] == 2.5 && document["tags"] == ["b"])
      #expect(document["on"] == .date(Date(timeIntervalSinceReferenceDate: 0)))
      #expect(document["f"] == false)
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text("id,on\n3,2001-01-01\n4,soon\n", name: "t.csv"), into: "c", key: "id")
      }
      #expect(error?.position == TextPosition(line: 3, column: 3))
      #expect(error?.found == "`soon` in `on`")
    }
  }

  @Test("JSON text becomes what a collection holds in the field, whether a type declared it or not")
  func textOfJSON() throws {
    try withTemporaryStore { store in
      let id = UUID()
      let first: DynamicDocument = [
        "id": 1, "on": .date(Date(timeIntervalSinceReferenceDate: 0)), "u": .uuid(id),
        "n": .double(1), "in": .document(["all": [.decimal(1)]]),
      ]
      try store.collection("c").save([first], keyField: "id")

      try store.importDocuments(
        from: .text(
          """
          [{"id": 2, "on": "2001-01-01", "u": "\(id)", "n": "NaN", "in": {"all": ["1"]}}]
          """), into: "c", key: "id")

      var expected = first
      expected["id"] = 2
      let stored = try #require(try store.collection("c").get(2))
      #expect(stored["on"] == expected["on"] && stored["u"] == expected["u"])
      #expect(stored["in"] == expected["in"] && "\(stored["n"]!)" == "nan")
    }
  }

  @Test("an embedded document in several columns is nil where all are empty, missing where all are")
  func embedded() throws {
    let row = "x,t,a,c,NO,1,1,2001-01-01,[],true,"
    let header = "id,name,tel,address,city,country,order,balance,updatedAt,tags,active,"
    let text =
      header + "geo.lat,geo.lon,geo.label\n"
      + ["1,\(row),,", "2,\(row)1,2,", "3,\(row)1,2,here", "4,\(row)\\N,\\N,\\N"]
      .joined(separator: "\n")
    try withTemporaryStore { store in
      try store.importDocuments(from: .text(text, name: "t.csv"), into: Contact.self)

      let contacts = store.repository(of: Contact.self)
      #expect(try contacts.get("1")?.geo == nil)
      let second = try contacts.get("2")?.geo
      #expect(second?.lat == 1 && second?.lon == 2 && second?.label == nil)
      #expect(try contacts.get("3")?.geo?.label == "here")
      #expect(try store.collection("Contact").get("1")?["geo"] == .null)
      #expect(
        try store.collection("Contact").get("4")?.fields.contains { $0.name == "geo" } == false)
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text(header + "geo.lat,geo.lon\n5,\(row)1,\n", name: "t.csv"), into: Contact.self)
      }
      #expect(error?.found == "an empty field in `geo.lon`")
    }
  }

  @Test("an empty field is empty text where a type wants text, and its default where it has one")
  func emptyFields() throws {
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text("id,name,count,note\na,,,\nb,\"\",5,\"\"\n", name: "t.csv"), into: Plain.self)

      let plain = store.repository(of: Plain.self)
      #expect(try plain.get("a") == Plain(id: "a", name: "", count: 7, note: nil))
      #expect(try plain.get("b") == Plain(id: "b", name: "", count: 5, note: ""))
    }
  }

  @Test("a file without a header takes the names from the options, and needs the right number")
  func noHeader() throws {
    var options = ImportOptions()
    options.csv.columns = ["id", "n"]
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text("a,1\nb,2\n", name: "t.csv"), into: "c", key: "id", options: options)

      #expect(try store.collection("c").get("b")?["n"] == 2)
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text("a,1,2\n", name: "t.csv"), into: "c", key: "id", options: options)
      }
      #expect(error?.position == TextPosition(line: 1, column: 4))
      options.types = ["m": .integer]
      let unknown = try refusal(in: store) {
        try store.importDocuments(
          from: .text("a,1\n", name: "t.csv"), into: "c", key: "id", options: options)
      }
      #expect(unknown?.found == "no column `m`, whose type is declared")
    }
  }

  @Test("a pipe is spooled, so that kinds are inferred from all of it; .tsv means tabs")
  func pipe() throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data("id\tn\n1\t1\n2\tx\n".utf8))
    try pipe.fileHandleForWriting.close()
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .descriptor(pipe.fileHandleForReading.fileDescriptor, name: "pipe.tsv"),
        into: "c", key: "id")

      #expect(try store.collection("c").get(1)?["n"] == "1")
    }
  }

  @Test("a header alone is no document, and makes no collection")
  func headerOnly() throws {
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: .text("id,n\n", name: "t.csv"), into: "c", key: "id")

      #expect(report.documentCount == 0)
      #expect(try store.collectionNames().isEmpty)
    }
  }
}

private struct Plain: Document, Identifiable, Equatable {
  var id: String
  var name: String
  var count = 7
  var note: String?

  static let schema = Schema<Plain>(
    "Plain", key: \.id,
    fields: [
      Field("id", \.id), Field("name", \.name), Field("count", \.count, default: 7),
      Field("note", \.note),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(count, at: 2)
    record.put(note, at: 3)
  }
}

extension Plain {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), name: try record.get(1), count: try record.get(2),
      note: try record.get(3))
  }
}
