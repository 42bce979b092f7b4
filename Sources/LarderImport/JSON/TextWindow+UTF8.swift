extension TextWindow {
  /// How many bytes the well-formed scalar at `index` has, or `nil`.
  ///
  /// `nil` also for a scalar that `end` cuts off: look again when more is in sight.
  ///
  /// The ranges are those of table 3-7 of the Unicode Standard: no overlong forms, no
  /// surrogates, nothing above U+10FFFF.
  @inline(__always)
  func scalarByteCount(at index: Int) -> Int? {
    let count: Int
    let second: ClosedRange<UInt8>
    switch buffer[index] {
    case 0x00...0x7F: return 1
    case 0xC2...0xDF: (count, second) = (2, 0x80...0xBF)
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (count, second) = (3, 0x80...0xBF)
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (count, second) = (4, 0x80...0xBF)
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    default: return nil
    }
    guard index + count <= end, second.contains(buffer[index + 1]) else { return nil }
    if count > 2, buffer[index + 2] & 0xC0 != 0x80 { return nil }
    if count > 3, buffer[index + 3] & 0xC0 != 0x80 { return nil }
    return count
  }

  /// Brings as much into sight as the scalar at `next` has by its first byte.
  mutating func seeScalar() throws(ImportError) {
    _ = try has(LarderImport.scalarByteCount(of: buffer[next]))
  }

  /// Moves over a byte order mark, and refuses what begins like UTF-16 or UTF-32; call it at the
  /// beginning.
  mutating func requirePlainUTF8() throws(ImportError) {
    if try has(3), isByteOrderMark(buffer[next..<next + 3]) {
      next += 3
      continuationByteCount += 3  // A mark takes no column.
    }
    _ = try has(4)
    guard
      let (found, expected) = foreignEncoding(of: Array(buffer[next..<min(end, next + 4)]))
    else { return }
    throw error(.encoding, found: found, expected: expected)
  }
}
