import Foundation
import Larder
import LarderImport
import LarderTestKit
import LarderTesting
import Testing

@Suite("Kinds of what is imported")
struct ImportKindTests {
  // MARK: Text

  @Test("a URL is kept as it came, and one that would be changed is refused")
  func urls() throws {
    var options = ImportOptions()
    options.types = ["x": .url]
    for name in ["t.ndjson", "t.csv"] {
      func text(_ url: String) -> String {
        name == "t.csv" ? "id,x\n1,\(url)\n" : "{\"id\": 1, \"x\": \"\(url)\"}"
      }
      try withTemporaryStore { store in
        for url in ["https://a.b/c?q=%20#x", "http://xn--nxasmq6b/", "a", "http://x/a%20b"] {
          try store.importDocuments(
            from: .text(text(url), name: name), into: "c", key: "id", options: options)
          let expected = try #require(URL(string: url))
          #expect(try store.collection("c").get(1)?["x"] == .url(expected))
        }
        for url in ["http://x/a b", "http://ü.de/", "x y z"] {
          let error = try refusal(in: store) {
            try store.importDocuments(
              from: .text(text(url), name: name), into: "c", key: "id", options: options)
          }
          #expect(error?.kind == .value, "\(url)")
        }
      }
    }
  }

  @Test("a table keyed by days or by bools is imported, its keys as they are written")
  func keys() throws {
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text("day,v\n2024-01-01,1\n2024-01-02,2\n", name: "t.csv"), into: "days", key: "day")
      try store.importDocuments(
        from: .text("is,v\ntrue,1\nfalse,2\n", name: "t.csv"), into: "bools", key: "is")

