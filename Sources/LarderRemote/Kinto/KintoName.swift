/// Names as Kinto has them: ids of letters and digits of ASCII, `-` and `_`, of which the first is a letter or digit.
///
/// Other bytes of UTF-8 stand as `_` and two capital hexadecimal digits: `a b` is `a_20b`. An underscore stands for
/// itself, unless two such digits follow it; then it is `_5F`. A name that is empty, or begins with what no id begins
/// with, has `0_30` in front, which no other name has. So has one that begins with `batch`: Kinto refuses a batch with
/// a path in which `/batch` stands.
enum KintoName {
  /// Bytes of an id. An index of PostgreSQL takes some 2,700 for the id and the names that it stands under.
  static let mostByteCount = 1000

  private static let mark = Array("0_30".utf8)
  private static let batch = Array("batch".utf8)

  /// The id of a name; nil where it is too long to be one.
  static func id(_ name: String) -> String? {
    let bytes = Array(name.utf8)
    guard bytes.count <= mostByteCount else { return nil }
    var id: [UInt8] = bytes.first.map(isAlphanumeric) == true ? [] : mark
    if bytes.starts(with: batch) { id = mark }
    for (index, byte) in bytes.enumerated() {
      if isAlphanumeric(byte) || byte == UInt8(ascii: "-") {
        id.append(byte)
      } else if byte == UInt8(ascii: "_"), hexByte(bytes[(index + 1)...].prefix(2)) == nil {
        id.append(byte)
      } else {
        id += [UInt8(ascii: "_"), hexDigit(byte >> 4), hexDigit(byte & 0xF)]
      }
    }
    return id.count <= mostByteCount ? String(decoding: id, as: UTF8.self) : nil
  }

  /// The name that has an id; nil where none has it, as with `a_41`, which is `aA` written otherwise.
  static func name(_ id: String) -> String? {
    var rest = Array(id.utf8)[...]
    if rest.starts(with: mark) { rest.removeFirst(mark.count) }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "_"), let escaped = hexByte(rest.prefix(2)) {
        bytes.append(escaped)
        rest.removeFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    guard let name = String(validating: bytes, as: UTF8.self), self.id(name) == id else {
      return nil
    }
    return name
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

  /// The byte that two digits are; nil for anything else.
  private static func hexByte(_ digits: ArraySlice<UInt8>) -> UInt8? {
    guard digits.count == 2 else { return nil }
    var byte: UInt8 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): byte = byte << 4 | (digit - UInt8(ascii: "0"))
      case UInt8(ascii: "A")...UInt8(ascii: "F"):
        byte = byte << 4 | (digit - UInt8(ascii: "A") + 10)
      default: return nil
      }
    }
    return byte
  }
}
