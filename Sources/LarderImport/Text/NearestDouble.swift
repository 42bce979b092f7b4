extension Double {
  /// The double that is ``nearest(_:places:)`` where it has all the digits: written with as many, it is the same.
  ///
  /// - Returns: Nil also where it takes more than this to say so.
  @inline(__always)
  static func keeping(_ digits: UInt64, places: Int) -> Double? {
    guard let number = nearest(digits, places: places) else { return nil }
    // Of 15 digits every double keeps all.
    guard digits >= 1_000_000_000_000_000 else { return number }
    return number.keeps(digits, places: places) ? number : nil
  }

  /// Whether this positive number is nearer to `digits` over ten to the power of `places`, which are 16 or 17 of
  /// them, than half of the last one; false also below 2^-10 and from 2^52 on.
  private func keeps(_ digits: UInt64, places: Int) -> Bool {
    let shift = 1075 &- Int(truncatingIfNeeded: bitPattern &>> 52)
    guard shift >= 1, shift <= 62, places < powersOfTen.count, places <= 19 else { return false }
    // The number is `significand / 2^shift`; both sides times that and the power of ten are integers.
    let significand = bitPattern & (1 << 52 - 1) | 1 << 52
    let own = UInt128(significand) &* UInt128(UInt64(powersOfTen[places]))
    let written = UInt128(digits) &<< UInt128(shift)
    return 2 &* (own > written ? own &- written : written &- own) < 1 &<< UInt128(shift)
  }

  /// The double that is nearest to `digits` over ten to the power of `places`: what is written with a point.
  ///
  /// - Returns: Nil where it takes more than this to find it: for more than 17 digits, and, where there are more than
  ///   53 bits, for a zero at the end.
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
