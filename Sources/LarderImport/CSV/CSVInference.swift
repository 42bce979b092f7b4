internal import Larder

/// The kinds of columns that only the file shows, as far as it has been read.
struct CSVGuess: Sendable {
  private var columns: [(index: Int, isKey: Bool, inference: CSVInference)] = []
  /// For each column of the file its place among these; nil for one whose kind is known.
  private var places: [Int?] = []

  init(_ header: borrowing CSVHeader, _ options: ImportOptions, keyField: String) {
    for (index, column) in header.columns.enumerated() {
      let isOpen = CSVNotation.declaredKind(options.types[column.name], column.place) == nil
      places.append(isOpen ? columns.count : nil)
      guard isOpen else { continue }
      columns.append(
        (
          index, column.path.names == [keyField],
          CSVInference(
            allowsMixed: options.allowsMixedKinds, takesJSON: column.place?.kind == .null)
        ))
    }
  }

  /// Whether everything was known before.
  var isEmpty: Bool { columns.isEmpty }

  /// The kind that a column has, if it is one of those.
  func kind(of index: Int) -> Kind<Int> {
    guard let place = places[index] else { return .null }
    let column = columns[place]
    return column.isKey ? column.inference.kindOfKey : column.inference.kind
  }

  /// Takes the latest row of a reader in; true where a column now has another kind.
  ///
  /// A field that was read as a number or Boolean of its column's kind does not change that kind, nor does
  /// it change which other fields do.
  @discardableResult
  mutating func add(_ reader: borrowing CSVReader) -> Bool {
    var isOther = false
    for place in columns.indices where !columns[place].inference.isSettled {
      let index = columns[place].index
      let cell = reader.cells[index]
      if cell.isAsGuessed || cell.isNil { continue }
      let before = columns[place].inference
      reader.withCell(index) { columns[place].inference.add($0, isQuoted: cell.isQuoted) }
      let inference = columns[place].inference
      guard inference != before else { continue }
      isOther =
        isOther
        || (columns[place].isKey
          ? inference.kindOfKey != before.kindOfKey : inference.kind != before.kind)
    }
    return isOther
  }
}

/// What the fields of one column are, as far as they have been seen.
struct CSVInference: Equatable, Sendable {
  private var seen: Seen = []
  /// Whether fields that no other kind holds together make a column of any kind, and not of text.
  private let allowsMixed: Bool
  /// Whether JSON may stand in it, as exports write it. Only where the catalogue knows the
  /// field, and nobody has seen a value in it: elsewhere text may look so, too.
  private let takesJSON: Bool

  init(allowsMixed: Bool, takesJSON: Bool = false) {
    self.allowsMixed = allowsMixed
    self.takesJSON = takesJSON
  }

  private struct Seen: OptionSet, Sendable {
    let rawValue: UInt16
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
    /// An object, an array or text, as JSON has it.
    static let json = Seen(rawValue: 256)
    /// What is the same in JSON.
    static let plain: Seen = [.bool, .integer, .wideInteger, .unsigned, .double]
  }

  /// Whether no further field can change the kind.
  var isSettled: Bool { allowsMixed ? kind == .any : seen.contains(.text) }

  /// The kind of the column; `null` while every field was empty.
  var kind: Kind<Int> {
    switch seen.subtracting(.negative) {
    case []: .null
    case .bool: .bool
    case .date: .date
    case .integer, .wideInteger, [.integer, .wideInteger]: .integer(.int64)
    case .double, [.integer, .double]: .double
    case .text: .string
    // Stands for all JSON; what there is in it the whole file shows.
    case let kinds where kinds.contains(.json) && kinds.isSubset(of: Seen.plain.union(.json)):
      .dictionary(.string, .null)
    // Among these, one is above `Int64.max`.
    case let kinds
    where kinds.isSubset(of: [.integer, .wideInteger, .unsigned]) && !seen.contains(.negative):
      .integer(.uint64)
    default: allowsMixed ? .any : .string
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
    if takesJSON, Self.isJSON(cell) {
      seen.insert(.json)
    } else if isQuoted {
      seen.insert(.text)
    } else if !cell.isEmpty, !CSVNotation.isMissing(cell) {
      seen.insert(Self.kind(of: cell))
    }
  }

  private static func isJSON(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
    switch (cell.first, cell.last) {
    case (UInt8(ascii: "{"), UInt8(ascii: "}")), (UInt8(ascii: "["), UInt8(ascii: "]")): true
    case (UInt8(ascii: "\""), UInt8(ascii: "\"")): cell.count > 1
    default: false
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
    if let number = PlainNumber.integer(cell) {
      // Those within 53 bits are doubles as well.
      let kind: Seen =
        number.magnitude <= 1 << 53 || Double(exactly: number) != nil ? .integer : .wideInteger
      return number < 0 ? [kind, .negative] : kind
    }
    if PlainNumber.double(cell) != nil { return .double }
    guard case .success(let number) = NumberText.read(cell) else {
      if DateText.isUsual(cell) { return .date }
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
