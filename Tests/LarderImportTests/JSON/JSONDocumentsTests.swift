import LarderImport
import Testing

@Suite("JSON documents")
struct JSONDocumentsTests {
  @Test("an array gives its objects in order, with their places")
  func array() throws {
    let documents = try JSONProbe.documents("[{\"a\":1},\n {},\n\n  {\"b\":[{}]} ]\n", .array)

    #expect(documents.map(\.key) == [nil, nil, nil])
    #expect(documents.map { $0.members.map(\.name) } == [["a"], [], ["b"]])
    #expect(documents.map { "\($0.position)" } == ["1:2", "2:2", "4:3"])
  }

  @Test("a keyed file gives each object with its key")
  func keyed() throws {
    let documents = try JSONProbe.documents("{\"k1\":{\"a\":1},\n\"\\u006b2\": {}}", .keyed)

    #expect(documents.map(\.key) == ["k1", "k2"])
    #expect(documents.map(\.members) == [[JSONMember(name: "a", value: .integer(1))], []])
    #expect(documents.map { "\($0.position)" } == ["1:7", "2:12"])
  }

  @Test("lines give an object each; empty ones are skipped and CR LF is an end")
  func lines() throws {
    let documents = try JSONProbe.documents(
      "\n{\"a\":1}\r\n \t\r\n\n  {\"a\":2} \n{\"a\":3}", .lines)

    #expect(documents.map { $0.members[0].value } == [.integer(1), .integer(2), .integer(3)])
    #expect(documents.map { "\($0.position)" } == ["2:1", "5:3", "6:1"])
    #expect(documents.map { "\($0.members[0].position)" } == ["2:6", "5:8", "6:6"])
  }

  @Test(
    "a file without documents gives none",
    arguments: [
      ("[]", JSONShape.array), ("{ }", .keyed), ("", .lines), ("\n \r\n", .lines),
      ("[ ]", .automatic), ("{}", .automatic),
    ])
  func empty(_ text: String, _ shape: JSONShape) throws {
    let documents = try JSONProbe.documents(text, shape)

    #expect(documents.isEmpty)
  }

  @Test(
    "the name tells lines, otherwise the first bytes tell",
    arguments: [
      ("a.ndjson", "{\"a\":{}}\n{\"b\":1}", JSONShape.lines, 2),
      ("A.NDJSON", "", .lines, 0),
      ("a.jsonl", "{}", .lines, 1),
      ("a.json", " \n[{},{}]", .array, 2),
      ("a.json", "{\"a\":{},\"b\":{}}", .keyed, 2),
      ("a.json", "{\n \"a\":\n {}}", .keyed, 1),
      ("a.json", "{\"a\":1,\"b\":{}}\n{\"a\":2}", .lines, 2),
      ("a.json", "{\"a\":[]}", .lines, 1),
      ("a.json", "\n{\"a\":{\"x\":1},\"b\":1}\n{\"a\":2}", .lines, 2),
      ("a.json", "{\"a\":{},\"b\":{\"c\":[{}]}, \"d\" : \"x\"}\n{}", .lines, 2),
      ("a.json", "{\"a\":{\"}\\\"\\\\\":[0]},\"b\":{\"c\":1}}", .keyed, 2),
      ("a.json", "{\"a\":{\"b\":\"\\\",\\\"c\\\":1\"}}", .keyed, 1),
      ("standard input", "", .lines, 0),
      ("a.jsn", " \n\t", .lines, 0),
      ("standard input", "\n\n {\"a\":\"x\"}\r\n", .lines, 1),
    ])
  func automatic(_ name: String, _ text: String, _ shape: JSONShape, _ count: Int) throws {
    var documents = JSONDocuments(ByteSource(bytes: Array(text.utf8), name: name))
    var all: [JSONDocument] = []

    while let document = try documents.next() { all.append(document) }

    #expect(documents.shape == shape)
    #expect(all.count == count)
  }

  @Test("a first line whose first member is read early is as if it were read as a line")
  func firstLine() throws {
    let first = "  {\"a\": \"é\", \"b\":{\"c\":[1]}}\n{\"d\":2}\n"
    let second =
      " \n {\"a\" :{\"é\": [{}]}, \"b\": {\"c\": {}}, \"d\":1, \"e\":{}}\r\n\n{\"a\":{\"f\":2}}\n"

    for text in [first, second] {
      let lines = JSONProbe.outcome(Array(text.utf8), .lines)
      for pieces in [[65_536], [1], [3, 5]] {
        let automatic = JSONProbe.outcome(Array(text.utf8), .automatic, pieces: pieces)

        #expect(automatic.documents.count == 2)
        #expect(automatic.exact == lines.exact)
      }
    }
  }

