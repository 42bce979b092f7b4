import Foundation
import Larder
import LarderImport
import LarderTestKit

/// A folder of a test's own.
struct ScratchFolder: ~Copyable {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(
      path: "larder-export-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // What stays behind in a temporary folder does no harm.
    try? FileManager.default.removeItem(at: url)
  }

  func file(_ name: String) -> URL { url.appending(path: name) }

  var names: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: url.path(percentEncoded: false)).sorted()
    }
  }
}

extension ImportSource {
  static func file(_ url: URL) -> ImportSource { .file(url.path(percentEncoded: false)) }
}

/// A value to the last bit; `==` takes equivalent text for one, and 0.0 and -0.0.
func exact(_ value: Value) -> String {
  switch value {
  case .string(let text): return "s\(Array(text.utf8))"
  case .double(let number): return number.isNaN ? "NaN" : "d\(number.bitPattern)"
  case .date(let date):
    let seconds = date.timeIntervalSinceReferenceDate
    return seconds.isNaN ? "date NaN" : "date \(seconds.bitPattern)"
  case .array(let values): return "[\(values.map(exact).joined(separator: ","))]"
  case .document(let document): return exact(document)
  case .dictionary(let pairs):
    return
      "{\(pairs.map { "\(exact($0.key)):\(exact($0.value))" }.sorted().joined(separator: ","))}"
  default: return "\(value)"
  }
}

func exact(_ document: DynamicDocument) -> String {
  "("
    + document.fields.map { "\(Array($0.name.utf8))=\(exact($0.value))" }.sorted()
    .joined(separator: ";") + ")"
}

extension RandomSource {
  mutating func cell() -> String {
    let alphabet = [
      "a", "e\u{301}", "é", "ß", "日", "👩‍👩‍👧", "\r\n", "\n", "\r", "\u{0}", "\"", ",", ";", " ", "\\",
      "\\N",
      "'", "\t", "\u{2028}", "\u{85}", "\u{FEFF}", "=", "+", "-", "@", "1", ".", "true", "[", "{}",
    ]
    if chance(30) {
      return pick([
        "", "007", "1", "-1.5", "true", "null", "NaN", "\\N", "2026-03-01", "1e+5", "+47", " ",
        "{}",
        "=1+1", "[1]", "Infinity", "2001-01-01T00:00:00Z + 1.0 s", "\u{FEFF}",
      ])
    }
    return (0..<below(12)).map { _ in pick(alphabet) }.joined()
  }

  mutating func written() -> Double {
    switch below(4) {
    case 0: Double(below(1000))
    case 1: pick([0.0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, 1e300, 0.1])
    default:
      plain(Double(bitPattern: next()))
    }
  }

  /// NaN is one value to a text: no payload comes back.
  private func plain(_ number: Double) -> Double { number.isNaN ? .nan : number }

  mutating func writtenDecimal() -> Decimal {
    if chance(5) { return pick([.nan, .greatestFiniteMagnitude, 0]) }
    let digits = (0..<1 + below(38)).map { _ in "\(below(10))" }.joined()
    return Decimal(
      sign: chance(50) ? .plus : .minus, exponent: below(60) - 40,
      significand: Decimal(string: digits) ?? 0)
  }

  mutating func date() -> Date {
    Date(
      timeIntervalSinceReferenceDate: chance(30)
        ? written() : Double(below(2_000_000_000)) / pick([1, 1_000, 7]))
  }

  /// A value of one of the kinds that a field can have, the same for the same kind.
  mutating func value(ofKind kind: Int) -> Value {
    switch kind {
    case 0: .string(cell())
    case 1: .integer(Int64(bitPattern: next()) >> below(64))
    case 2: .double(written())
    case 3: .bool(chance(50))
    case 4: .date(date())
    case 5: .uuid(uuid())
    case 6: .decimal(writtenDecimal())
    case 7: .data(Data((0..<below(9)).map { _ in UInt8(truncatingIfNeeded: next()) }))
    case 8: .url(URL(string: pick(["https://a.b/?q=1,2#x", "a", "true", "%20", "7"]))!)
    case 9: .array((0..<below(4)).map { _ in .string(cell()) })
    case 10: .array((0..<below(4)).map { _ in chance(20) ? .null : .date(date()) })
    default:
      .document(
        DynamicDocument(
          [
            .init("lat", .double(written())), .init("a.b", .string(cell())),
            .init("at", .date(date())), .init("n", chance(30) ? .null : .decimal(writtenDecimal())),
            .init("deep", .document(["list": .array([.document(["u": .uuid(uuid())])])])),
          ].filter { _ in !chance(15) }))
    }
  }
}
