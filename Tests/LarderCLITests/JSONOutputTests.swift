import Foundation
import Larder
import LarderImport
import Testing

@testable import LarderCLI

@Suite("Values as JSON")
struct JSONOutputTests {
  @Test("every kind is valid JSON; what JSON does not have is text")
  func kinds() throws {
    let id = UUID()
    let document: DynamicDocument = [
      "null": .null, "bool": true, "integer": -1, "unsigned": .unsigned(.max), "double": 1e300,
      "nan": .double(.nan), "infinity": .double(-.infinity), "string": "\"\\\n\u{0}\u{9B}é\u{2028}",
      "data": .data(Data([0, 255])), "date": .date(Date(timeIntervalSinceReferenceDate: 0.25)),
      "uuid": .uuid(id), "url": .url(URL(string: "https://example.org/a?b=%20")!),
      "decimal": .decimal(Decimal(string: "12345678901234567890.5")!), "decimalNaN": .decimal(.nan),
      "array": [1, []], "dictionary": .dictionary([.integer(1): "a", .uuid(id): "b"]),
      "document": .document([:]),
    ]

    let text = JSONOutput.text(of: .document(document))

    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(object?.count == document.fields.count)
    #expect(object?["string"] as? String == "\"\\\n\u{0}\u{9B}é\u{2028}")
    #expect(object?["date"] as? String == "2001-01-01T00:00:00.250Z")
    #expect(object?["data"] as? String == "AP8=")
    #expect(object?["nan"] as? String == "NaN" && object?["infinity"] as? String == "-Infinity")
    #expect(object?["decimalNaN"] as? String == "NaN")
    #expect(object?["decimal"] as? String == "12345678901234567890.5")
    #expect(text.contains("\"unsigned\": 18446744073709551615"))
    #expect(object?["dictionary"] as? [String: String] == ["1": "a", id.uuidString: "b"])
    let pretty = JSONOutput.text(of: .document(document), pretty: true)
    #expect(
      try JSONSerialization.jsonObject(with: Data(pretty.utf8)) as? NSDictionary
        == object as NSDictionary?)
  }

  @Test("the nearest spelling is suggested, and nothing where none is near")
  func spelling() {
    #expect(Spelling.distance("stroe", "store") == 1)
    #expect(Spelling.distance("", "abc") == 3)
    #expect(Spelling.suggestion("cuont", among: ["count", "check"]) == "; did you mean `count`?")
    #expect(Spelling.suggestion("import", among: ["get"]) == "")
    // What a terminal would not show is the difference.
    #expect(
      Spelling.suggestion("na[31mme", among: ["na\u{1B}[31mme"])
        == "; did you mean `na\\u{1b}[31mme`?")
  }

  @Test("columns of a table stand below each other whatever their characters are as wide as")
  func wideCells() {
    var table = Table(("name", .left), ("count", .right))
    table.add("plain", "1")
    table.add("\u{5BB6}\u{65CF}", "22")
    table.add("e\u{301}\u{1F468}\u{200D}\u{1F469}", "333")

    #expect(
      table.lines == [
        "name   count", "plain      1", "\u{5BB6}\u{65CF}      22",
        "e\u{301}\u{1F468}\u{200D}\u{1F469}      333",
      ])
  }

  @Test("numbers are grouped by thousands")
  func grouping() {
    let grouped = [0, 999, 1_000, -1_234_567].map(Console.grouped)
    #expect(grouped == ["0", "999", "1,000", "-1,234,567"])
  }
}
