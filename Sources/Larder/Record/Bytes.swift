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

  /// Whether no byte has its highest bit set; 8 bytes at a time.
  @inlinable @inline(__always)
  static func areASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    var place = 0
    while place &+ 8 <= bytes.count {
      let word = start.loadUnaligned(fromByteOffset: place, as: UInt64.self)
      if word & 0x8080_8080_8080_8080 != 0 { return false }
      place &+= 8
    }
    while place < bytes.count {
      if start.load(fromByteOffset: place, as: UInt8.self) >= 0x80 { return false }
      place &+= 1
    }
    return true
  }

  @inlinable @inline(__always)
  static func equal(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    left.count == right.count && compare(left, right) == 0
  }
}
