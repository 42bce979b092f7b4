/// Strings of up to 15 ASCII bytes, put together as Swift keeps them: the bytes in place, and behind
/// them a mark and their count. It takes a fifth of what `String(decoding:as:)` does.
///
/// On Apple's platforms with 64 bits the layout is part of Swift's binary interface. Everywhere it is
/// compared once with the strings that Swift makes; where it is another, none are made here.
@usableFromInline enum SmallText {
  @usableFromInline static let maximumByteCount = 15

  /// The highest byte of an empty string, in its place; 0 where strings are kept otherwise.
  @usableFromInline static let mark: UInt64 = agrees ? knownMark : 0

  private static let knownMark: UInt64 = 0xE0 << 56

  /// The string of these bytes, not more than 15; nil where they are not all ASCII, or where it has
  /// to be made otherwise.
  @inlinable @inline(__always) static func string(_ bytes: UnsafeRawBufferPointer) -> String? {
    let mark = mark
    let (low, high) = words(bytes)
    guard mark != 0, (low | high) & 0x8080_8080_8080_8080 == 0 else { return nil }
    return unsafeBitCast(
      Words(low: low, high: high | mark | UInt64(truncatingIfNeeded: bytes.count) &<< 56),
      to: String.self)
  }

  @usableFromInline struct Words: Equatable {
    @usableFromInline let low: UInt64
    @usableFromInline let high: UInt64

    @inlinable @inline(__always) init(low: UInt64, high: UInt64) {
      self.low = low
      self.high = high
    }
  }

  /// Up to 15 bytes as two words, the rest of which is zero; the last bytes are read twice.
  @inlinable @inline(__always)
  static func words(_ bytes: UnsafeRawBufferPointer) -> (low: UInt64, high: UInt64) {
    let count = bytes.count
    guard count > 0, let start = bytes.baseAddress else { return (0, 0) }
    if count >= 8 {
      let low = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self))
      let last = UInt64(
        littleEndian: start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
      // Swift's own shift: by 64 where there are 8 bytes.
      return (low, last >> UInt64(truncatingIfNeeded: 8 &* (16 &- count)))
    }
    if count >= 4 {
      let first = UInt64(UInt32(littleEndian: start.loadUnaligned(as: UInt32.self)))
      let last = UInt64(
        UInt32(littleEndian: start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)))
      return (first | last &<< UInt64(truncatingIfNeeded: 8 &* (count &- 4)), 0)
    }
    let first = UInt64(start.load(as: UInt8.self))
    let middle = UInt64(start.load(fromByteOffset: count &>> 1, as: UInt8.self))
    let last = UInt64(start.load(fromByteOffset: count &- 1, as: UInt8.self))
    return (
      first | middle &<< UInt64(truncatingIfNeeded: 8 &* (count &>> 1))
        | last &<< UInt64(truncatingIfNeeded: 8 &* (count &- 1)), 0
    )
  }

  /// Whether strings of every size are kept as they are put together here.
  private static var agrees: Bool {
    guard MemoryLayout<String>.size == MemoryLayout<Words>.size,
      MemoryLayout<String>.stride == MemoryLayout<Words>.stride
    else { return false }
    let bytes: [UInt8] = (1...UInt8(maximumByteCount)).map { 0x7F - $0 * 8 }
    return (0...maximumByteCount).allSatisfy { count in
      bytes[..<count].withUnsafeBytes { bytes in
        let (low, high) = words(bytes)
        let ours = Words(low: low, high: high | knownMark | UInt64(count) << 56)
        let string = String(decoding: bytes, as: UTF8.self)
        return withUnsafeBytes(of: string) { bits in
          bits.loadUnaligned(as: Words.self) == ours
        }
      }
    }
  }
}
