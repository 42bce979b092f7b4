#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Whether a text begins with another, ends with it or contains it, as far as bytes can tell.
///
/// `hasPrefix` and its sisters compare whole characters by canonical equivalence. Where what is looked
/// for is in normalisation form C and each of its scalars is a character of its own, which
/// ``Swift/UnsafeRawBufferPointer/isComposed`` knows of, that is to find its bytes in a text of that kind,
/// and not to find them in one that has no other spelling of it.
struct TextMatch {
  let part: UnsafeRawBufferPointer
  /// Whether the part has scalars below U+0300 alone.
  let isLatin: Bool

  func begins(_ text: UnsafeRawBufferPointer) -> FilterProgram.Answer {
    let count = part.count
    if text.count >= count,
      Bytes.equal(UnsafeRawBufferPointer(rebasing: text[..<count]), part)
    {
      return text.isComposed ? .yes : .ask
    }
    // With the scalar behind it, which may be a mark.
    var end = min(count, text.count)
    if end < text.count { end &+= 1 }
    while end < text.count, text[end] & 0xC0 == 0x80 { end &+= 1 }
    return differs(UnsafeRawBufferPointer(rebasing: text[..<end]))
  }

  func ends(_ text: UnsafeRawBufferPointer) -> FilterProgram.Answer {
    var start = text.count &- part.count
    if start >= 0, Bytes.equal(UnsafeRawBufferPointer(rebasing: text[start...]), part) {
      return text.isComposed ? .yes : .ask
    }
    start = max(0, start)
    while start > 0, text[start] & 0xC0 == 0x80 { start &-= 1 }
    return differs(UnsafeRawBufferPointer(rebasing: text[start...]))
  }

  /// - Parameter anchor: The byte of the part that is looked for first.
  func isContained(in text: UnsafeRawBufferPointer, anchor: Int) -> FilterProgram.Answer {
    if isPresent(in: text, anchor: anchor) { return text.isComposed ? .yes : .ask }
    return differs(text)
  }

  /// No, where a text without the part's bytes cannot have it in another spelling either.
  @inline(__always) private func differs(_ text: UnsafeRawBufferPointer) -> FilterProgram.Answer {
    (isLatin && text.spellsLatinOneWay) || text.isComposed ? .no : .ask
  }

  // MARK: Searching

  /// Whether the part's bytes stand anywhere in the text.
  private func isPresent(in text: UnsafeRawBufferPointer, anchor: Int) -> Bool {
    let last = text.count &- part.count
    guard last >= 0, let start = text.baseAddress, let partStart = part.baseAddress else {
      return false
    }
    let sought = Int32(part[anchor])
    var place = 0
    while place <= last {
      guard let found = memchr(start + place + anchor, sought, last &- place &+ 1) else {
        return false
      }
      place = UnsafeRawPointer(found) - start &- anchor
      if memcmp(start + place, partStart, part.count) == 0 { return true }
      place &+= 1
    }
    return false
  }

  /// The byte that is seldom in texts, of those of the part.
  static func anchor(of part: some RandomAccessCollection<UInt8>) -> Int {
    let frequencies = part.map { byte in
      switch byte {
      case UInt8(ascii: " "): 9
      case let letter where "aeinorst".utf8.contains(letter): 8
      case UInt8(ascii: "a")...UInt8(ascii: "z"): 6
      case 0xC2...: 5  // The first of several, which many letters share.
      case UInt8(ascii: "0")...UInt8(ascii: "9"): 4
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): 2
      default: 1
      }
    }
    return frequencies.indices.min { frequencies[$0] < frequencies[$1] } ?? 0
  }
}
