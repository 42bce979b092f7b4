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

  /// Brings as much into sight as the scalar at `next` has by its first byte, and no more: right behind
  /// it may be what a bound refuses.
  mutating func seeScalar() throws(ImportError) {
    let count =
      switch buffer[next] {
      case 0xC2...0xDF: 2
      case 0xE0...0xEF: 3
      case 0xF0...0xF4: 4
      default: 1
      }
    _ = try has(count)
  }

  /// Moves over a byte order mark, and refuses what begins like UTF-16 or UTF-32; call it at the
  /// beginning.
  mutating func requirePlainUTF8() throws(ImportError) {
    _ = try has(4)
    let head = Array(buffer[next..<min(end, next + 4)])
    if head.starts(with: [0xEF, 0xBB, 0xBF]) {
      guard !hasMark else {
        throw error(.encoding, found: "a byte order mark", expected: "one at most")
      }
      hasMark = true
      next += 3
      continuationByteCount += 3  // A mark takes no column.
      return try requirePlainUTF8()
    }
    // No text of ours begins with NUL or has it as second byte.
    let wide: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE]]
    if wide.contains(where: head.starts(with:)) || head.prefix(2).contains(0) {
      throw error(
        .encoding, found: "what looks like UTF-16 or UTF-32", expected: "UTF-8; convert the file")
    }
  }
}
