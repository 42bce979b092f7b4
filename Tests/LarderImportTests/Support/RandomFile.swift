import Foundation
import LarderTestKit

/// Files of JSON documents that are alike, as files are, and now and then are not.
struct RandomFile {
  /// What stands in a field, most of the time.
  indirect enum Shape {
    case text, date, uuid, url, data, number, large, double, long, bool, tagged
    case array(Shape)
    case object([(name: String, shape: Shape)])
    case dictionary(Shape)
    case mixed([Shape])
  }

  let fields: [(name: String, shape: Shape)]
  /// Of a thousand values, how many are none of their shape.
  let oddity: Int
  let keyShape: Shape

  init(_ random: inout RandomSource) {
    keyShape = random.pick([.text, .number, .uuid, .large])
    oddity = random.pick([0, 0, 1, 3, 20])
    fields = Self.fields(&random, depth: 0)
  }

  private static let names = [
    "a", "b", "name", "at", "é", "e\u{301}", "$date", "$x", "", "a.b", "geo", "tags", "n",
    "long name",
  ]

  private static func fields(
    _ random: inout RandomSource, depth: Int
  ) -> [(name: String, shape: Shape)] {
    var left = names.shuffled(using: &random)
    // Two spellings of one name are seldom meant.
    if !random.once(in: 20) { left.removeAll { $0 == "e\u{301}" } }
    return left.prefix(random.int(1..<8)).map { ($0, shape(&random, depth: depth)) }
  }

  static func shape(_ random: inout RandomSource, depth: Int) -> Shape {
    if depth < 3, random.once(in: 3) {
      switch random.int(0..<4) {
      case 0: return .array(shape(&random, depth: depth + 1))
      case 1: return .object(fields(&random, depth: depth + 1))
      case 2: return .dictionary(shape(&random, depth: depth + 1))
      default:
        return .mixed([shape(&random, depth: depth + 1), shape(&random, depth: depth + 1)])
      }
    }
    return random.pick([
      .text, .text, .date, .uuid, .url, .data, .number, .number, .large, .double, .double, .long,
      .bool, .tagged,
    ])
  }

  // MARK: Text

  /// A document, with or without its key.
  func document(_ random: inout RandomSource, number: Int, key: String?) -> String {
    var members: [String] = []
    if let key {
      members.append("\(quoted(key, &random)):\(self.key(&random, number))")
    }
    members += self.members(fields, &random)
    if random.once(in: 8) { members.shuffle(using: &random) }
    return "{" + members.joined(separator: random.pick([",", ", ", " , "])) + "}"
  }

  /// The key of a document as a value; each has one of its own, nearly always.
  func key(_ random: inout RandomSource, _ number: Int) -> String {
    let number = random.int(0..<2_000) < oddity ? 0 : number
    switch keyShape {
    case .text: return quoted("k\(number % 7 == 0 ? "é" : "")\(number)", &random)
    case .uuid:
      let digits = String(number, radix: 16)
      let zeros = String(repeating: "0", count: 12 - digits.count)
      return "\"A0000000-0000-4000-8000-\(zeros)\(digits.uppercased())\""
    case .large: return "\(UInt64(Int64.max) - 20 + UInt64(number))"
    default: return "\(number - 5)"
    }
  }

  private func members(
    _ fields: [(name: String, shape: Shape)], _ random: inout RandomSource
  ) -> [String] {
    var members: [String] = []
    for field in fields where !random.once(in: 12) {
      members.append("\(quoted(field.name, &random)):\(value(field.shape, &random))")
    }
    if random.int(0..<1_000) < oddity {
      members.append("\"new\(random.int(0..<9))\":\(value(Self.shape(&random, depth: 2), &random))")
    }
    return members
  }

  func value(_ shape: Shape, _ random: inout RandomSource) -> String {
    if random.once(in: 25) { return "null" }
    if random.int(0..<1_000) < oddity { return value(Self.shape(&random, depth: 2), &random) }
    switch shape {
    case .text: return quoted(random.text(), &random)
    case .date:
      return random.pick([
        "\"2026-03-01T09:30:00.250Z\"", "\"2026-03-01\"", "\"2001-01-01T00:00:00Z + 1e+17 s\"",
      ])
    case .uuid: return "\"\(random.uuid().uuidString)\""
    case .url: return "\"\(random.url().absoluteString)\""
    case .data: return "\"\(random.data().base64EncodedString())\""
    case .number: return "\(random.int(0..<1_000))"
    case .large:
      return random.pick(["\(random.integer())", "-\(random.int(0..<99))", "\(UInt64.max)"])
    case .double:
      return random.pick(["1.5", "0.1", "-2.25e3", "1e300", "-0", "-0.0", "7", "3.0"])
    case .long: return random.pick(["1.00000000000000000000001", "12345678901234567890123", "0.5"])
    case .bool: return random.bool() ? "true" : "false"
    case .tagged:
      return random.pick([
        "{\"$date\":\"2026-03-01T09:30:00.000Z\"}", "{\"$object\":{\"$date\":\"x\"}}",
        "{\"$uuid\":\"no\"}", "{\"$dictionary\":[[1,\"a\"]]}", "{\"$double\":\"NaN\"}",
      ])
    case .array(let element):
      return "[" + random.array(0..<4) { value(element, &$0) }.joined(separator: ",") + "]"
    case .object(let fields):
      return "{" + members(fields, &random).joined(separator: ",") + "}"
    case .dictionary(let inner):
      var names = Set(random.array(0..<5) { "k\($0.int(0..<200))" }).sorted()
      names.shuffle(using: &random)
      return "{" + names.map { "\"\($0)\":\(value(inner, &random))" }.joined(separator: ",") + "}"
    case .mixed(let shapes): return value(random.pick(shapes), &random)
    }
  }

  /// A string of JSON, some of its characters as escapes.
  private func quoted(_ text: String, _ random: inout RandomSource) -> String {
    let escapes = random.once(in: 6)
    var result = "\""
    for unit in text.unicodeScalars {
      if unit.value < 0x20 || unit == "\"" || unit == "\\" || escapes && unit.value < 0x10000 {
        let digits = String(unit.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        result.unicodeScalars.append(unit)
      }
    }
    return result + "\""
  }
}
