#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Value {
  /// This value as one of `kind`, or nil where it is none.
  ///
  /// Text becomes a date (ISO 8601), UUID, URL, decimal or data (Base64); a number becomes a
  /// wider one, or an integer if it is one exactly. Nothing is rounded but a double to a float that
  /// is neither infinite nor zero then, and a long decimal to a double.
  package func coerced(to kind: Kind<Int>) -> Value? {
    switch kind {
    case .bool: if case .bool = self { self } else { nil }
    case .integer(let width): integer(of: width)
    case .float: floatNumber.flatMap { isRead(as: $0) ? .double($0) : nil }
    case .double: number.flatMap { isRead(as: $0) ? .double($0) : nil }
    case .string: if case .string = self { self } else { nil }
    case .data: dataValue
    case .date: dateValue
    case .uuid: uuidValue
    case .url: urlValue
    case .decimal: decimalValue
    default: nil
    }
  }

  private func integer(of width: IntegerKind) -> Value? {
    // `Optional.none` where a ternary's `nil` would be ``null``.
    switch self {
    case .integer(let value) where width.holds(value): return self
    case .unsigned where width == .uint64: return self
    case .double(let value):
      if let exact = Int64(exactly: value), width.holds(exact) { return .integer(exact) }
      guard width == .uint64, let exact = UInt64(exactly: value) else { return .none }
      return Value(exact)
    case .decimal(let value):
      if let exact = Int64("\(value)"), width.holds(exact) { return .integer(exact) }
      guard width == .uint64, let exact = UInt64("\(value)") else { return .none }
      return Value(exact)
    default: return .none
    }
  }

  /// This number in a field that was widened after it was stored.
  func widened(to kind: Kind<Int>) -> Value? {
    switch kind {
    case .float, .double: nearestNumber.map { .double($0) }
    default: nil
    }
  }

  /// The number as a field of doubles compares it: NaN, which equals nothing and is neither less nor
  /// greater, for an integer that no double is equal to, such as 2^53 + 1.
  var number: Double? {
    switch self {
    case .integer(let value): Double(exactly: value) ?? Self.unequal(Double(value))
    case .unsigned(let value): Double(exactly: value) ?? Self.unequal(Double(value))
    default: nearestNumber
    }
  }

  /// What stands for an integer that no double is equal to.
  private static func unequal(_ nearest: Double) -> Double {
    #if LARDER_MUTANTS
      if Mutant.roundedIntegers.isOn { return nearest }
    #endif
    return .nan
  }

  /// The number as a field of floats compares it: NaN for an integer that no float is equal to, and
  /// for a number that would become infinite or zero.
  var floatNumber: Double? {
    switch self {
    case .integer(let value): Float(exactly: value).map(Double.init) ?? .nan
    case .unsigned(let value): Float(exactly: value).map(Double.init) ?? .nan
    default: nearestNumber.map { Float(keeping: $0).map(Double.init) ?? .nan }
    }
  }

  /// Whether a number that is read as `number` was not changed by that.
  private func isRead(as number: Double) -> Bool {
    if !number.isNaN { return true }
    if case .double(let value) = self { return value.isNaN }
    if case .decimal(let value) = self { return value.isNaN }
    return false
  }

  /// The number as the nearest double.
  var nearestNumber: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): Double("\(value)")
    default: nil
    }
  }

  private var dataValue: Value? {
    switch self {
    case .data: self
    case .string(let text): Data(base64Encoded: text).map(Value.data)
    default: nil
    }
  }

  private var dateValue: Value? {
    switch self {
    case .date: self
    case .string(let text): ISO8601.date(from: text).map(Value.date)
    default: nil
    }
  }

  private var uuidValue: Value? {
    switch self {
    case .uuid: self
    case .string(let text): UUID(uuidString: text).map(Value.uuid)
    default: nil
    }
  }

  private var urlValue: Value? {
    switch self {
    case .url: self
    // One that needed to be encoded would be another text.
    case .string(let text):
      URL(string: text).flatMap { $0.absoluteString == text ? .url($0) : nil }
    default: nil
    }
  }

  private var decimalValue: Value? {
    switch self {
    case .decimal: self
    case .string(let text): Decimal(exactText: text).map(Value.decimal)
    case .integer(let value): .decimal(Decimal(value))
    case .unsigned(let value): .decimal(Decimal(value))
    // By its shortest text: 0.1 is the decimal 0.1 and not the double's exact value.
    case .double(let value):
      Decimal.towardZero(value).flatMap { $0.isExact ? .decimal($0.value) : nil }
    default: nil
    }
  }

  /// This value as the key of a dictionary: JSON has only text there.
  func asKey(of kind: Kind<Int>) -> Value {
    guard case .string(let text) = self else { return self }
    switch kind {
    case .integer:
      // `007` would come back as another key.
      let number = Int64(text).map(Value.integer) ?? UInt64(text).map(Value.unsigned)
      return number.flatMap { $0.description == text ? $0 : nil } ?? self
    case .double, .float: return Double(text).map(Value.double) ?? self
    case .bool: return Bool(text).map(Value.bool) ?? self
    default: return self
    }
  }

  /// What an error says was found: the kind, and the value where it is short.
  package var shortDescription: String {
    switch self {
    case .null: return "null"
    case .array: return "an array"
    case .dictionary: return "a dictionary"
    case .document: return "an object"
    case .string(let text): return "the string \(Self.quoted(String(text.prefix(40))))"
    default: return "\(self)"
    }
  }
}

