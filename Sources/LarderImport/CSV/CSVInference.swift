internal import Larder

/// What the fields of one column are, as far as they have been seen.
struct CSVInference {
  private var seen: Seen = []

  private struct Seen: OptionSet {
    let rawValue: UInt8
    static let bool = Seen(rawValue: 1)
    /// An integer that a double is equal to.
    static let integer = Seen(rawValue: 2)
    static let wideInteger = Seen(rawValue: 4)
    static let double = Seen(rawValue: 8)
    static let date = Seen(rawValue: 16)
    static let text = Seen(rawValue: 32)
  }

  /// Whether no further field can change the kind.
  var isText: Bool { seen.contains(.text) }

  /// The kind of the column; `null` while every field was empty.
  var kind: Kind<Int> {
    switch seen {
    case []: .null
    case .bool: .bool
    case .date: .date
    case .integer, .wideInteger, [.integer, .wideInteger]: .integer(.int64)
    case .double, [.integer, .double]: .double
    default: .string
    }
  }

  /// Takes a field in.
  mutating func add(_ cell: UnsafeBufferPointer<UInt8>, isQuoted: Bool) {
    if isQuoted {
      seen.insert(.text)
    } else if !cell.isEmpty, !CSVNotation.isMissing(cell) {
      seen.insert(Self.kind(of: cell))
    }
  }

  /// Whether text that is not quoted would be taken for something else, or for nothing.
  static func isAmbiguous(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.isEmpty || CSVNotation.isMissing(text) || kind(of: text) != .text
  }

  private static func kind(of cell: UnsafeBufferPointer<UInt8>) -> Seen {
    switch cell[0] {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): numberOrDate(cell)
    case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "T"), UInt8(ascii: "F"):
      CSVNotation.bool(cell) == nil ? .text : .bool
    case UInt8(ascii: "N"), UInt8(ascii: "I"):
      CSVNotation.endlessDouble(cell) == nil ? .text : .double
    default: .text
    }
  }

  private static func numberOrDate(_ cell: UnsafeBufferPointer<UInt8>) -> Seen {
    guard case .success(let number) = NumberText.read(cell) else {
      if CSVNotation.endlessDouble(cell) != nil { return .double }
      guard cell.count >= 10, cell[4] == UInt8(ascii: "-"), cell[7] == UInt8(ascii: "-"),
        DateText.date(from: String(decoding: cell, as: UTF8.self)) != nil
      else { return .text }
      return .date
    }
    switch number {
    case .integer(let value): return Double(exactly: value) == nil ? .wideInteger : .integer
    case .double: return hasBareExponent(cell) ? .text : .double
    default: return .text
    }
  }

  /// Whether an exponent has no sign: `1e5` is an article number as likely as not.
  private static func hasBareExponent(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let index = cell.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else {
      return false
    }
    return cell[index + 1] != UInt8(ascii: "+") && cell[index + 1] != UInt8(ascii: "-")
  }
}
