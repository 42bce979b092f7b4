/// Looking at several bytes of a text at once. Whoever asks has made sure that the bytes, or the
/// margin behind them, are there.
typealias TextBytes = UnsafePointer<UInt8>

extension UnsafePointer<UInt8> {
  @inline(__always)
  func word(at index: Int) -> UInt64 {
    UInt64(
      littleEndian: UnsafeRawPointer(self).loadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  @inline(__always)
  func halfWord(at index: Int) -> UInt32 {
    UInt32(
      littleEndian: UnsafeRawPointer(self).loadUnaligned(fromByteOffset: index, as: UInt32.self))
  }

  /// Whether `count` bytes, at least one, are those at `other`.
  @inline(__always)
  func hasSameBytes(as other: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    guard count > 8 else {
      return (word(at: 0) ^ other.word(at: 0)) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count) == 0
    }
    var index = 0
    while index &+ 8 < count {
      guard word(at: index) == other.word(at: index) else { return false }
      index &+= 8
    }
    return word(at: count &- 8) == other.word(at: count &- 8)
  }
}

@inline(__always)
func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

/// The place of the first byte in a word that does not stand for itself in a string, or that is not
/// ASCII; 8 if there is none.
///
/// The subtractions set the upper bit of a byte below 0x20, or of one that is a quote or backslash;
/// what they borrow spoils no byte before the first such.
@inline(__always)
func firstSpecial(_ word: UInt64) -> Int {
  let quotes = (word ^ repeated(0x22)) &- repeated(0x01)
  let backslashes = (word ^ repeated(0x5C)) &- repeated(0x01)
  let controls = word &- repeated(0x20)
  let special = (quotes | backslashes | controls | word) & repeated(0x80)
  return special.trailingZeroBitCount >> 3
}

extension UnsafePointer<UInt8> {
  /// How many bytes the scalar at `index`, which is not ASCII, has; 0 if it is not well-formed.
  ///
  /// Looks at four bytes, of which the last ones may be behind the text.
  ///
  /// As table 3-7 of the Unicode Standard: no overlong forms, no surrogates, nothing above U+10FFFF.
  @inline(__always)
  func scalarByteCount(at index: Int) -> Int {
    let bytes = halfWord(at: index)
    if bytes & 0x00C0_C0F0 == 0x0080_80E0 {
      let shape = bytes & 0x0000_200F
      return shape != 0 && shape != 0x0000_200D ? 3 : 0
    }
    if bytes & 0x0000_C0E0 == 0x0000_80C0 { return bytes & 0x0000_001E != 0 ? 2 : 0 }
    if bytes & 0xC0C0_C0F8 == 0x8080_80F0 {
      let isBelow = bytes & 0x0000_0004 == 0 || bytes & 0x0000_3003 == 0
      return isBelow && bytes & 0x0000_3007 != 0 ? 4 : 0
    }
    return 0
  }
}

extension UnsafePointer<UInt8> {
  /// How many line feeds are among `count` bytes.
  func lineFeedCount(_ count: Int) -> Int {
    self.count(count) { word in
      let others = word ^ repeated(0x0A)
      // The upper bit of each byte that is not zero now.
      return ~(((others & repeated(0x7F)) &+ repeated(0x7F)) | others) & repeated(0x80)
    }
  }

  /// How many UTF-8 continuation bytes are among `count` bytes.
  func continuationByteCount(_ count: Int) -> Int {
    self.count(count) { $0 & ~($0 &<< 1) & repeated(0x80) }
  }

  /// - Parameter marks: The upper bit of each byte that counts; the byte 0 does not.
  @inline(__always)
  private func count(_ count: Int, _ marks: (UInt64) -> UInt64) -> Int {
    var total = 0
    var index = 0
    while index &+ 8 <= count {
      // Each byte of the sum has room for 255.
      let end = Swift.min(count, index &+ 255 &* 8)
      var sums: UInt64 = 0
      while index &+ 8 <= end {
        sums &+= marks(word(at: index)) &>> 7
        index &+= 8
      }
      let pairs = (sums & 0x00FF_00FF_00FF_00FF) &+ (sums &>> 8 & 0x00FF_00FF_00FF_00FF)
      total &+= Int(truncatingIfNeeded: (pairs &* 0x0001_0001_0001_0001) &>> 48)
    }
    while index < count {
      total &+= marks(UInt64(self[index])).nonzeroBitCount
      index &+= 1
    }
    return total
  }
}
