/// Numbers as they nearly always are: up to 18 digits, no exponent, no zero before others. They are what
/// ``NumberText`` says of them, which reads all others, too.
enum PlainNumber {
  /// The integer; nil for what is none, or -0.
  @inline(__always)
  static func integer(_ text: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard let number = Digits(text), number.placeCount < 0 else { return nil }
    if number.magnitude == 0, number.isNegative { return nil }
    let magnitude = Int64(truncatingIfNeeded: number.magnitude)
    return number.isNegative ? 0 &- magnitude : magnitude
  }

  /// The double that is equal to what is written, or the nearest one, which has all its digits; nil where it takes
  /// more than a few operations to find it.
  @inline(__always)
  static func double(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard let number = Digits(text) else { return nil }
    guard number.placeCount < 0 else {
      return Double.keeping(number.magnitude, places: number.placeCount)
        .map { number.isNegative ? -$0 : $0 }
    }
    guard number.magnitude <= 1 << 53 else { return nil }
    let whole = Double(Int64(truncatingIfNeeded: number.magnitude))
    return number.isNegative ? -whole : whole
  }

  /// A number without an exponent.
  private struct Digits {
    private(set) var magnitude: UInt64 = 0
    let isNegative: Bool
    /// Digits behind the point; -1 where there is none.
    private(set) var placeCount = -1

    @inline(__always)
    init?(_ text: UnsafeBufferPointer<UInt8>) {
      guard let bytes = text.baseAddress, text.count > 0, text.count <= 20 else { return nil }
      isNegative = bytes[0] == UInt8(ascii: "-")
      let first = isNegative ? 1 : 0
      var index = first
      takeEights(bytes, &index, text.count)
      while index < text.count {
        let digit = bytes[index] &- 0x30
        guard digit < 10 else { break }
        magnitude = magnitude &* 10 &+ UInt64(digit)
        index &+= 1
      }
      let integerCount = index &- first
      guard integerCount > 0, integerCount == 1 || bytes[first] != 0x30 else { return nil }
      var digitCount = integerCount
      if index < text.count {
        guard bytes[index] == UInt8(ascii: ".") else { return nil }
        index &+= 1
        takeEights(bytes, &index, text.count)
        while index < text.count {
          let digit = bytes[index] &- 0x30
          guard digit < 10 else { return nil }
          magnitude = magnitude &* 10 &+ UInt64(digit)
          index &+= 1
        }
        placeCount = index &- first &- integerCount &- 1
        digitCount &+= placeCount
      }
      guard digitCount <= 18 else { return nil }
    }

    /// Takes digits from `index` on in, as long as there are eight of them.
    @inline(__always)
    private mutating func takeEights(_ bytes: TextBytes, _ index: inout Int, _ end: Int) {
      while index &+ 8 <= end {
        let word = bytes.word(at: index)
        guard hasOnlyDigits(word) else { return }
        magnitude = magnitude &* 100_000_000 &+ numberOfEightDigits(word)
        index &+= 8
      }
    }
  }
}
