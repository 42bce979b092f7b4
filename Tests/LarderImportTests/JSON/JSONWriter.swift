import Foundation
import LarderTestKit

extension RandomSource {
  mutating func below(_ bound: Int) -> Int { int(0..<bound) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

/// Writes random JSON in every spelling that the grammar allows.
struct JSONWriter {
  var random: RandomSource

  /// A file of up to `count` documents in the shape whose brackets these are.
  mutating func file(_ layout: Layout, upTo count: Int) -> String {
    let count = random.below(count + 1)
    switch layout {
    case .array:
      return list("[", "]", count, in: .file) { writer, _ in writer.object(depth: 0, in: .file) }
    case .keyed:
      return list("{", "}", count, in: .file) { writer, index in
        writer.name(index) + writer.object(depth: 0, in: .file)
      }
    case .lines:
      var text = ""
      for index in 0..<count {
        text += space(.line) + object(depth: 0, in: .line) + space(.line)
        if index + 1 < count || random.chance(70) { text += random.pick(["\n", "\r\n", "\n\n"]) }
      }
      return text
    }
  }

  enum Layout: CaseIterable { case array, keyed, lines }

  /// Whether white space may hold a line feed.
  enum Room { case file, line }

  mutating func object(depth: Int, in room: Room) -> String {
    list("{", "}", random.below(depth == 0 ? 20 : 5), in: room) { writer, index in
      writer.name(index) + writer.value(depth: depth + 1, in: room)
    }
  }

  mutating func value(depth: Int, in room: Room = .file) -> String {
    switch random.below(depth > 4 ? 8 : 10) {
    case 0: return "null"
    case 1: return random.pick(["true", "false"])
    case 2...4: return number()
    case 5...7: return string()
    case 8: return object(depth: depth, in: room)
    default:
      return list("[", "]", random.below(6), in: room) { writer, _ in
        writer.value(depth: depth + 1, in: room)
      }
    }
  }

  private mutating func list(
    _ open: String, _ close: String, _ count: Int, in room: Room,
    _ element: (inout JSONWriter, Int) -> String
  ) -> String {
    var text = open + space(room)
    for index in 0..<count {
      if index > 0 { text += space(room) + "," + space(room) }
      text += element(&self, index)
    }
    return text + space(room) + close
  }

  /// A name that differs from those with other indexes, whatever is taken for the same.
  private mutating func name(_ index: Int) -> String {
    string(suffix: "\(index)") + space(.line) + ":" + space(.line)
  }

  mutating func space(_ room: Room) -> String {
    guard random.chance(30) else { return "" }
    let choices = room == .file ? [" ", "  ", "\t", "\r\n", "\n", "\r"] : [" ", "\t", "  "]
    return random.pick(choices)
  }

  mutating func number() -> String {
    let sign = random.chance(30) ? "-" : ""
    var text = sign + (random.chance(10) ? "0" : digits(random.pick([1, 2, 5, 9, 15, 19, 20])))
    if random.chance(40) { text += "." + allDigits(random.pick([1, 2, 6, 15, 17])) }
    if random.chance(25) {
      text +=
        random.pick(["e", "E"]) + random.pick(["", "+", "-"]) + allDigits(1 + random.below(2))
    }
    return text
  }

  private mutating func digits(_ count: Int) -> String {
    "\(1 + random.below(9))" + allDigits(count - 1)
  }

  private mutating func allDigits(_ count: Int) -> String {
    (0..<count).map { _ in "\(random.below(10))" }.joined()
  }

  mutating func string(suffix: String = "") -> String {
    var text = "\""
    for _ in 0..<random.pick([0, 1, 3, 8, 14, 15, 16, 40]) { text += character() }
    return text + suffix + "\""
  }

  private mutating func character() -> String {
    switch random.below(12) {
    case 0: return random.pick(["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"])
    case 1: return "\\u" + hexadecimal(random.pick([0x00, 0x41, 0xE9, 0x7FF, 0x20AC, 0xFFFD]))
    case 2: return "\\ud83d\\uDE00"
    case 3...4: return random.pick(["é", "e\u{301}", "ß", "Ж", "€", "漢", "😀", "𝄞", "\u{7F}"])
    default: return random.pick(["a", "B", "7", " ", "/", "~", "{", "]", ",", ":"])
    }
  }

  private func hexadecimal(_ unit: Int) -> String {
    let text = String(unit, radix: 16)
    return String(repeating: "0", count: 4 - text.count) + text
  }
}
