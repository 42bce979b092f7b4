internal import Larder

/// What scanning a number found.
enum NumberScan {
  case number(JSONTape.Kind, payload: UInt64, behind: Int)
  case cut
  case fault(JSONFault, at: Int)
}

extension TapeScanner {
  /// Scans the number whose first byte, a digit or `-`, is at `start`.
  ///
  /// Numbers of up to 18 digits without an exponent are read here; ``NumberText`` reads all others,
  /// and is what says whether a number is one.
  @inline(__always)
  func number(_ text: TextBytes, _ start: Int, _ end: Int, isFinal: Bool) -> NumberScan {
    let isNegative = text[start] == UInt8(ascii: "-")
    let first = isNegative ? start &+ 1 : start
    let most = min(end, first &+ 19)
    var index = first
    var magnitude: UInt64 = 0
    while index < most, let digit = digit(text[index]) {
      magnitude = magnitude &* 10 &+ digit
      index &+= 1
    }
    let integerEnd = index
    if index > first, index < most, text[index] == UInt8(ascii: ".") {
      index &+= 1
      while index < most, let digit = digit(text[index]) {
        magnitude = magnitude &* 10 &+ digit
        index &+= 1
      }
    }
    // Whatever else it may be, fewer than 19 bytes are at most 18 digits.
    guard index < most, index > first, !isNumberByte(text[index]),
      text[first] != UInt8(ascii: "0") || integerEnd == first &+ 1,
      index &- start <= limits.numberByteCount
    else { return irregularNumber(text, start, end, isFinal) }
    if index == integerEnd {
      if magnitude == 0, isNegative {
        return .number(.double, payload: (-0.0).bitPattern, behind: index)
      }
      let payload = isNegative ? 0 &- magnitude : magnitude
      return .number(.integer, payload: payload, behind: index)
    }
    guard let double = Double.keeping(magnitude, places: index &- integerEnd &- 1) else {
      return irregularNumber(text, start, end, isFinal)
    }
    return .number(
      .double, payload: (isNegative ? -double : double).bitPattern, behind: index)
  }

  @inline(never)
  private func irregularNumber(
    _ text: TextBytes, _ start: Int, _ end: Int, _ isFinal: Bool
  ) -> NumberScan {
    var index = start
    while index < end, isNumberByte(text[index]) { index += 1 }
    guard index - start <= limits.numberByteCount else {
      return .fault(.numberTooLong, at: start)
    }
    if index == end, !isFinal { return .cut }
    let outcome = NumberText.read(
      UnsafeBufferPointer(start: text + start, count: index - start))
    switch outcome {
    case .failure(let fault):
      return .fault(.unexpected(.inNumber(fault.expected)), at: start + fault.index)
    case .success(.integer(let integer)):
      return .number(.integer, payload: UInt64(bitPattern: integer), behind: index)
    case .success(.unsigned(let integer)):
      return .number(.unsigned, payload: integer, behind: index)
    case .success(.double(let double)):
      return .number(.double, payload: double.bitPattern, behind: index)
    case .success:
      let place = UInt64(truncatingIfNeeded: start) << 32
      return .number(
        .number, payload: place | UInt64(truncatingIfNeeded: index - start), behind: index)
    }
  }
}

@inline(__always)
private func digit(_ byte: UInt8) -> UInt64? {
  let digit = byte &- UInt8(ascii: "0")
  return digit < 10 ? UInt64(digit) : nil
}

@inline(__always)
func isNumberByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
    UInt8(ascii: "."), UInt8(ascii: "E"), UInt8(ascii: "e"):
    true
  default: false
  }
}
