/// The bytes of words that are being read.
struct WordBuffer {
  let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)

  private static let capacity = 2 * SearchLayout.maximumTermByteCount

  subscript(start: Int, count: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + start, count: count)
  }

  /// Adds a scalar, as far as there is room.
  @inline(__always)
  func append(_ scalar: UInt32, behind start: Int, to run: inout Words.Run, _ limit: Int) {
    let count = UTF8Scalar.byteCount(scalar)
    guard run.count + count <= limit else { return }
    UTF8Scalar.write(scalar, to: bytes + start + run.count)
    run.count += count
  }

  /// Adds a mark in the canonical order; vowels and finals of Hangul become part of the syllable before.
  @inline(never)
  func append(
    mark scalar: UInt32, behind start: Int, to run: inout Words.Run, _ limit: Int
  ) {
    if 0x1161...0x11C2 ~= scalar, run.count >= 3 {
      let last = UTF8Scalar.read(bytes + (start + run.count - 3), 3).scalar ?? 0
      if let syllable = Self.syllable(last, scalar) {
        return UTF8Scalar.write(syllable, to: bytes + (start + run.count - 3))
      }
    }
    let count = UTF8Scalar.byteCount(scalar)
    guard run.count + count <= limit else { return }
    let tables = UnicodeTables.shared
    let order = tables.combiningClass(of: scalar)
    var place = start + run.count
    while order > 0, place > start {
      var before = place - 1
      while before > start, bytes[before] & 0xC0 == 0x80 { before -= 1 }
      let last = UTF8Scalar.read(bytes + before, place - before).scalar ?? 0
      guard tables.combiningClass(of: last) > order else { break }
      place = before
    }
    let moved = start + run.count - place
    if moved > 0 { (bytes + place + count).update(from: bytes + place, count: moved) }
    UTF8Scalar.write(scalar, to: bytes + place)
    run.count += count
  }

  /// A syllable of Hangul from what comes before and a vowel or a final (The Unicode Standard, 3.12).
  private static func syllable(_ last: UInt32, _ scalar: UInt32) -> UInt32? {
    if 0x1100...0x1112 ~= last, 0x1161...0x1175 ~= scalar {
      return 0xAC00 + ((last - 0x1100) * 21 + scalar - 0x1161) * 28
    }
    if 0xAC00...0xD7A3 ~= last, (last - 0xAC00) % 28 == 0, 0x11A8...0x11C2 ~= scalar {
      return last + scalar - 0x11A7
    }
    return nil
  }
}