extension Kind {
  /// What an error says was expected.
  package var expectation: String {
    switch self {
    case .date: "a date (ISO 8601, such as 2026-03-01T09:30:00Z)"
    case .data: "data in Base64"
    case .decimal: "a decimal number of at most 38 digits"
    case .document: "an object"
    case .array, .set: "an array"
    case .null: "null"
    case .url: "a URL (with spaces, and letters beyond ASCII, percent-encoded)"
    default: "\(self)"
    }
  }
}

extension Decimal {
  /// The number that the whole of `text` is; `Decimal(string:)` stops where it no longer is one.
  init?(exactText text: String) {
    let digits = text.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
    let allowed = digits.allSatisfy {
      $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")
        || [0x2E, 0x65, 0x45, 0x2B, 0x2D].contains($0)
    }
    guard text.utf8.count - digits.count <= 1, let first = digits.first,
      first != 0x65, first != 0x45, allowed, Double(text) != nil
    else { return nil }
    self.init(string: text)
    // As many digits as a decimal always holds; it holds some of those with one more, and would round the
    // others.
    let written = Self.significantDigits(of: text)
    if written.count > 38, written != Self.significantDigits(of: "\(self)") { return nil }
  }

  /// The digits of a number from the first that is not zero to the last that is not.
  package static func significantDigits(of text: String) -> [UInt8] {
    let digits = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
      .filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    let end = digits.lastIndex { $0 != UInt8(ascii: "0") } ?? -1
    return Array(digits[...end].drop { $0 == UInt8(ascii: "0") })
  }
}

extension Decimal {
  /// The decimal that a double's shortest text stands for or, where there is none, the next one toward
  /// zero: decimals have no digit behind the 128th place, and end soon behind 10^165. Nil for NaN.
  static func towardZero(_ number: Double) -> (value: Decimal, isExact: Bool)? {
    if number.isNaN { return nil }
    let (size, isExact) = towardZero(ofSize: number.magnitude)
    return (number < 0 ? -size : size, isExact)
  }

  private static func towardZero(ofSize size: Double) -> (Decimal, isExact: Bool) {
    guard size.isFinite else { return (greatestFiniteMagnitude, false) }
    // Such as 123.0, 0.001, 1.5e-07 or 1e+16: at most 17 digits, and no zeros behind large ones.
    let parts = "\(size)".split(separator: "e")
    let digits = parts[0].split(separator: ".")
    let behindPoint = digits.count > 1 && digits[1] != "0" ? String(digits[1]) : ""
    guard var significand = UInt64(String(digits[0]) + behindPoint), significand > 0 else {
      return (0, true)
    }
    var exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) - behindPoint.utf8.count
    if exponent > 127 { return (below(significand, exponent), false) }
    var isExact = true
    while exponent < -128, significand > 0 {
      isExact = isExact && significand % 10 == 0
      significand /= 10
      exponent += 1
    }
    if significand == 0 { return (0, false) }
    let value = Decimal(sign: .plus, exponent: exponent, significand: Decimal(significand))
    return (value, isExact)
  }

  /// The largest decimal below a number that has too large an exponent to be one.
  private static func below(_ significand: UInt64, _ exponent: Int) -> Decimal {
    let count = String(significand).utf8.count
    // 2^128 - 1, which has 39 digits.
    let largest = "\(UInt128.max)"
    for width in [39, 38] {
      let digits = String(significand - 1) + String(repeating: "9", count: width - count)
      let padded = String(repeating: "0", count: width - digits.utf8.count) + digits
      let place = exponent - (width - count)
      if place > 127 || width == 39 && padded > largest { continue }
      return Decimal(string: "\(digits)e\(place)") ?? greatestFiniteMagnitude
    }
    return greatestFiniteMagnitude
  }
}

extension Float {
  /// The nearest float; nil where that is infinite and the number is not, or zero and the number is
  /// not.
  @usableFromInline init?(keeping number: Double) {
    self.init(number)
    if isInfinite && number.isFinite || self == 0 && number != 0 { return nil }
  }
}
