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
    static let negative = Seen(rawValue: 64)
    /// An integer above `Int64.max`.
    static let unsigned = Seen(rawValue: 128)
  }

  /// Whether no further field can change the kind.
  var isText: Bool { seen.contains(.text) }

  /// The kind of the column; `null` while every field was empty.
  var kind: Kind<Int> {
    switch seen.subtracting(.negative) {
    case []: .null
    case .bool: .bool
    case .date: .date
    case .integer, .wideInteger, [.integer, .wideInteger]: .integer(.int64)
    case .double, [.integer, .double]: .double
    case let kinds where kinds.isSubset(of: [.integer, .wideInteger, .unsigned]):
      // Among these, one is above `Int64.max`.
      seen.contains(.negative) ? .string : .integer(.uint64)
    default: .string
    }
  }

  /// The kind of the column where it is the key's.
  var kindOfKey: Kind<Int> {
    switch kind {
    case .integer: kind
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
        isWrittenAsExported(String(decoding: cell, as: UTF8.self))
      else { return .text }
      return .date
    }
    switch number {
    case .integer(let value):
      let kind: Seen = Double(exactly: value) == nil ? .wideInteger : .integer
      return value < 0 ? [kind, .negative] : kind
    case .unsigned: return .unsigned
    case .double: return hasBareExponent(cell) ? .text : .double
    default: return .text
    }
  }

  /// Whether a date would be written again as it stands: a day without a time would not, nor a time in
  /// another zone or with more digits than a date keeps.
  private static func isWrittenAsExported(_ text: String) -> Bool {
    DateText.date(from: text).map { DateText.text(of: $0) == text } ?? false
  }

  /// Whether an exponent has no sign: `1e5` is an article number as likely as not.
  private static func hasBareExponent(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let index = cell.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else {
      return false
    }
    return cell[index + 1] != UInt8(ascii: "+") && cell[index + 1] != UInt8(ascii: "-")
  }
}
