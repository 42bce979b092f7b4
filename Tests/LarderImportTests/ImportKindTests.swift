import Foundation
import Larder
import LarderImport
import LarderTestKit
import LarderTesting
import Testing

@Suite("Kinds of what is imported")
struct ImportKindTests {
  private func kinds(
    _ text: String, name: String = "t.ndjson", in store: Store, _ options: ImportOptions
  ) throws -> [String: String] {
    let report = try store.importDocuments(
      from: .text(text, name: name), into: "c", key: "id", options: options)
    return Dictionary(uniqueKeysWithValues: report.inferredFields.map { ($0.name, $0.kind) })
  }

  // MARK: Numbers

  @Test("integers above Int64.max are kept to the last digit, keys too, and again")
  func unsigned() throws {
    try withTemporaryStore { store in
      let text = """
        [{"id": 9223372036854775808, "x": 18446744073709551615}, {"id": 5, "x": 1}]
        """
      for _ in 0..<2 {
        let found = try kinds(text, name: "t.json", in: store, ImportOptions())
        #expect(found == ["id": "uint64", "x": "uint64"])
      }
      let small = try kinds(#"{"id": 6, "x": 2}"#, in: store, ImportOptions())
      #expect(small == ["id": "uint64", "x": "uint64"])

      let documents = try store.collection("c").fetch(DynamicQuery())

      #expect(documents.map { $0["id"] } == [5, 6, .unsigned(9_223_372_036_854_775_808)])
      #expect(documents.map { $0["x"] } == [1, 2, .unsigned(.max)])
    }
  }

  @Test(
    "keys above Int64.max may come behind smaller ones, and a key that stands twice is found",
    arguments: ["t.ndjson", "t.csv"])
  func unsignedKeys(_ name: String) throws {
    let large: Value = .unsigned(1 << 63)
    // More rows than those that a table's kinds are guessed by.
    let keys = (0..<1_200).map { "\($0)" } + ["\(UInt64(1) << 63)"]
    func source(_ keys: [String]) -> ImportSource {
      let isTable = name == "t.csv"
      return .text(
        (isTable ? "id,x\n" : "")
          + keys.map { isTable ? "\($0),1\n" : "{\"id\": \($0), \"x\": 1}\n" }.joined(), name: name)
    }
    try withTemporaryStore { store in
      let twice = try refusal(in: store) {
        try store.importDocuments(from: source(keys + ["7"]), into: "c", key: "id")
      }
      #expect(twice?.kind == .duplicateKey && twice?.found.contains("`7`") == true)

      for keys in [keys, ["1", keys[1_200]]] {
        try store.importDocuments(from: source(keys), into: "c", key: "id")
      }

      let collection = store.collection("c")
      #expect(try collection.count() == 1_201)
      #expect(try collection.get(large)?["id"] == large && collection.get(1)?["id"] == 1)
      try store.importDocuments(from: source(["1"]), into: "signed", key: "id")
      let refused = try refusal(in: store) {
        try store.importDocuments(from: source(["2", keys[1_200]]), into: "signed", key: "id")
      }
      #expect(refused?.line == (name == "t.csv" ? 3 : 2))
      #expect(refused?.expected.hasPrefix("int64") == true)
    }
  }

  @Test(
    "keys above Int64.max and negative ones are refused at the first that does not fit",
    arguments: [["-1", "9223372036854775808"], ["1", "9223372036854775808", "-1"]])
  func unsignedAndNegativeKeys(_ keys: [String]) throws {
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text(keys.map { "{\"id\": \($0)}\n" }.joined(), name: "t.ndjson"), into: "c",
          key: "id")
      }

