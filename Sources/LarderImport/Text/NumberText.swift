/// A number in the notation of JSON, read from bytes that hold it and nothing else.
package struct NumberText {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let isNegative: Bool

  /// What keeps bytes from being a number.
  package struct Fault: Error {
    /// The first byte that is wrong; one behind the last where some are missing.
    package let index: Int
    package let expected: String
  }

  /// The number: never rounded unseen, as the cases of ``JSONValue`` say.
  package static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, Fault> {
    Result { () throws(Fault) in
      try NumberText(bytes: bytes, isNegative: bytes.first == UInt8(ascii: "-")).value()
    }
  }

  private func value() throws(Fault) -> JSONValue {
    var index = isNegative ? 1 : 0
    var magnitude: UInt64 = 0
    var isTooLarge = false
    let firstDigit = index
    while index < bytes.count, let digit = digit(at: index) {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      isTooLarge = isTooLarge || overflow || carry
      magnitude = sum
      index += 1
    }
    if index == firstDigit { throw Fault(index: index, expected: "a digit") }
    if index > firstDigit + 1, bytes[firstDigit] == UInt8(ascii: "0") {
      throw Fault(index: firstDigit + 1, expected: "no digit behind a leading zero")
    }
    return index < bytes.count
      ? try decimal(integerEnd: index) : integer(magnitude, isTooLarge: isTooLarge)
  }

  private func integer(_ magnitude: UInt64, isTooLarge: Bool) -> JSONValue {
    if isTooLarge { return asWritten }
    guard isNegative else {
      return Int64(exactly: magnitude).map(JSONValue.integer) ?? .unsigned(magnitude)
    }
    if magnitude == 0 { return .double(-0.0) }
    guard magnitude <= Int64.min.magnitude else { return asWritten }
    return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
  }

  /// The number, which goes on behind its integer part at `integerEnd`.
  private func decimal(integerEnd: Int) throws(Fault) -> JSONValue {
    var digits = SignificantDigits()
    for index in (isNegative ? 1 : 0)..<integerEnd { digits.append(digit(at: index) ?? 0) }
    var index = integerEnd
    if bytes[index] == UInt8(ascii: ".") {
      index += 1
      let firstDigit = index
      while index < bytes.count, let digit = digit(at: index) {
        digits.append(digit)
        index += 1
      }
      if index == firstDigit { throw Fault(index: index, expected: "a digit behind `.`") }
      digits.exponent -= index - firstDigit
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      digits.exponent += try exponent(from: &index)
    }
    guard index == bytes.count else {
      throw Fault(index: index, expected: "the end of the number")
    }
    return double(digits)
  }

  /// The exponent whose sign or first digit is at `index`; what is behind it is at `index` then.
  private func exponent(from index: inout Int) throws(Fault) -> Int {
    var isNegative = false
    if index < bytes.count, digit(at: index) == nil {
      isNegative = bytes[index] == UInt8(ascii: "-")
      // Whatever else it is, the missing digit is told below.
      if isNegative || bytes[index] == UInt8(ascii: "+") { index += 1 }
    }
    let firstDigit = index
    var exponent = 0
    while index < bytes.count, let digit = digit(at: index) {
      // Beyond this, no number of digits brings the value back between zero and infinity.
      if exponent < 1_000_000 { exponent = exponent * 10 + Int(digit) }
      index += 1
    }
    if index == firstDigit { throw Fault(index: index, expected: "a digit of the exponent") }
    return isNegative ? -exponent : exponent
  }

  private func double(_ digits: SignificantDigits) -> JSONValue {
    guard digits.count <= SignificantDigits.most else { return asWritten }
    let power = digits.exponent + digits.pendingZeroCount
    if digits.value == 0 { return .double(isNegative ? -0.0 : 0.0) }
    if let magnitude = Double.keeping(digits.value, places: -power) {
      return .double(isNegative ? -magnitude : magnitude)
    }
    // Both operands are exact, so one operation rounds correctly (Clinger 1990).
    if digits.count < 16, power >= 0, power < powersOfTen.count {
      let magnitude = Double(digits.value) * powersOfTen[power]
      return .double(isNegative ? -magnitude : magnitude)
    }
    let written = String(decoding: bytes, as: UTF8.self)
    guard let double = Double(written), double.isFinite, double != 0,
      digits.count < 16 || double.keepsDigits(Array("\(digits.value)".utf8))
    else { return .number(written) }
    return .double(double)
  }

  private var asWritten: JSONValue { .number(String(decoding: bytes, as: UTF8.self)) }

  private func digit(at index: Int) -> UInt8? {
    let digit = bytes[index] &- UInt8(ascii: "0")
    return digit < 10 ? digit : nil
  }
}

/// The digits of a number from the first that is not zero to the last that is not zero.
struct SignificantDigits {
  /// As many as tell a `Double` from all others. Of more than 15, those come back that come from a double.
  static let most = 17

  /// How many there are; counting goes on beyond `most`.
  var count = 0

  /// Their value, as long as there are no more than `most`.
  var value: UInt64 = 0

  /// Zeros behind them that another digit would make significant.
  var pendingZeroCount = 0

  /// The power of ten of the last digit appended.
  var exponent = 0

  mutating func append(_ digit: UInt8) {
    guard digit != 0 else {
      if count > 0 { pendingZeroCount += 1 }
      return
    }
    count += pendingZeroCount + 1
    if count <= Self.most {
      for _ in 0...pendingZeroCount { value *= 10 }
      value += UInt64(digit)
    }
    pendingZeroCount = 0
  }
}

/// The powers of ten that a `Double` holds exactly.
let powersOfTen: [Double] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
  1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]
