/// Names as Kinto has them: ids of letters and digits of ASCII, `-` and `_`, of which the first is a letter or digit.
///
/// Other bytes of UTF-8 stand in capital hexadecimal digits between `_x` and `_`, as many as follow each other: `a b` is
/// `a_x20_b`. An underscore stands for itself, unless it would begin such a text; then it is `_x5F_`. A name that is
/// empty, or begins with what no id begins with, has `0_x30_` in front, which no other name has. So has one that begins
/// with `batch`: Kinto refuses a batch with a path in which `/batch` stands.
enum KintoName {
  /// Bytes of an id. An index of PostgreSQL takes some 2,700 for the id and the names that it stands under.
  static let mostByteCount = 1000

  private static let mark = Array("0_x30_".utf8)
  private static let batch = Array("batch".utf8)
  private static let underscore = UInt8(ascii: "_")

  /// The id of a name; nil where it is too long to be one.
  static func id(_ name: String) -> String? {
    let bytes = Array(name.utf8)
    guard bytes.count <= mostByteCount else { return nil }
    // From the end, in the order of the end: whether an underscore begins an escape depends on what follows it.
    var reversed: [UInt8] = []
    var isEscape = false
    for byte in bytes.reversed() {
      let isPlain =
        isAlphanumeric(byte) || byte == UInt8(ascii: "-")
        || byte == underscore && escape(in: Array(reversed.reversed())[...]) == nil
      if isPlain {
        reversed.append(byte)
      } else {
        // In front of the digits of the next one, where there is one.
        if isEscape { reversed.removeLast(2) } else { reversed.append(underscore) }
        reversed += [hexDigit(byte & 0xF), hexDigit(byte >> 4), UInt8(ascii: "x"), underscore]
      }
      isEscape = !isPlain
    }
    var id = Array(reversed.reversed())
    if bytes.first.map(isAlphanumeric) != true || bytes.starts(with: batch) { id = mark + id }
    return id.count <= mostByteCount ? String(decoding: id, as: UTF8.self) : nil
  }

  /// The name that has an id; nil where none has it, as with `a_x41_`, which is `aA` written otherwise.
  static func name(_ id: String) -> String? {
    var rest = Array(id.utf8)[...]
    if rest.starts(with: mark) { rest.removeFirst(mark.count) }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == underscore, let escape = escape(in: rest) {
        bytes += escape.bytes
        rest.removeFirst(escape.count)
      } else {
        bytes.append(byte)
      }
    }
    guard let name = String(validating: bytes, as: UTF8.self), self.id(name) == id else {
      return nil
    }
    return name
  }

  /// What an escape says, and how many bytes it has behind its first underscore; nil where there is none.
  private static func escape(in text: ArraySlice<UInt8>) -> (bytes: [UInt8], count: Int)? {
    guard text.first == UInt8(ascii: "x") else { return nil }
    var rest = text.dropFirst()
    var bytes: [UInt8] = []
    while let byte = hexByte(rest.prefix(2)) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    guard !bytes.isEmpty, rest.first == underscore else { return nil }
    return (bytes, 2 * bytes.count + 2)
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func hexByte(_ digits: ArraySlice<UInt8>) -> UInt8? {
    guard digits.count == 2, digits.allSatisfy({ isHexDigit($0) }) else { return nil }
    return UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
    default: false
    }
  }
}
