internal import Larder

/// How the fields of one column become values.
struct CSVNotation: Sendable {
  /// The kind of the values; one that no single field can show stands there as JSON.
  let kind: Kind<Int>
  /// Whether the caller or a type says the kind.
  let isFixed: Bool
  /// Whether a field that is none of the kind has the one that it would have in a column of its own.
  private let isMixed: Bool
  /// What the catalogue knows of the column, for what stands inside of JSON.
  let place: FieldPlace?
  let empty: Empty

  /// What an empty field means.
  enum Empty: Sendable {
    case null
    /// Text that may not be nil.
    case text
    /// The field's default, by leaving it out.
    case missing
    case refused
  }

  var isJSON: Bool {
    switch kind {
    case .any: !isMixed
    case .document, .array, .set, .dictionary: true
    default: false
    }
  }

  /// - Parameters:
  ///   - type: What the caller declares.
  ///   - place: What the catalogue knows.
  ///   - inferred: What the whole file shows.
  ///   - allowsMixed: Whether the column may take any kind where only the file or other files tell it.
  init(_ type: ImportType?, _ place: FieldPlace?, inferred: Kind<Int>, allowsMixed: Bool) {
    kind = Self.declaredKind(type, place) ?? Self.kind(inferred, place)
    isFixed = type != nil || place?.isDeclared == true
    isMixed = type == .any || allowsMixed && !isFixed
    self.place = place
    empty =
      if let place, place.isDeclared, !place.allowsNil {
        kind == .string ? .text : place.isRequired ? .refused : .missing
      } else {
        .null
      }
  }

  /// The kind of a column for which the file need not be looked at; nil for the others.
  static func declaredKind(_ type: ImportType?, _ place: FieldPlace?) -> Kind<Int>? {
    if let type { return type.kind }
    guard let place, place.kind != .null else { return nil }
    return place.isDeclared || !place.kind.isNumber ? place.kind : nil
  }

  /// Numbers that only were numbers so far may become wider ones.
  private static func kind(_ inferred: Kind<Int>, _ place: FieldPlace?) -> Kind<Int> {
    guard let kind = place?.kind, kind != .null, !inferred.isNumber else { return inferred }
    return kind
  }

  /// What an error says was expected.
  var expectation: String {
    switch kind {
    case .bool: "true or false"
    case .integer: "an integer (\(kind))"
    case .float, .double: "a number that a \(kind) can hold"
    case .uuid: "a UUID"
    case .array, .set: "an array in JSON, such as []"
    case .document, .dictionary: "an object in JSON"
    case .decimal: "a decimal number of at most 38 digits"
    default: kind.expectation
    }
  }

  // MARK: Values

  /// The value of a field that is not JSON, nor empty without quotes; nil where it is none of the
  /// kind.
  func value(_ cell: UnsafeBufferPointer<UInt8>, isQuoted: Bool) -> Value? {
    if let value = Self.value(cell, kind) { return value }
    guard isMixed else { return nil }
    var alone = CSVInference(allowsMixed: false)
    alone.add(cell, isQuoted: isQuoted)
    return Self.value(cell, alone.kind)
  }

  private static func value(_ cell: UnsafeBufferPointer<UInt8>, _ kind: Kind<Int>) -> Value? {
    switch kind {
    case .any: nil
    case .string, .null: .string(String(decoding: cell, as: UTF8.self))
    case .bool: bool(cell).map(Value.bool)
    case .integer, .float, .double: number(cell, kind)
    default: ValueText.value(String(decoding: cell, as: UTF8.self), as: kind)
    }
  }

  private static func number(
    _ cell: UnsafeBufferPointer<UInt8>, _ kind: Kind<Int>
  ) -> Value? {
    switch NumberText.read(cell) {
    case .success(.integer(let value)): return Value.integer(value).coerced(to: kind)
    case .success(.unsigned(let value)): return Value.unsigned(value).coerced(to: kind)
    case .success(.double(let value)):
      guard kind != .float || Float.keepsDigits(of: value) else { return nil }
      return Value.double(value).coerced(to: kind)
    default: break
    }
    // The other spellings, which only a declared column can mean: `007`, `+5`, `.5`.
    let text = String(decoding: cell, as: UTF8.self)
    guard kind == .double || kind == .float else {
      return (Int64(text).map(Value.integer) ?? UInt64(text).map(Value.unsigned))?
        .coerced(to: kind)
    }
    if let endless = endlessDouble(cell) { return .double(endless) }
    guard cell.allSatisfy({ $0 < 0x3A || $0 | 0x20 == UInt8(ascii: "e") }),
      let double = Double(text), double.isFinite,
      double != 0 || !cell.contains(where: { (0x31...0x39).contains($0) }),
      double.keepsDigits(of: text), kind != .float || Float.keepsDigits(of: double)
    else { return nil }
    return Value.double(double).coerced(to: kind)
  }

  /// Whether a field without quotes says that the document lacks it.
  static func isMissing(_ cell: UnsafeBufferPointer<UInt8>) -> Bool {
    cell.count == 2 && cell[0] == UInt8(ascii: "\\") && cell[1] == UInt8(ascii: "N")
  }

  static func bool(_ cell: UnsafeBufferPointer<UInt8>) -> Bool? {
    switch cell.count {
    case 1: cell[0] == UInt8(ascii: "1") ? true : cell[0] == UInt8(ascii: "0") ? false : nil
    case 4: isWord(cell, "true") ? true : nil
    case 5: isWord(cell, "false") ? false : nil
    default: nil
    }
  }

  /// Whether a field is a word of small letters, whatever the case of its own.
  @inline(__always)
  private static func isWord(_ cell: UnsafeBufferPointer<UInt8>, _ word: StaticString) -> Bool {
    for index in 0..<word.utf8CodeUnitCount where cell[index] | 0x20 != word.utf8Start[index] {
      return false
    }
    return true
  }

  /// The double that is no number in JSON.
  static func endlessDouble(_ cell: UnsafeBufferPointer<UInt8>) -> Double? {
    guard cell.count >= 3, cell.count <= 9, cell.last.map({ $0 > 0x39 }) == true,
      case .double(let value)? = ValueText.value(String(decoding: cell, as: UTF8.self), as: .double)
    else { return nil }
    return value
  }
}

extension Kind {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .float, .double: true
    default: false
    }
  }
}
