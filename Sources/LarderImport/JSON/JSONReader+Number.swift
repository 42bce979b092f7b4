extension JSONReader {
  /// The number whose first byte, a digit or `-`, is the next.
  mutating func number() throws(ImportError) -> JSONValue {
    let count = try numberByteCount()
    let first = text.next
    let end = first + count
    let isNegative = text.buffer[first] == UInt8(ascii: "-")

    var index = isNegative ? first + 1 : first
    var magnitude: UInt64 = 0
    var isTooLarge = false
    let firstDigit = index
    while index < end, let digit = digit(at: index) {
      let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
      isTooLarge = isTooLarge || overflow || carry
      magnitude = sum
      index += 1
    }
    if index == firstDigit { throw unexpected(at: index, "a digit") }
    if index > firstDigit + 1, text.buffer[firstDigit] == UInt8(ascii: "0") {
      throw unexpected(at: firstDigit + 1, "no digit behind a leading zero")
    }
    let value =
      try index < end
      ? decimal(first..<end, integerEnd: index)
      : integer(first..<end, magnitude, isNegative: isNegative, isTooLarge: isTooLarge)
    text.next = end
    return value
  }

  /// How many bytes from `next` on can belong to a number; they are all in sight then.
  private mutating func numberByteCount() throws(ImportError) -> Int {
    var count = 0
    while true {
      var index = text.next + count
      while index < text.end, isNumberByte(text.buffer[index]) { index += 1 }
      count = index - text.next
      guard count <= limits.numberByteCount else {
        throw text.error(
          .numberByteCount, limits.numberByteCount, of: "bytes in a number", at: position)
      }
      // Sliding moves `next`, so the end is told by the count.
      guard index == text.end, try text.more() else { return count }
    }
  }

  private func integer(
    _ range: Range<Int>, _ magnitude: UInt64, isNegative: Bool, isTooLarge: Bool
  ) -> JSONValue {
    if isTooLarge { return asWritten(range) }
    guard isNegative else {
      return Int64(exactly: magnitude).map(JSONValue.integer) ?? .unsigned(magnitude)
    }
    if magnitude == 0 { return .double(-0.0) }
    guard magnitude <= Int64.min.magnitude else { return asWritten(range) }
    return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
  }

  /// The number in `range`, which goes on behind its integer part at `integerEnd`.
  private mutating func decimal(
    _ range: Range<Int>, integerEnd: Int
  ) throws(ImportError) -> JSONValue {
    let isNegative = text.buffer[range.lowerBound] == UInt8(ascii: "-")
    var digits = SignificantDigits()
    for index in (isNegative ? range.lowerBound + 1 : range.lowerBound)..<integerEnd {
      digits.append(digit(at: index) ?? 0)
    }
    var index = integerEnd
    if text.buffer[index] == UInt8(ascii: ".") {
      index += 1
      let firstDigit = index
      while index < range.upperBound, let digit = digit(at: index) {
        digits.append(digit)
        index += 1
      }
      if index == firstDigit { throw unexpected(at: index, "a digit behind `.`") }
      digits.exponent -= index - firstDigit
    }
    if index < range.upperBound, text.buffer[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      digits.exponent += try exponent(from: &index, to: range.upperBound)
    }
    guard index == range.upperBound else { throw unexpected(at: index, "the end of the number") }
    return double(range, digits, isNegative: isNegative)
  }

  /// The exponent whose sign or first digit is at `index`; what is behind it is at `index` then.
  private mutating func exponent(
    from index: inout Int, to end: Int
  ) throws(ImportError) -> Int {
    var isNegative = false
    if index < end, digit(at: index) == nil {
      isNegative = text.buffer[index] == UInt8(ascii: "-")
      // Whatever else it is, the missing digit is told below.
      if isNegative || text.buffer[index] == UInt8(ascii: "+") { index += 1 }
    }
    let firstDigit = index
    var exponent = 0
    while index < end, let digit = digit(at: index) {
      // Beyond this, no number of digits brings the value back between zero and infinity.
      if exponent < 1_000_000 { exponent = exponent * 10 + Int(digit) }
      index += 1
    }
    if index == firstDigit { throw unexpected(at: index, "a digit of the exponent") }
    return isNegative ? -exponent : exponent
  }

  private func double(
    _ range: Range<Int>, _ digits: SignificantDigits, isNegative: Bool
  ) -> JSONValue {
    guard digits.count <= SignificantDigits.most else { return asWritten(range) }
    let power = digits.exponent + digits.pendingZeroCount
    if digits.value == 0 { return .double(isNegative ? -0.0 : 0.0) }
    // Both operands are exact, so one operation rounds correctly (Clinger 1990).
    if digits.value <= 1 << 53, power.magnitude < powersOfTen.count {
      let scale = powersOfTen[Int(power.magnitude)]
      let magnitude = power < 0 ? Double(digits.value) / scale : Double(digits.value) * scale
      return .double(isNegative ? -magnitude : magnitude)
    }
    let written = String(decoding: text.buffer[range], as: UTF8.self)
    guard let double = Double(written), double.isFinite, double != 0 else {
      return .number(written)
    }
    return .double(double)
  }

  private func asWritten(_ range: Range<Int>) -> JSONValue {
    .number(String(decoding: text.buffer[range], as: UTF8.self))
  }

  private func digit(at index: Int) -> UInt8? {
    let digit = text.buffer[index] &- UInt8(ascii: "0")
    return digit < 10 ? digit : nil
  }

  private mutating func unexpected(at index: Int, _ expected: String) -> ImportError {
    text.next = index
    return text.unexpected(expected)
  }
}

/// The digits of a number from the first that is not zero to the last that is not zero.
private struct SignificantDigits {
  /// As many as always come back from a `Double`.
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
private let powersOfTen: [Double] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
  1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]

@inline(__always)
private func isNumberByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
    UInt8(ascii: "."), UInt8(ascii: "E"), UInt8(ascii: "e"):
    true
  default: false
  }
}
