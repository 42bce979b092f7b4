// Eight decimal digits at once, in a word whose lowest byte is the first of them.

/// Whether all bytes of a word are digits.
@inline(__always)
func hasOnlyDigits(_ word: UInt64) -> Bool {
  // 6 more than a digit has the same upper half. What is carried comes from a byte whose upper half is
  // none of a digit.
  let upper = repeated(0xF0)
  return word & upper == repeated(0x30) && (word &+ repeated(0x06)) & upper == repeated(0x30)
}

/// The number that a word of digits is.
@inline(__always)
func numberOfEightDigits(_ word: UInt64) -> UInt64 {
  // Two neighbours become one number of twice their width, three times.
  let pairs = ((word & repeated(0x0F)) &* 2_561) &>> 8 & 0x00FF_00FF_00FF_00FF
  let fours = (pairs &* 6_553_601) &>> 16 & 0x0000_FFFF_0000_FFFF
  return (fours &* 42_949_672_960_001) &>> 32
}

/// The digits of a number below 100,000,000, with zeros before it.
@inline(__always)
func eightDigits(_ number: UInt64) -> UInt64 {
  // One number becomes two neighbours of half its width, three times. The products are quotients:
  // 10486 / 2^20 of numbers below 10,000 by 100, 103 / 2^10 of those below 100 by 10.
  let upper = number / 10_000
  let fours = upper | (number &- upper &* 10_000) &<< 32
  let hundreds = (fours &* 10_486) &>> 20 & 0x0000_007F_0000_007F
  let pairs = hundreds | (fours &- hundreds &* 100) &<< 16
  let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
  return (tens | (pairs &- tens &* 10) &<< 8) | repeated(0x30)
}
