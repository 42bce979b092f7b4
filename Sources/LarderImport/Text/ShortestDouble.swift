extension Double {
  /// The fewest digits that are this number and no other, and of these the nearest to it, over ten to the
  /// power of `places`, which is at least 1. The description of the number has the same.
  ///
  /// All of it is exact: with `significand` and `shift` the number is `significand / 2^shift`, and digits are
  /// read as it where they are nearer to it than half of `1 / 2^shift`. Ten to the power of `places` is chosen
  /// to be 2^shift at least, so that there are such digits, and less than ten times that, so that at most
  /// one number of a digit less is among them.
  ///
  /// - Returns: Nil below 2^-10, from 2^52 on, for a power of two, whose neighbours are not equally far, and
  ///   for one in the middle between the last two digits.
  @inline(__always)
  var shortestDigits: (digits: UInt64, places: Int)? {
    let bits = magnitude.bitPattern
    let shift = 1075 &- Int(truncatingIfNeeded: bits &>> 52)
    let fraction = bits & (1 << 52 - 1)
    guard shift >= 1, shift <= 62, fraction != 0 else { return nil }
    var places = (shift &* 1_233) &>> 12 &+ 1  // The logarithm of 2^shift, rounded up.
    // Over 2^rest, the number is this product in units of the last place; 2^places cancels out.
    let five = powersOfFive[places]
    let rest = UInt64(truncatingIfNeeded: shift &- places)
    let product = (fraction | 1 << 52).multipliedFullWidth(by: five)
    let whole = product.high << (64 &- rest) | product.low &>> rest
    let part = product.low & (1 &<< rest &- 1)
    let tens = whole / 10
    // How far it is to the numbers of a digit less, over 2^rest; half of what is allowed is odd, so that
    // nothing is just as far.
    let below = (whole &- tens &* 10) &<< rest &+ part
    let above = 10 &<< rest &- below
    guard 2 &* below < five || 2 &* above < five else {
      if 2 &* part == 1 &<< rest { return nil }
      return (whole &+ (2 &* part > 1 &<< rest ? 1 : 0), places)
    }
    var digits = 2 &* below < five ? tens : tens &+ 1
    places &-= 1
    if places == 0 { return (digits &* 10, 1) }
    while places > 1, digits.isMultiple(of: 10) {
      digits /= 10
      places &-= 1
    }
    return (digits, places)
  }
}

private let powersOfFive: [UInt64] = [
  1, 5, 25, 125, 625, 3_125, 15_625, 78_125, 390_625, 1_953_125, 9_765_625, 48_828_125, 244_140_625,
  1_220_703_125, 6_103_515_625, 30_517_578_125, 152_587_890_625, 762_939_453_125, 3_814_697_265_625,
  19_073_486_328_125,
]
