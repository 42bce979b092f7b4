/// As much of JSON as the compiler's messages need.
enum JSON: Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Nil for bytes that are not one JSON value.
  init?(_ bytes: [UInt8]) {
    let value: JSON? = bytes.withUnsafeBufferPointer { bytes in
      var parser = JSONParser(bytes)
      guard let value = parser.value(depth: 0), parser.isAtEnd else { return nil }
      return value
    }
    guard let value else { return nil }
    self = value
  }

  subscript(key: String) -> JSON? {
    if case .object(let members) = self { return members[key] }
    return nil
  }

  var string: String? {
    if case .string(let text) = self { return text }
    return nil
  }

  var integer: Int? {
    if case .number(let number) = self { return Int(exactly: number) }
    return nil
  }

  var elements: [JSON] {
    if case .array(let elements) = self { return elements }
    return []
  }
}

// MARK: Writing

extension JSON {
  /// The text, with the members of objects in the order of their names.
  var text: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let number): text += Int(exactly: number).map(String.init) ?? "\(number)"
    case .string(let value): Self.write(value, to: &text)
    case .array(let elements):
      text += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { text += "," }
        element.write(to: &text)
      }
      text += "]"
    case .object(let members):
      text += "{"
      for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { text += "," }
        Self.write(member.key, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  private static func write(_ value: String, to text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

// MARK: Reading

private struct JSONParser {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return place == bytes.count
    }
  }

  mutating func value(depth: Int) -> JSON? {
    guard depth < 64, let first = peek() else { return nil }
    switch first {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map(JSON.string)
    case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
    case UInt8(ascii: "n"): return take("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func skipSpace() {
    while place < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[place]) { place += 1 }
  }

  /// The next byte that is no white space.
  private mutating func peek() -> UInt8? {
    skipSpace()
    return place < bytes.count ? bytes[place] : nil
  }

  private mutating func take(_ word: StaticString) -> Bool {
    guard place + word.utf8CodeUnitCount <= bytes.count else { return false }
    for index in 0..<word.utf8CodeUnitCount
    where bytes[place + index] != word.utf8Start[index] { return false }
    place += word.utf8CodeUnitCount
    return true
  }

  private mutating func object(depth: Int) -> JSON? {
    place += 1
    var members: [String: JSON] = [:]
    if peek() == UInt8(ascii: "}") {
      place += 1
      return .object(members)
    }
    while peek() == UInt8(ascii: "\"") {
      guard let name = string(), peek() == UInt8(ascii: ":") else { return nil }
      place += 1
      guard let value = value(depth: depth + 1) else { return nil }
      members[name] = value
      let next = peek()
      place += 1
      if next == UInt8(ascii: "}") { return .object(members) }
      guard next == UInt8(ascii: ",") else { return nil }
    }
    return nil
  }

  private mutating func array(depth: Int) -> JSON? {
    place += 1
    var elements: [JSON] = []
    if peek() == UInt8(ascii: "]") {
      place += 1
      return .array(elements)
    }
    while let element = value(depth: depth + 1) {
      elements.append(element)
      let next = peek()
      place += 1
      if next == UInt8(ascii: "]") { return .array(elements) }
      guard next == UInt8(ascii: ",") else { return nil }
    }
    return nil
  }

  private mutating func number() -> JSON? {
    let start = place
    while place < bytes.count, "+-.eE0123456789".utf8.contains(bytes[place]) { place += 1 }
    return Double(String(decoding: bytes[start..<place], as: UTF8.self)).map(JSON.number)
  }

  private mutating func string() -> String? {
    place += 1
    var text: [UInt8] = []
    while place < bytes.count {
      let start = place
      while place < bytes.count, bytes[place] != UInt8(ascii: "\""),
        bytes[place] != UInt8(ascii: "\\")
      { place += 1 }
      text.append(contentsOf: bytes[start..<place])
      guard place < bytes.count else { return nil }
      place += 1
      if bytes[place - 1] == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
      guard let escaped = escape() else { return nil }
      text.append(contentsOf: Array(String(escaped).utf8))
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard place < bytes.count else { return nil }
    place += 1
    switch bytes[place - 1] {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "u"):
      guard let high = hexadecimal() else { return nil }
      guard high & 0xF800 == 0xD800 else { return Unicode.Scalar(high) }
      guard high < 0xDC00, take("\\u"), let low = hexadecimal(), low & 0xFC00 == 0xDC00 else {
        return nil
      }
      return Unicode.Scalar(0x10000 + (high & 0x3FF) << 10 + (low & 0x3FF))
    case let other where "\"\\/".utf8.contains(other): return Unicode.Scalar(other)
    default: return nil
    }
  }

  private mutating func hexadecimal() -> UInt32? {
    guard place + 4 <= bytes.count else { return nil }
    place += 4
    return UInt32(String(decoding: bytes[place - 4..<place], as: UTF8.self), radix: 16)
  }
}