  @Test("a file under keys is not taken for a line for what stands far behind its beginning")
  func farMember() throws {
    for (byteCount, shape) in [(1 << 19, JSONShape.lines), (1 << 20, .keyed)] {
      let long = String(repeating: "x", count: byteCount)
      let text = "{\"a\":{\"t\":\"\(long)\"},\"b\":1}"
      var documents = JSONDocuments(ByteSource(bytes: Array(text.utf8), name: "a.json"))

      let first = try documents.next()

      #expect(documents.shape == shape)
      #expect(first?.key == (shape == .keyed ? "a" : nil))
      #expect(first?.members.count == (shape == .keyed ? 1 : 2))
    }
  }

  @Test(
    "what is no document is refused where it begins",
    arguments: [
      ("[{},\n 1]", .array, 2, 2, .shape, "an integer"),
      ("[[]]", .array, 1, 2, .shape, "an array"),
      ("{}", .array, 1, 1, .shape, "an object"),
      ("\n\"x\"", .array, 2, 1, .shape, "a string"),
      ("[{}] x", .array, 1, 6, .syntax, "`x`"),
      ("[{}", .array, 1, 4, .syntax, "the end of the file"),
      ("", .array, 1, 1, .syntax, "the end of the file"),
      ("[]", .keyed, 1, 1, .shape, "an array"),
      ("{\"a\":{},\"b\": null}", .keyed, 1, 14, .shape, "null"),
      ("{\"a\":{},\n\"a\":{}}", .keyed, 2, 1, .duplicateKey, "a second `a` in one object"),
      ("{\"a\":{}} {}", .keyed, 1, 10, .syntax, "`{`"),
      ("{}\n[]", .lines, 2, 1, .shape, "an array"),
      ("{} {}", .lines, 1, 4, .syntax, "`{`"),
      ("{\"a\":\n1}", .lines, 1, 6, .syntax, "the end of the line"),
      ("{}\n{\"a\":1,", .lines, 2, 8, .syntax, "the end of the file"),
      ("{\"a\":\"x\ny\"}", .lines, 1, 8, .syntax, "the end of the line"),
      ("", .automatic, 1, 1, .syntax, "the end of the file"),
      (" 1", .automatic, 1, 2, .syntax, "`1`"),
      ("{\"a\":{},\n\"b\":1}", .automatic, 2, 5, .shape, "an integer"),
      (" \n", .automatic, 2, 1, .syntax, "the end of the file"),
      ("{\"a\":{}}\n{\"b\":{}}", .automatic, 2, 1, .syntax, "`{`"),
      (
        " {\n\"a\":1}", .automatic, 1, 2, .shape,
        "an object in several lines whose first member is no object"
      ),
      ("{\"a\":1,\n\"b\":2}", .automatic, 1, 8, .syntax, "the end of the line"),
    ] as [(String, JSONShape, Int, Int, ImportError.Kind, String)])
  func refusals(
    _ text: String, _ shape: JSONShape, _ line: Int, _ column: Int, _ kind: ImportError.Kind,
    _ found: String
  ) {
    let error = JSONProbe.outcome(Array(text.utf8), shape).error

    #expect(error?.position == TextPosition(line: line, column: column))
    #expect(error?.kind == kind)
    #expect(error?.found == found)
  }

  @Test("documents before a refusal are given, and the refusal is repeated")
  func refusalIsRepeated() throws {
    var documents = JSONDocuments(
      ByteSource(bytes: Array("[{},{},3]".utf8), name: "a.json"), shape: .array)
    _ = try documents.next()
    _ = try documents.next()

    var errors: [ImportError] = []
    for _ in 0..<2 {
      do { _ = try documents.next() } catch { errors.append(error) }
    }

    #expect(errors.count == 2)
    #expect(errors.first == errors.last)
  }

  @Test("behind the last document there is none, however often it is asked for")
  func end() throws {
    var documents = JSONDocuments(ByteSource(bytes: Array("[{}]".utf8), name: "a.json"))
    _ = try documents.next()

    for _ in 0..<3 { #expect(try documents.next() == nil) }
    #expect(documents.consumedByteCount == 4)
    #expect(documents.totalByteCount == 4)
  }
}
