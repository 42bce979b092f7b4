extension JSONReader {
  /// Moves over the escape whose backslash is the next byte, and gives what it stands for.
  mutating func escapedScalar() throws(ImportError) -> Unicode.Scalar {
    guard try text.has(2) else {
      text.next = text.end
      throw text.unexpected("an escape behind `\\`")
    }
    let scalar: Unicode.Scalar
    switch text.buffer[text.next + 1] {
    case UInt8(ascii: "\""): scalar = "\""
    case UInt8(ascii: "\\"): scalar = "\\"
    case UInt8(ascii: "/"): scalar = "/"
    case UInt8(ascii: "b"): scalar = "\u{8}"
    case UInt8(ascii: "f"): scalar = "\u{C}"
    case UInt8(ascii: "n"): scalar = "\n"
    case UInt8(ascii: "r"): scalar = "\r"
    case UInt8(ascii: "t"): scalar = "\t"
    case UInt8(ascii: "u"): return try numericEscape()
    default:
      text.next += 1
      throw text.unexpected("one of `\"\\/bfnrtu` behind `\\`")
    }
    text.next += 2
    return scalar
  }

  /// The scalar of `\uXXXX`, or of two of them that are a pair of surrogates.
  private mutating func numericEscape() throws(ImportError) -> Unicode.Scalar {
    _ = try text.has(6)
    guard let unit = unit(at: text.next) else {
      // Point at the first byte that is no digit.
      text.next += 2
      while text.next < text.end, hexadecimalDigit(text.buffer[text.next]) != nil {
        text.next += 1
      }
      throw text.unexpected("four hexadecimal digits behind `\\u`")
    }
    if let scalar = Unicode.Scalar(unit) {
      text.next += 6
      return scalar
    }
    if unit < 0xDC00, try text.has(12), let low = self.unit(at: text.next + 6),
      0xDC00...0xDFFF ~= low,
      let scalar = Unicode.Scalar(0x1_0000 + (UInt32(unit) - 0xD800) << 10 + UInt32(low) - 0xDC00)
    {
      text.next += 12
      return scalar
    }
    throw text.error(
      .encoding, found: "`\\u\(String(unit, radix: 16))`, half of a pair of surrogates",
      expected: "both halves, or the character itself")
  }

  /// The sixteen bits of the `\uXXXX` at `index`, if one is there.
  private func unit(at index: Int) -> UInt16? {
    guard index + 6 <= text.end, text.buffer[index] == UInt8(ascii: "\\"),
      text.buffer[index + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt16 = 0
    for position in index + 2..<index + 6 {
      guard let digit = hexadecimalDigit(text.buffer[position]) else { return nil }
      unit = unit << 4 | digit
    }
    return unit
  }

  /// Adds a scalar to the string that is being gathered.
  mutating func append(_ scalar: Unicode.Scalar) {
    gathered += scalar.utf8
  }
}

private func hexadecimalDigit(_ byte: UInt8) -> UInt16? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
  case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
  case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
  default: nil
  }
}
