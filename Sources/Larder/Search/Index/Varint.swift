extension [UInt8] {
  mutating func append(bigEndian number: UInt32) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Seven bits in each byte, the lowest first; the highest bit says that more follow (LEB128).
  @inline(__always) mutating func append(varint value: UInt64) {
    var value = value
    while value >= 0x80 {
      append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    append(UInt8(truncatingIfNeeded: value))
  }

  @inline(__always) mutating func append(varint value: UInt32) { append(varint: UInt64(value)) }

  @inline(__always) mutating func append(varint value: Int) { append(varint: UInt64(value)) }
}

/// Reads what `append(varint:)` has written, never past the end.
struct VarintReader {
  private(set) var at: UnsafePointer<UInt8>
  let end: UnsafePointer<UInt8>

  init(_ bytes: UnsafeRawBufferPointer) {
    // A place that is never read stands for no bytes.
    let start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    at = start.assumingMemoryBound(to: UInt8.self)
    end = at + bytes.count
  }

  @inline(__always) var isAtEnd: Bool { at >= end }

  var left: Int { end - at }

  @inline(__always) mutating func number() throws(SearchDamage) -> UInt32 {
    if at < end, at.pointee < 0x80 {
      defer { at += 1 }
      return UInt32(at.pointee)
    }
    guard let value = UInt32(exactly: try large()) else { throw SearchDamage("a number is large") }
    return value
  }

  mutating func large() throws(SearchDamage) -> UInt64 {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while at < end, shift < 63 {
      let byte = at.pointee
      at += 1
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw SearchDamage("a number has no end")
  }

  /// Goes past a number.
  ///
  /// - Returns: Its first byte.
  @inline(__always) mutating func skip() throws(SearchDamage) -> UInt8 {
    guard at < end else { throw SearchDamage("a record ends too early") }
    let first = at.pointee
    at += 1
    if first < 0x80 { return first }
    while at < end, at.pointee >= 0x80 { at += 1 }
    guard at < end else { throw SearchDamage("a number has no end") }
    at += 1
    return first
  }

  @inline(__always) mutating func count() throws(SearchDamage) -> Int { Int(try number()) }

  @inline(__always)
  mutating func bytes(_ count: Int) throws(SearchDamage) -> UnsafeRawBufferPointer {
    guard count <= left else { throw SearchDamage("a record ends too early") }
    defer { at += count }
    return UnsafeRawBufferPointer(start: at, count: count)
  }
}
