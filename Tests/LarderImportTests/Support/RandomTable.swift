import Foundation
import LarderTestKit

/// Tables whose columns hold fields that are alike, as tables do, and now and then are not.
struct RandomTable {
  /// What stands in a column, most of the time.
  enum Shape {
    case text, date, uuid, url, data, number, large, double, decimal, bool, nothing
    case json(RandomFile.Shape)
  }

  let columns: [(name: String, shape: Shape)]
  /// Of a thousand fields, how many are none of their column's.
  private let oddity: Int
  private let json: RandomFile
  private let hasMissing: Bool

  init(_ random: inout RandomSource) {
    json = RandomFile(&random)
    oddity = random.pick([0, 0, 0, 1, 3, 20])
    hasMissing = random.once(in: 3)
    var names = Self.names.shuffled(using: &random)
    if !random.once(in: 20) { names.removeAll { ["e\u{301}", "geo", "a"].contains($0) } }
    columns = names.prefix(random.int(1..<8)).map { ($0, Self.shape(&random)) }
  }

  private static let names = [
    "a", "b", "name", "at", "é", "e\u{301}", "geo", "geo.lat", "geo.lon", "geo.in.x", "geo.in.y",
    "tags",
    "n", "`a.b`", "long name", "$date", "one.`$date`", "ab,\"c",
  ]

  private static func shape(_ random: inout RandomSource) -> Shape {
    switch random.int(0..<14) {
    case 0, 1: .text
    case 2: .date
    case 3: .uuid
    case 4: .url
    case 5: .data
    case 6, 7: .number
    case 8: .large
    case 9, 10: .double
    case 11: .decimal
    case 12: random.bool() ? .bool : .nothing
    default: .json(RandomFile.shape(&random, depth: 1))
    }
  }

  // MARK: Text

  func header(_ random: inout RandomSource, key: String?) -> String {
    ((key.map { [$0] } ?? []) + columns.map(\.name)).map { quoted($0, &random) }
      .joined(separator: ",")
  }

  /// A row, with or without its key.
  func row(_ random: inout RandomSource, number: Int, hasKey: Bool) -> String {
    var fields = hasKey ? [key(&random, number)] : []
    for column in columns { fields.append(field(column.shape, &random)) }
    if random.int(0..<2_000) < oddity { fields.append("") }
    return fields.joined(separator: ",")
  }

  private func key(_ random: inout RandomSource, _ number: Int) -> String {
    let text = json.key(&random, number)
    guard text.first == "\"" else { return text }
    return quoted(String(text.dropFirst().dropLast()), &random)
  }

  private func field(_ shape: Shape, _ random: inout RandomSource) -> String {
    if random.once(in: 20) { return "" }
    if hasMissing, random.once(in: 20) { return random.pick(["\\N", "\"\\N\"", "\"\""]) }
    if random.int(0..<1_000) < oddity { return field(Self.shape(&random), &random) }
    switch shape {
    case .text: return quoted(random.text(), &random)
    case .date:
      return random.pick([
        "2026-03-01T09:30:00.250Z", "1999-12-31T23:59:59.999Z", "2026-03-01",
        "2026-03-01T09:30:00.000001Z", "2001-01-01T00:00:00Z + 1e+17 s",
      ])
    case .uuid: return random.uuid().uuidString
    case .url: return quoted(random.url().absoluteString, &random)
    case .data: return quoted(random.data().base64EncodedString(), &random)
    case .number: return "\(random.int(0..<1_000))"
    case .large:
      return random.pick([
        "\(random.integer())", "-\(random.int(0..<99))", "\(UInt64.max)", "9007199254740993",
      ])
    case .double:
      return random.pick(["1.5", "0.1", "-2.25e+3", "1e+300", "-0", "-0.0", "7", "3.0", "NaN"])
    case .decimal: return random.pick(["1.00000000000000000000001", "0.50", "12", "-3.10", "1e5"])
    case .bool: return random.pick(["true", "false", "TRUE", "1"])
    case .nothing: return ""
    case .json(let shape): return quoted(json.value(shape, &random), &random)
    }
  }

  /// Text as a field, in quotes where it must be and now and then where it need not.
  private func quoted(_ text: String, _ random: inout RandomSource) -> String {
    let needsQuotes = text.unicodeScalars.contains { ",\"\r\n".unicodeScalars.contains($0) }
    guard needsQuotes || random.once(in: 6) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}
