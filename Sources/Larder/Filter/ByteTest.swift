/// What bytes can tell about a value.
enum ByteTest: UInt8 {
  /// Nothing.
  case ask
  case isNil
  case bool, integer, double, date
  case textEqual, textOrder, textPrefix, textSuffix, textContains
  /// Whether a text is an element.
  case element

  /// The test for the scalars in a range.
  init?(_ scalar: IndexScalar) {
    switch scalar {
    case .bool: self = .bool
    case .integer: self = .integer
    case .double: self = .double
    case .date: self = .date
    default: return nil
    }
  }

  /// The key of a value, whose place in a ``ScalarRange`` answers the test; nil where it is of
  /// another kind or width, or cut off.
  ///
  /// - Parameters:
  ///   - left: Bytes from `at` to where the value has to have ended; one or more.
  ///   - isPadded: Whether 8 bytes more can be read.
  @inline(__always)
  func key(_ at: UnsafeRawPointer, left: Int, isPadded: Bool = false) -> Int64? {
    let tag = at.load(as: UInt8.self)
    switch self {
    case .bool: return tag & 0xFE == 0xC2 ? Int64(tag & 1) : nil
    case .integer:
      if tag < 0x80 { return Int64(tag) }
      if tag >= 0xE0 { return Int64(Int8(bitPattern: tag)) }
      // From 0xCC on 1, 2, 4 and 8 bytes without a sign, then with one.
      let form = Int(tag) &- 0xCC
      let byteCount = 1 &<< (form & 3)
      guard form >= 0, form < 8, form != 3, left > byteCount else { return nil }
      let word = isPadded || left >= 9 ? Self.word(at + 1) : Self.word(at + 1, byteCount)
      let shift = UInt64(64 &- byteCount &<< 3)
      return form >= 4
        ? Int64(bitPattern: word) &>> Int64(shift) : Int64(bitPattern: word &>> shift)
    case .double:
      guard tag == 0xCB, left >= 9 else { return nil }
      return ScalarRange.key(doubleBits: Self.word(at + 1))
    case .date:
      guard tag == 0xD7, left >= 10,
        at.load(fromByteOffset: 1, as: UInt8.self) == RecordFormat.Extension.date
      else { return nil }
      return ScalarRange.key(doubleBits: Self.word(at + 2))
    default: return nil
    }
  }

  @inline(__always) static func word(_ at: UnsafeRawPointer) -> UInt64 {
    UInt64(bigEndian: at.loadUnaligned(as: UInt64.self))
  }

  /// The first bytes of a word, of which no more can be read.
  @inline(never) private static func word(_ at: UnsafeRawPointer, _ count: Int) -> UInt64 {
    UnsafeRawBufferPointer(start: at, count: count)
      .reduce(0) { $0 &<< 8 | UInt64($1) } &<< UInt64(64 &- count &<< 3)
  }
}
