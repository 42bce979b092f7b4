/// The sum of doubles, exact until it is asked for: the same whatever the order, and again what it
/// was when a number is taken away.
///
/// A fixed-point number of 2,200 bits, from the smallest double's to what 2^63 of the largest need,
/// in pieces of 32 bits whose carries wait (Radford M. Neal, "Fast exact summation using small and
/// large superaccumulators", 2015).
struct ExactSum: Sendable {
  /// The piece at `place` counts 2^(32 place - 1074). None before the first number.
  private var pieces: [Int64] = []
  /// Numbers since the carries were settled; each adds less than 2^33 to a piece.
  private var unsettled = 0
  private var nanCount = 0
  private var infiniteCount = 0
  private var negativeInfiniteCount = 0

  private static let pieceCount = 69
  private static let lowestExponent = -1074

  mutating func add(_ number: Double) { change(number, by: 1) }

  /// Takes away a number that was added.
  mutating func remove(_ number: Double) { change(number, by: -1) }

  /// Adds all numbers of another.
  mutating func add(contentsOf other: ExactSum) {
    nanCount += other.nanCount
    infiniteCount += other.infiniteCount
    negativeInfiniteCount += other.negativeInfiniteCount
    if other.pieces.isEmpty { return }
    guard !pieces.isEmpty else {
      (pieces, unsettled) = (other.pieces, other.unsettled)
      return
    }
    var added = other.pieces
    Self.settle(&pieces)
    Self.settle(&added)
    for place in pieces.indices { pieces[place] += added[place] }
    // Settled pieces are less than one number can add.
    unsettled = 2
  }

  private mutating func change(_ number: Double, by sign: Int) {
    guard number.isFinite else {
      if number.isNaN {
        nanCount += sign
      } else if number < 0 {
        negativeInfiniteCount += sign
      } else {
        infiniteCount += sign
      }
      return
    }
    if number == 0 { return }
    if pieces.isEmpty { pieces = [Int64](repeating: 0, count: Self.pieceCount) }
    if unsettled == 1 << 29 {
      Self.settle(&pieces)
      unsettled = 0
    }
    unsettled += 1
    let exponent = Int(number.exponentBitPattern)
    let hidden: UInt64 = exponent == 0 ? 0 : 1 << 52
    let digits = number.significandBitPattern | hidden
    let bit = max(exponent, 1) - 1
    let (place, shift) = (bit >> 5, UInt64(bit & 31))
    let low = (digits & 0xFFFF_FFFF) << shift
    let high = (digits >> 32) << shift
    let isNegative = (number < 0) != (sign < 0)
    let parts = (
      Int64(low & 0xFFFF_FFFF), Int64(low >> 32) + Int64(high & 0xFFFF_FFFF), Int64(high >> 32)
    )
    pieces[place] += isNegative ? -parts.0 : parts.0
    pieces[place + 1] += isNegative ? -parts.1 : parts.1
    pieces[place + 2] += isNegative ? -parts.2 : parts.2
  }

  /// Moves what is more than 32 bits up; only the last piece keeps a sign.
  private static func settle(_ pieces: inout [Int64]) {
    for place in 0..<pieces.count - 1 {
      pieces[place + 1] += pieces[place] >> 32
      pieces[place] &= 0xFFFF_FFFF
    }
  }

  /// The sum, rounded once, to the nearest double, and to the even one of two. NaN where one was
  /// added, or infinities of both signs; infinite where it is larger than any double.
  var value: Double { value(dividedBy: 0) }

  /// The sum divided by the number of what was added: rounded once before that and once by it. Finite
  /// where all of it is, also where the sum is larger than any double.
  func average(of count: Int) -> Double {
    let sum = value
    guard sum.isInfinite, infiniteCount == 0, negativeInfiniteCount == 0 else {
      return sum / Double(count)
    }
    return value(dividedBy: 64) / Double(count) * 0x1p64
  }

  /// - Parameter exponent: Of two: the sum is at least so large, or it is 0.
  private func value(dividedBy exponent: Int) -> Double {
    if nanCount > 0 || infiniteCount > 0 && negativeInfiniteCount > 0 { return .nan }
    if infiniteCount > 0 { return .infinity }
    if negativeInfiniteCount > 0 { return -.infinity }
    var pieces = pieces
    if pieces.isEmpty { return 0 }
    Self.settle(&pieces)
    let isNegative = pieces[pieces.count - 1] < 0
    if isNegative {
      for place in pieces.indices { pieces[place] = -pieces[place] }
      Self.settle(&pieces)
    }
    let size = Self.rounded(pieces, exponent)
    return isNegative ? -size : size
  }

  /// - Parameter pieces: Settled, and of no negative number.
  private static func rounded(_ pieces: [Int64], _ exponent: Int) -> Double {
    guard let last = pieces.lastIndex(where: { $0 != 0 }) else { return 0 }
    let top = 32 * last + 63 - UInt64(bitPattern: pieces[last]).leadingZeroBitCount
    // The bits that a double has, and those below them.
    let lowest = max(0, top - 52)
    var digits: UInt64 = 0
    for bit in stride(from: top, through: lowest, by: -1) {
      digits = digits << 1 | Self.bit(bit, pieces)
    }
    if lowest > 0, Self.bit(lowest - 1, pieces) == 1 {
      let isOdd = digits & 1 == 1
      let isAboveHalf = (0..<lowest - 1).contains { Self.bit($0, pieces) == 1 }
      if isOdd || isAboveHalf { digits += 1 }
    }
    return Double(
      sign: .plus, exponent: lowest + lowestExponent - exponent, significand: Double(digits))
  }

  private static func bit(_ bit: Int, _ pieces: [Int64]) -> UInt64 {
    // The last piece may have more than 32 bits.
    let place = min(bit >> 5, pieces.count - 1)
    return UInt64(bitPattern: pieces[place]) >> UInt64(bit - 32 * place) & 1
  }
}
