import Foundation
import Larder
import Testing

@testable import LarderCLI

@Suite("Values as JSON")
struct JSONTextTests {
  @Test("every kind is valid JSON; what JSON does not have is text or null")
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

    let text = JSONText.text(of: .document(document))

    let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(object?.count == document.fields.count)
    #expect(object?["string"] as? String == "\"\\\n\u{0}\u{9B}é\u{2028}")
    #expect(object?["date"] as? String == "2001-01-01T00:00:00.250Z")
    #expect(object?["data"] as? String == "AP8=")
    #expect(object?["nan"] is NSNull && object?["infinity"] is NSNull)
    #expect(object?["decimalNaN"] is NSNull)
    #expect(text.contains("\"decimal\": 12345678901234567890.5"))
    #expect(text.contains("\"unsigned\": 18446744073709551615"))
    #expect(object?["dictionary"] as? [String: String] == ["1": "a", id.uuidString: "b"])
    let pretty = JSONText.text(of: .document(document), pretty: true)
    #expect(
      try JSONSerialization.jsonObject(with: Data(pretty.utf8)) as? NSDictionary
        == object as NSDictionary?)
  }

  @Test(
    "a date's text brings the same date back",
    arguments: [
      "0001-01-01T00:00:00.000Z", "0000-02-29T00:00:00.000Z", "1969-12-31T23:59:59.999Z",
      "2000-02-29T12:00:00.000Z", "2026-03-01T09:30:00.123456Z", "9999-12-31T23:59:59.999Z",
    ])
  func dates(text: String) throws {
    let date = try #require(ISO8601.date(from: text))

    #expect(DateText.text(of: date) == text)
  }

  @Test("any date comes back to the nanosecond, at least")
  func randomDates() throws {
    let seed =
      ProcessInfo.processInfo.environment["LARDER_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 0...999_999)
    var state = seed
    for _ in 0..<20_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let seconds = Double(Int64(bitPattern: state) >> 12) / 1e5
      let date = Date(timeIntervalSinceReferenceDate: seconds.remainder(dividingBy: 6e10))
      let text = try #require(DateText.text(of: date), "seed \(seed)")
      let back = try #require(ISO8601.date(from: text), "seed \(seed)")
      #expect(abs(back.timeIntervalSince(date)) < 1e-9 + date.timeIntervalSinceReferenceDate.ulp)
    }
  }

  @Test("a date outside the years that the notation has is a number, or null")
  func farDates() {
    let far = Date(timeIntervalSinceReferenceDate: 1e12)
    #expect(JSONText.text(of: .date(far)) == "1000000000000.0")
    let none = Date(timeIntervalSinceReferenceDate: .nan)
    #expect(JSONText.text(of: .date(none)) == "null")
    #expect(JSONText.text(of: .date(.distantFuture)) == "\"4001-01-01T00:00:00.000Z\"")
  }

  @Test("the nearest spelling is suggested, and nothing where none is near")
  func spelling() {
    #expect(Spelling.distance("stroe", "store") == 1)
    #expect(Spelling.distance("", "abc") == 3)
    #expect(Spelling.suggestion("cuont", among: ["count", "check"]) == "; did you mean `count`?")
    #expect(Spelling.suggestion("import", among: ["get"]) == "")
  }

  @Test("numbers are grouped by thousands")
  func grouping() {
    let grouped = [0, 999, 1_000, -1_234_567].map(Console.grouped)
    #expect(grouped == ["0", "999", "1,000", "-1,234,567"])
  }
}
