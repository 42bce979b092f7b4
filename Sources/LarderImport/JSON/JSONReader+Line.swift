// A look ahead, where the first member of a file's first object is an object.

extension JSONReader {
  /// How far it is looked. What is looked at is kept in memory.
  private static let sightByteCount = 1 << 20

  /// Whether the object that is kept has, in the line that it begins in, a member that is no object: it is a document
  /// then, for what is around all documents has none such. Called behind the colon of its first member; nothing is
  /// read.
  mutating func isAtFirstLine() throws(ImportError) -> Bool {
    let count = text.next - text.start
    // The bytes slide, and with them their beginning.
    defer { text.next = text.start + count }
    var sight = MemberSight()
    while text.next - text.start < Self.sightByteCount, let byte = try text.peek() {
      if let answer = sight.answer(to: byte) { return answer }
      text.next += 1
    }
    return false
  }
}

/// Looks for a member that is no object, from the first member's value on. What is no JSON is left to the scanner.
private struct MemberSight {
  private var depth = 1
  private var isInString = false
  private var isEscaped = false
  /// Whether the value of a member of the outer object comes next.
  private var isAtValue = true

  /// Whether there is such a member; nil where more bytes have to be seen.
  mutating func answer(to byte: UInt8) -> Bool? {
    if byte == 0x0A { return false }
    if isInString {
      isInString = isEscaped || byte != UInt8(ascii: "\"")
      isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      return nil
    }
    if byte == 0x20 || byte == 0x09 || byte == 0x0D { return nil }
    if isAtValue, byte != UInt8(ascii: "{") { return Self.begins(with: byte) }
    isAtValue = false
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
    case UInt8(ascii: ":"): isAtValue = depth == 1
    default: break
    }
    return depth == 0 ? false : nil
  }

  /// Whether a value other than an object begins with this byte.
  private static func begins(with byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "["), UInt8(ascii: "-"), UInt8(ascii: "t"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
