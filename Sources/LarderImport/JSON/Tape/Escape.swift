/// The escape whose backslash is at an index.
struct Escape {
  enum Outcome {
    case scalar(UInt32)
    case cut
    case fault(JSONFault)
  }

  private(set) var outcome = Outcome.cut
  /// Behind the escape, or what is wrong.
  private(set) var index: Int

  init(_ text: TextBytes, _ backslash: Int, _ end: Int, _ isFinal: Bool) {
    index = backslash
    guard backslash + 2 <= end else {
      if isFinal { fail(.unexpected(.escape), at: end) }
      return
    }
    let scalar: UInt32
    switch text[backslash + 1] {
    case UInt8(ascii: "\""): scalar = 0x22
    case UInt8(ascii: "\\"): scalar = 0x5C
    case UInt8(ascii: "/"): scalar = 0x2F
    case UInt8(ascii: "b"): scalar = 0x08
    case UInt8(ascii: "f"): scalar = 0x0C
    case UInt8(ascii: "n"): scalar = 0x0A
    case UInt8(ascii: "r"): scalar = 0x0D
    case UInt8(ascii: "t"): scalar = 0x09
    case UInt8(ascii: "u"):
      numeric(text, end, isFinal)
      return
    default:
      fail(.unexpected(.escapeLetter), at: backslash + 1)
      return
    }
    (outcome, index) = (.scalar(scalar), backslash + 2)
  }

  /// `\uXXXX`, or two of them that are a pair of surrogates.
  private mutating func numeric(_ text: TextBytes, _ end: Int, _ isFinal: Bool) {
    if index + 6 > end, !isFinal { return }
    guard let unit = Self.unit(text, index, end) else {
      // Point at the first byte that is no digit.
      var place = index + 2
      while place < end, hexadecimalDigit(text[place]) != nil { place += 1 }
      return fail(.unexpected(.fourDigits), at: place)
    }
    guard 0xD800...0xDFFF ~= unit else {
      (outcome, index) = (.scalar(unit), index + 6)
      return
    }
    if unit < 0xDC00 {
      if index + 12 > end, !isFinal { return }
      if let low = Self.unit(text, index + 6, end), 0xDC00...0xDFFF ~= low {
        outcome = .scalar(0x1_0000 + (unit - 0xD800) << 10 + low - 0xDC00)
        index += 12
        return
      }
    }
    fail(.loneSurrogate(unit), at: index)
  }

  private mutating func fail(_ fault: JSONFault, at index: Int) {
    (outcome, self.index) = (.fault(fault), index)
  }

  /// The sixteen bits of the `\uXXXX` at `index`, if one is there.
  private static func unit(_ text: TextBytes, _ index: Int, _ end: Int) -> UInt32? {
    guard index + 6 <= end, text[index] == UInt8(ascii: "\\"),
      text[index + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt32 = 0
    for place in index + 2..<index + 6 {
      guard let digit = hexadecimalDigit(text[place]) else { return nil }
      unit = unit << 4 | digit
    }
    return unit
  }
}

private func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
  case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
  case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
  default: nil
  }
}
