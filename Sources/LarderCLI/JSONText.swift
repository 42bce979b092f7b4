internal import Foundation
internal import Larder

/// Values as JSON, always valid.
///
/// What JSON has no notation for becomes text: dates in ISO 8601, data in Base64, UUIDs and URLs.
/// NaN and the infinities become null.
struct JSONText {
  private let isPretty: Bool
  private var text = ""

  /// The value in one line; with `pretty` every member and element in one of its own.
  static func text(of value: Value, pretty: Bool = false) -> String {
    var writer = JSONText(isPretty: pretty)
    writer.write(value, depth: 0)
    return writer.text
  }

  private init(isPretty: Bool) { self.isPretty = isPretty }

  private mutating func write(_ value: Value, depth: Int) {
    switch value {
    case .null: text += "null"
    case .bool(let value): text += "\(value)"
    case .integer(let value): text += "\(value)"
    case .unsigned(let value): text += "\(value)"
    case .double(let value): text += value.isFinite ? "\(value)" : "null"
    case .decimal(let value): text += value.isFinite ? "\(value)" : "null"
    case .string(let value): write(quoted: value)
    case .data(let value): write(quoted: value.base64EncodedString())
    case .date(let value): write(value)
    case .uuid(let value): write(quoted: value.uuidString)
    case .url(let value): write(quoted: value.absoluteString)
    case .array(let values):
      write(values, between: "[", "]", depth) { $0.write($1, depth: depth + 1) }
    case .document(let document):
      write(document.fields, between: "{", "}", depth) { writer, field in
        writer.write(name: field.name, field.value, depth: depth + 1)
      }
    case .dictionary(let pairs):
      let members = pairs.map { (name: $0.key.asName, value: $0.value) }
        .sorted { $0.name < $1.name }
      write(members, between: "{", "}", depth) { writer, member in
        writer.write(name: member.name, member.value, depth: depth + 1)
      }
    }
  }

  private mutating func write<Item>(
    _ items: [Item], between open: String, _ close: String, _ depth: Int,
    _ body: (inout JSONText, Item) -> Void
  ) {
    text += open
    for (index, item) in items.enumerated() {
      if index > 0 { text += isPretty ? "," : ", " }
      if isPretty { breakLine(depth + 1) }
      body(&self, item)
    }
    if isPretty, !items.isEmpty { breakLine(depth) }
    text += close
  }

  private mutating func breakLine(_ depth: Int) {
    text += "\n" + String(repeating: "  ", count: depth)
  }

  private mutating func write(name: String, _ value: Value, depth: Int) {
    write(quoted: name)
    text += ": "
    write(value, depth: depth)
  }

  private mutating func write(quoted string: String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      // The last ones mean something to terminals, too.
      case "\u{0}"..<"\u{20}", "\u{7F}"..."\u{9F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  private mutating func write(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    if let iso = DateText.text(of: date) {
      write(quoted: iso)
    } else {
      text += seconds.isFinite ? "\(seconds)" : "null"
    }
  }
}

extension Value {
  /// This key of a dictionary as the name of a member.
  fileprivate var asName: String {
    switch self {
    case .string(let text): return text
    case .date, .data, .uuid, .url: return String(JSONText.text(of: self).dropFirst().dropLast())
    default: return JSONText.text(of: self)
    }
  }
}
