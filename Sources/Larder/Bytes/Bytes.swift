#if canImport(Glibc)
  public import Glibc
#elseif canImport(Darwin)
  public import Darwin
#endif

/// Comparisons of byte sequences, in the order that LMDB keeps its keys in.
@usableFromInline enum Bytes {
  /// Below zero, zero or above zero; a prefix comes before what it begins.
  @inlinable @inline(__always)
  static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let common = min(left.count, right.count)
    if common > 0, let a = left.baseAddress, let b = right.baseAddress {
      let difference = memcmp(a, b, common)
      if difference != 0 { return Int(difference) }
    }
    return left.count &- right.count
  }

  /// Whether no byte has its highest bit set; 8 bytes at a time, the last ones overlapping.
  @inlinable @inline(__always)
  static func areASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    guard count > 0, let start = bytes.baseAddress else { return true }
    if count >= 8 {
      var place = 0
      while place < count &- 8 {
        let word = start.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        if word & 0x8080_8080_8080_8080 != 0 { return false }
        place &+= 8
      }
      let last = start.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      return last & 0x8080_8080_8080_8080 == 0
    }
    if count >= 4 {
      let first = start.loadUnaligned(as: UInt32.self)
      let last = start.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      return (first | last) & 0x8080_8080 == 0
    }
    let first = start.load(as: UInt8.self)
    let middle = start.load(fromByteOffset: count >> 1, as: UInt8.self)
    let last = start.load(fromByteOffset: count &- 1, as: UInt8.self)
    return (first | middle | last) < 0x80
  }

  @inlinable @inline(__always)
  static func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.count == right.count && compare(left, right) == 0
  }

  /// Copies fewer than 32 bytes to where they do not overlap, the last ones of them twice: less
  /// than a call costs.
  @inlinable @inline(__always)
  static func copyFew(_ source: UnsafeRawPointer, to place: UnsafeMutableRawPointer, _ count: Int) {
    if count >= 8 {
      if count > 16 {
        copy(SIMD2<UInt64>.self, source, place, count)
      } else {
        copy(UInt64.self, source, place, count)
      }
    } else if count >= 4 {
      copy(UInt32.self, source, place, count)
    } else if count > 0 {
      let first = source.load(as: UInt8.self)
      let middle = source.load(fromByteOffset: count &>> 1, as: UInt8.self)
      let last = source.load(fromByteOffset: count &- 1, as: UInt8.self)
      place.storeBytes(of: first, as: UInt8.self)
      place.storeBytes(of: middle, toByteOffset: count &>> 1, as: UInt8.self)
      place.storeBytes(of: last, toByteOffset: count &- 1, as: UInt8.self)
    }
  }

  /// Copies the first and the last `Word` of at least one and at most two.
  @inlinable @inline(__always)
  static func copy<Word: BitwiseCopyable>(
    _: Word.Type, _ source: UnsafeRawPointer, _ place: UnsafeMutableRawPointer, _ count: Int
  ) {
    let end = count &- MemoryLayout<Word>.size
    let first = source.loadUnaligned(as: Word.self)
    let last = source.loadUnaligned(fromByteOffset: end, as: Word.self)
    place.storeBytes(of: first, as: Word.self)
    place.storeBytes(of: last, toByteOffset: end, as: Word.self)
  }

  static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.withUnsafeBytes { left in right.withUnsafeBytes { compare(left, $0) } }
  }
}
