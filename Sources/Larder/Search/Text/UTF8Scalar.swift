/// One scalar of UTF-8.
enum UTF8Scalar {
  /// The scalar that some bytes begin with, and how many bytes it takes; nil, and one byte, where they are
  /// not UTF-8.
  @inline(__always)
  static func read(
    _ bytes: UnsafeRawPointer, _ left: Int
  ) -> (scalar: UInt32?, count: Int) {
    func byte(_ place: Int) -> UInt32 {
      UInt32(bytes.load(fromByteOffset: place, as: UInt8.self))
    }
    /// What a byte behind the first adds; more than six bits where it is none.
    func part(_ place: Int) -> UInt32 { byte(place) ^ 0x80 }
    let first = byte(0)
    if first < 0x80 { return (first, 1) }
    if first < 0xE0 {
      guard first >= 0xC2, left >= 2, part(1) < 0x40 else { return (nil, 1) }
      return ((first & 0x1F) << 6 | part(1), 2)
    }
    if first < 0xF0 {
      guard left >= 3, part(1) | part(2) < 0x40 else { return (nil, 1) }
      let scalar = (first & 0xF) << 12 | part(1) << 6 | part(2)
      return scalar >= 0x800 && scalar & 0xF800 != 0xD800 ? (scalar, 3) : (nil, 1)
    }
    guard first <= 0xF4, left >= 4, part(1) | part(2) | part(3) < 0x40 else { return (nil, 1) }
    let scalar = (first & 7) << 18 | part(1) << 12 | part(2) << 6 | part(3)
    return 0x10000...0x10FFFF ~= scalar ? (scalar, 4) : (nil, 1)
  }

  @inline(__always)
  static func byteCount(_ scalar: UInt32) -> Int {
    scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4
  }

  @inline(__always)
  static func write(_ scalar: UInt32, to bytes: UnsafeMutablePointer<UInt8>) {
    func part(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(truncatingIfNeeded: scalar >> shift & 0x3F) }
    func first(_ mark: UInt8, _ shift: UInt32) -> UInt8 {
      mark | UInt8(truncatingIfNeeded: scalar >> shift)
    }
    switch byteCount(scalar) {
    case 1: bytes[0] = first(0, 0)
    case 2: (bytes[0], bytes[1]) = (first(0xC0, 6), part(0))
    case 3: (bytes[0], bytes[1], bytes[2]) = (first(0xE0, 12), part(6), part(0))
    default:
      (bytes[0], bytes[1], bytes[2], bytes[3]) = (first(0xF0, 18), part(12), part(6), part(0))
    }
  }
}