      #expect(try store.collection("days").get("2024-01-02")?["v"] == 2)
      #expect(try store.collection("bools").get("true")?["v"] == 1)
    }
  }

  @Test("a column whose name has a point is the key, also beside others that begin alike")
  func keyWithPoint() throws {
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text("stock.code,stock.name,qty\na,rope,1\nb,nail,2\n", name: "t.csv"), into: "c",
        key: "stock.code")

      let nail: DynamicDocument = [
        "stock.code": "b", "stock": .document(["name": "nail"]), "qty": 2,
      ]
      #expect(try store.collection("c").get("b") == nail)
      var options = ImportOptions()
      options.makesKeys = true
      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: .text("stock.code,qty\na,1\n", name: "t.csv"), into: "d", key: "stock.code",
          options: options)
      }
      #expect(error?.found == "a column `stock.code`")
    }
  }

  @Test("a byte order mark is moved over, and a column without a name is called by its place")
  func marks() throws {
    try withTemporaryStore { store in
      for (text, name) in [
        ("\u{FEFF}[{\"id\": 1}]", "t.json"), ("\u{FEFF}{\"id\": 2}", "t.ndjson"),
        ("\u{FEFF}{\"3\": {\"id\": 3}}", "t.json"),
      ] {
        try store.importDocuments(from: .text(text, name: name), into: "c", key: "id")
      }
      #expect(try store.collection("c").count() == 3)
      let twice = try refusal(in: store) {
        try store.importDocuments(
          from: .text("\u{FEFF}\u{FEFF}[{\"id\": 1}]"), into: "c", key: "id")
      }
      #expect(twice?.position == TextPosition(line: 1, column: 1))

      try store.importDocuments(
        from: .text("\u{FEFF},a\n0,x\n1,y\n", name: "t.csv"), into: "frame", key: "column 1")

      #expect(try store.collection("frame").get(1) == ["column 1": 1, "a": "y"])
    }
  }

  // MARK: Objects and mixed values

  @Test("objects whose names keep coming become dictionaries, and stores stay small")
  func dictionaries() throws {
    try withTemporaryStore { store in
      let text = (0..<2_000).map { index in
        let votes = (0..<10).map { "\"user\(index * 10 + $0)\": \($0)" }.joined(separator: ",")
        return "{\"id\": \(index), \"votes\": {\(votes)}}\n"
      }.joined()
      for _ in 0..<2 {
        let found = try store.kinds(text)
        #expect(found == ["id": "int64", "votes": "[string: int64]"])
      }

      guard case .dictionary(let votes)? = try store.collection("c").get(7)?["votes"] else {
        Issue.record("no dictionary")
        return
      }
      #expect(votes.count == 10 && votes[.string("user75")] == 5)
      let statistics = try store.statistics()
      let byteCount = statistics.collections.reduce(0) { $0 + $1.byteCount }
      #expect(byteCount < 2 * text.utf8.count, "\(byteCount)")
    }
  }

  @Test("a dictionary whose values are of several kinds takes any, once its names keep coming")
  func mixedDictionary() throws {
    try withTemporaryStore { store in
      let text = (0..<300).map { index in
        let value = index % 3 == 0 ? "1" : index % 3 == 1 ? "\"x\"" : "[{\"a\": 1}]"
        return "{\"id\": \(index), \"in\": {\"map\": {\"k\(index)\": \(value)}}}\n"
      }.joined()
      var options = ImportOptions()
      options.allowsMixedKinds = true
      _ = try store.kinds(text, options)
      let again = try store.importDocuments(
        from: .text(text, name: "t.ndjson"), into: "c", key: "id", options: options)

      #expect(again.saved.unchanged == 300)
      #expect(
        try store.collection("c").get(2)?["in"]
          == .document([
            "map": .dictionary([.string("k2"): [.dictionary([.string("a"): 1])]])
          ]))
    }
  }

  @Test("an object with many names that every document has stays an embedded document")
  func wide() throws {
    try withTemporaryStore { store in
      let text = (0..<5).map { index in
        let members = (0..<300).map { "\"f\($0)\": \(index)" }.joined(separator: ",")
        return "{\"id\": \(index), \"wide\": {\(members)}}\n"
      }.joined()
      let found = try store.kinds(text)
      #expect(found["wide"] == "document")
    }
  }

  @Test("the caller's kinds make dictionaries, dates and decimals of what JSON has, in arrays too")
  func types() throws {
    var options = ImportOptions()
    options.types = [
      "votes": .dictionary, "at": .date, "in.price": .decimal, "list": .uuid, "free": .any,
    ]
    let id = UUID()
    try withTemporaryStore { store in
      let text = """
        {"id": 1, "votes": {"a": 1}, "at": "2026-03-01", "in": {"price": 12.5}, "list": [], "free": 1}
        {"id": 2, "votes": {"b": 2}, "at": null, "in": {"price": "0.10"}, "list": ["\(id)"], \
        "free": [{"x": "y"}]}
        """
      for _ in 0..<2 {
        #expect(
          try store.kinds(text, options) == [
            "id": "int64", "votes": "[string: int64]", "at": "date?", "in": "document",
            "list": "[uuid]", "free": "any",
          ])
      }

      let document = try #require(try store.collection("c").get(2))
      #expect(document["votes"] == .dictionary([.string("b"): 2]))
      #expect(document["in"] == .document(["price": .decimal(Decimal(string: "0.1")!)]))
      #expect(document["list"] == [.uuid(id)])
      #expect(
        try store.collection("c").get(1)?["at"] == ISO8601.date(from: "2026-03-01").map(Value.date))
    }
  }

  @Test("a kind that is given may meet another one that is stored, where kinds may be mixed")
  func givenBesideStored() throws {
    var options = ImportOptions()
    options.types = ["x": .decimal]
    options.allowsMixedKinds = true
    for lines in [[#"{"id": 1, "x": 1.5}"#, #"{"id": 2, "x": "t"}"#], [#"{"id": 1, "x": 1.5}"#]] {
      for lines in [lines, lines.reversed()] {
        try withTemporaryStore { store in
          try store.collection("c").save([["id": 9, "x": 7]], keyField: "id")
          let report = try store.importDocuments(
            from: .text(lines.joined(separator: "\n"), name: "t.ndjson"), into: "c", key: "id",
            options: options)
          #expect(report.saved.inserted == lines.count)
          #expect(report.inferredFields.first { $0.name == "x" }?.kind == "any")
          #expect(try store.collection("c").get(9)?["x"] == 7)
        }
      }
    }
  }

  @Test("a value that is none of the kind that its field is given is refused, mixed or not")
  func misfits() throws {
    for isMixed in [false, true] {
      var options = ImportOptions()
      options.types = ["at": .date]
      options.allowsMixedKinds = isMixed
      try withTemporaryStore { store in
        let error = try refusal(in: store) {
          try store.importDocuments(
            from: .text(#"[{"id": 1, "at": "soon"}]"#), into: "c", key: "id", options: options)
        }
        #expect(error?.position == TextPosition(line: 1, column: 18))
        options.types = ["on": .date]
        let unknown = try refusal(in: store) {
          try store.importDocuments(
            from: .text(#"[{"id": 1, "at": "soon"}]"#), into: "c", key: "id", options: options)
        }
        #expect(unknown?.found == "no field `on`, whose type is declared")
      }
    }
  }

  @Test("GeoJSON and other mixed values are refused with the way out, and taken by it as they are")
  func mixed() throws {
    let text = """
      {"id": 1, "c": [[1.5, 2]], "v": 1}
      {"id": 2, "c": [[[1.5, 2]], [[3, 4]]], "v": "x"}
      {"id": 3, "c": [], "v": {"a": null}}
      """
    var options = ImportOptions()
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text(text, name: "t.ndjson"), into: "c", key: "id", options: options)
      }
      #expect(error?.line == 2 && error?.expected.contains("--mixed") == true)

      options.allowsMixedKinds = true
      let found = try store.kinds(text, options)
      let again = try store.importDocuments(
        from: .text(text, name: "t.ndjson"), into: "c", key: "id", options: options)

      #expect(found == ["id": "int64", "c": "[[any]]", "v": "any"])
      #expect(again.saved.unchanged == 3)
      let documents = try store.collection("c").fetch(DynamicQuery())
      #expect(documents[0]["c"] == [[1.5, 2]])
      #expect(documents[1]["c"] == [[[1.5, 2]], [[3, 4]]])
      #expect(documents[2]["v"] == .dictionary([.string("a"): .null]))
    }
  }

  @Test("mixed values are taken beside a kind that the collection has already")
  func mixedWithStored() throws {
    var options = ImportOptions()
    options.allowsMixedKinds = true
    try withTemporaryStore { store in
      try store.importDocuments(
        from: .text(#"{"id": 1, "v": 5, "w": {"a": 1}}"#, name: "t.ndjson"), into: "c", key: "id")

      try store.importDocuments(
        from: .text(#"{"id": 2, "v": "x", "w": [1]}"#, name: "t.ndjson"), into: "c", key: "id",
        options: options)

      let documents = try store.collection("c").fetch(DynamicQuery())
      #expect(documents.map { $0["v"] } == [5, "x"])
      #expect(documents.map { $0["w"] } == [.document(["a": 1]), [1]])
    }
  }

  @Test("texts of 17 MB and objects of 70,000 names go out and come in again")
  func large() throws {
    let scratch = try ScratchFolder()
    let names = (0..<70_000).map { (Value.string("k\($0)"), Value.integer(Int64($0))) }
    let document: DynamicDocument = [
      "id": 1, "text": .string(String(repeating: "x", count: 17 << 20)),
      "map": .dictionary(Dictionary(uniqueKeysWithValues: names)),
    ]
    for format in ExportFormat.allCases {
      let file = scratch.file("c.\(format.rawValue)")
      try withTemporaryStore { store in
        try store.collection("c").save([document], keyField: "id")
        try store.export(collection: "c", as: format, to: .file(file))

        let again = try store.importDocuments(from: .file(file), into: "c", key: "id")

        #expect(again.saved.unchanged == 1, "\(format)")
      }
    }
  }
}
