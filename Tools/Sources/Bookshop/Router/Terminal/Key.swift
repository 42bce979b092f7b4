/// What was pressed.
enum Key: Equatable, Sendable {
  case character(Character)
  case control(Character)
  case enter, escape, backspace, tab
  case up, down, left, right, home, end, pageUp, pageDown, delete
  /// No key: the window of the terminal is looked at again.
  case focus
}

/// Makes keys of the bytes that a terminal sends. Bytes may come in pieces of any size.
struct KeyParser {
  private var pending: [UInt8] = []

  /// Whether a key has begun that may go on: an escape, or a letter of several bytes.
  var isWaiting: Bool { !pending.isEmpty }

  mutating func feed(_ bytes: some Sequence<UInt8>) -> [Key] {
    pending += bytes
    var keys: [Key] = []
    while let (key, count) = Self.first(in: pending) {
      pending.removeFirst(count)
      if let key { keys.append(key) }
    }
    return keys
  }

  /// Nothing came for a while: what has begun was all.
  mutating func flush() -> [Key] {
    guard !pending.isEmpty else { return [] }
    let isEscape = pending[0] == 0x1B
    // The rest of something that was cut off means nothing.
    pending = []
    return isEscape ? [.escape] : []
  }

  /// The first key and how many bytes it has; without a key for bytes that mean none; nil where
  /// more have to come.
  private static func first(in bytes: [UInt8]) -> (key: Key?, count: Int)? {
    guard let byte = bytes.first else { return nil }
    switch byte {
    case 0x1B: return escape(bytes)
    case 0x0D, 0x0A: return (.enter, 1)
    case 0x09: return (.tab, 1)
    case 0x7F, 0x08: return (.backspace, 1)
    case 0x01...0x1A: return (.control(Character(UnicodeScalar(byte + 0x60))), 1)
    case 0x20...0x7E: return (.character(Character(UnicodeScalar(byte))), 1)
    case 0xC2...0xF4:
      let count = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
      let tail = bytes.dropFirst().prefix(count - 1)
      // A letter that goes on with something else is no letter.
      guard tail.allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
      guard tail.count == count - 1 else { return nil }
      let text = String(decoding: bytes.prefix(count), as: UTF8.self)
      let isText = text.unicodeScalars.allSatisfy { $0.value >= 0xA0 && $0 != "\u{FFFD}" }
      return (isText ? text.first.map(Key.character) : nil, count)
    default: return (nil, 1)
    }
  }

  private static func escape(_ bytes: [UInt8]) -> (key: Key?, count: Int)? {
    guard bytes.count > 1 else { return nil }
    switch bytes[1] {
    case UInt8(ascii: "["):
      // Parameters, then a letter or ~ that ends it.
      guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
        return bytes.count > 32 ? (nil, bytes.count) : nil
      }
      let parameters = String(decoding: bytes[2..<end], as: UTF8.self)
      return (sequence(parameters, Character(UnicodeScalar(bytes[end]))), end + 1)
    case UInt8(ascii: "O"):
      guard bytes.count > 2 else { return nil }
      return (sequence("", Character(UnicodeScalar(bytes[2]))), 3)
    default: return (.escape, 1)
    }
  }

  private static func sequence(_ parameters: String, _ last: Character) -> Key? {
    switch (last, parameters) {
    case ("A", _): .up
    case ("B", _): .down
    case ("C", _): .right
    case ("D", _): .left
    case ("H", _), ("~", "1"), ("~", "7"): .home
    case ("F", _), ("~", "4"), ("~", "8"): .end
    case ("I", ""): .focus
    case ("~", "3"): .delete
    case ("~", "5"): .pageUp
    case ("~", "6"): .pageDown
    default: nil
    }
  }
}
