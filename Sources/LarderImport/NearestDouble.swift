extension Double {
  /// The double that is nearest to `digits` over ten to the power of `places`: what is written with a point.
  ///
  /// - Returns: Nil where it takes more than this to find it, or to say whether it has all the digits: for more than
  ///   17 of them, and, where there are more than 53 bits, for a zero at the end.
  @inline(__always)
  static func nearest(_ digits: UInt64, places: Int) -> Double? {
    guard places > 0, places < powersOfTen.count else { return nil }
    let scale = powersOfTen[places]
    // Both operands are exact, so one operation rounds correctly (Clinger 1990).
    if digits <= 1 << 53 { return Double(Int64(truncatingIfNeeded: digits)) / scale }
    guard digits < 100_000_000_000_000_000, digits % 10 != 0, places <= 17 else { return nil }
    // The quotient has 62 bits at least. What is left over becomes its last bit, far behind those of a double, so
    // that the conversion rounds once, with all there is to know.
    let divisor = UInt64(scale)
    let (shift, divisorShift) = (digits.leadingZeroBitCount, divisor.leadingZeroBitCount)
    let (quotient, rest) = (divisor << divisorShift).dividingFullWidth((digits << (shift - 1), 0))
    let exponent = divisorShift - shift - 63
    return Double(quotient | (rest == 0 ? 0 : 1))
      * Double(bitPattern: UInt64(1023 + exponent) << 52)
  }
}
