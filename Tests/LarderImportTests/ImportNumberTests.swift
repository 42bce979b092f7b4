import Foundation
import Larder
import LarderImport
import LarderTestKit
import LarderTesting
import Testing

@Suite("Numbers of what is imported")
struct ImportNumberTests {
  @Test("integers above Int64.max are kept to the last digit, keys too, and again")
  func unsigned() throws {
    try withTemporaryStore { store in
      let text = """
        [{"id": 9223372036854775808, "x": 18446744073709551615}, {"id": 5, "x": 1}]
        """
      for _ in 0..<2 {
        let found = try store.kinds(text, name: "t.json")
        #expect(found == ["id": "uint64", "x": "uint64"])
      }
      let small = try store.kinds(#"{"id": 6, "x": 2}"#)
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
        let found = try store.kinds(text, options)
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
}

@Document
private struct Numbers: Equatable {
  var id: Int
  var float: Float?
  var double: Double?
  var byte: UInt8?
}