      #expect(error?.position == TextPosition(line: keys.count, column: 8))
      // A key cannot be of any kind.
      #expect(error?.expected.contains("--mixed") == false)
    }
  }

  @Test(
    "an integer above Int64.max is refused beside a negative one, and in a field of signed ones",
    arguments: ["-1", "stored"])
  func signed(_ other: String) throws {
    try withTemporaryStore { store in
      if other == "stored" {
        try store.collection("c").save([["id": 7, "x": 1]], keyField: "id")
      }
      let before = try store.collection("c").fetch(DynamicQuery())

      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text(
            """
            {"id": 1, "x": \(other == "stored" ? "1" : other)}
            {"id": 2, "x": 9223372036854775808}
            """, name: "t.ndjson"), into: "c", key: "id")
      }

      #expect(error?.position == TextPosition(line: 2, column: 16))
      #expect(try store.collection("c").fetch(DynamicQuery()) == before)
    }
  }

  @Test(
    "a typed import refuses numbers that lose digits in their field",
    arguments: [
      ("float", "1e39"), ("float", "1e-60"), ("float", "16777217"), ("float", "16777217.0"),
      ("float", "0.123456789"), ("double", "123456789012345678901234567890"),
      ("double", "9007199254740993.0"), ("double", "0.1234567890123456789"),
      ("double", "9007199254740993"), ("byte", "256"),
    ])
  func losesDigits(_ field: String, _ number: String) throws {
    try withTemporaryStore { store in
      for name in ["t.ndjson", "t.csv"] {
        let error = try refusal(in: store) {
          let text =
            name == "t.csv"
            ? "id,\(field)\n1,\(number)\n" : "{\"id\": 1, \"\(field)\": \(number)}"
          try store.importDocuments(from: .text(text, name: name), into: Numbers.self)
        }
        #expect(error?.kind == .value, "\(name)")
      }
    }
  }

  @Test(
    "a typed import takes numbers whose digits the field keeps",
    arguments: [
      ("float", "0.1"), ("float", "16777216"), ("float", "0.10000000149011612"),
      ("float", "1e+38"), ("double", "0.10000000000000001"), ("double", "1.7976931348623157e+308"),
      ("double", "9007199254740992.0"), ("byte", "255"), ("byte", "7.0"),
    ])
  func keepsDigits(_ field: String, _ number: String) throws {
    try withTemporaryStore { store in
      for name in ["t.ndjson", "t.csv"] {
        let text =
          name == "t.csv"
          ? "id,\(field)\n1,\(number)\n" : "{\"id\": 1, \"\(field)\": \(number)}"
        try store.importDocuments(from: .text(text, name: name), into: Numbers.self)

        let numbers = try #require(try store.repository(of: Numbers.self).get(1))
        let expected = try #require(Double(number))
        switch field {
        case "float": #expect(numbers.float == Float(expected))
        case "double": #expect(numbers.double == expected)
        default: #expect(Double(numbers.byte ?? 0) == expected)
        }
      }
    }
  }

  @Test(
    "minus zero keeps its sign, also among integers, and comes back from an export",
    arguments: ["t.ndjson", "t.csv"])
  func minusZero(_ name: String) throws {
    let texts =
      name == "t.csv"
      ? ["id,x,y\n1,-0.0,1\n2,-0.0,-0.0\n", "id,x,y\n3,7,5\n4,-0,7\n"]
      : [
        #"{"id": 1, "x": -0.0, "y": 1}"# + "\n" + #"{"id": 2, "x": -0.0, "y": -0.0}"#,
        #"{"id": 3, "x": 7, "y": 5}"# + "\n" + #"{"id": 4, "x": -0, "y": 7}"#,
      ]
    let scratch = try ScratchFolder()
    try withTemporaryStore { store in
      for text in texts {
        try store.importDocuments(from: .text(text, name: name), into: "c", key: "id")
      }
      let before = try store.collection("c").fetch(DynamicQuery())

      #expect(
        before.map { $0["x"].map(exact) } == [-0.0, -0.0, 7.0, -0.0].map { exact(.double($0)) })
      #expect(
        before.map { $0["y"].map(exact) } == [1.0, -0.0, 5.0, 7.0].map { exact(.double($0)) })
      for format in ExportFormat.allCases {
        let file = scratch.file("c.\(format.rawValue)")
        try store.export(collection: "c", as: format, to: .file(file))
        try withTemporaryStore { other in
          try other.importDocuments(from: .file(file), into: "c", key: "id")
          #expect(
            try other.collection("c").fetch(DynamicQuery()).map(exact) == before.map(exact))
        }
      }
    }
  }

  @Test("-0 is an integer among the integers of JSON, minus zero among doubles, and no key")
  func integerMinusZero() throws {
    let text = """
      {"id": 1, "n": -0, "d": 0.5, "list": [-0, 9007199254740993], "any": true}
      {"id": 2, "n": 9007199254740993, "d": -0, "list": [-0], "any": -0}
      """
    var options = ImportOptions()
    options.types = ["any": .any]
    try withTemporaryStore { store in
      for _ in 0..<2 {
        let found = try kinds(text, in: store, options)
        #expect(found["n"] == "int64" && found["d"] == "double" && found["list"] == "[int64]")
      }

      let documents = try store.collection("c").fetch(DynamicQuery())
      #expect(documents.map { $0["n"] } == [0, 9_007_199_254_740_993])
      #expect(documents[0]["list"] == [0, 9_007_199_254_740_993])
      #expect(documents[1]["d"].map(exact) == exact(.double(-0.0)))
      #expect(documents[1]["any"].map(exact) == exact(.double(-0.0)))
      let key = try refusal(in: store) {
        try store.importDocuments(
          from: .text(#"[{"id": 3}, {"id": -0}]"#), into: "c", key: "id")
      }
      #expect(key?.position == TextPosition(line: 1, column: 20))
    }
  }

  @Test("minus zero keeps its sign in a field that the type of an import does not declare")
  func minusZeroInUndeclaredField() throws {
    try withTemporaryStore { store in
      for name in ["t.ndjson", "t.csv"] {
        let text = name == "t.csv" ? "id,more\n1,-0.0\n" : #"{"id": 1, "more": -0.0}"#
        try store.importDocuments(from: .text(text, name: name), into: Numbers.self)

        let more = try store.collection("Numbers").get(1)?["more"]
        #expect(more.map(exact) == exact(.double(-0.0)), "\(name)")
      }
    }
  }

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
        let found = try kinds(text, in: store, ImportOptions())
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
      _ = try kinds(text, in: store, options)
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
      let found = try kinds(text, in: store, ImportOptions())
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
          try kinds(text, in: store, options) == [
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
      let found = try kinds(text, in: store, options)
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

@Document
private struct Numbers: Equatable {
  var id: Int
  var float: Float?
  var double: Double?
  var byte: UInt8?
}
