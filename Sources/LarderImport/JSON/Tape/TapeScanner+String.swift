/// What scanning a string found.
enum StringScan {
  /// It is in the text as it is, up to a quote at `end`.
  case plain(end: Int)
  /// It is in the tape's buffer; `behind` is the index behind its quote.
  case resolved(start: Int, count: Int, behind: Int)
  case cut
  case fault(JSONFault, at: Int)
}

extension TapeScanner {
  /// Scans the string whose quote is at `quote`.
  @inline(__always)
  mutating func string(
    _ text: TextBytes, _ quote: Int, _ end: Int, isFinal: Bool
  ) -> StringScan {
    let index = plainRun(text, quote &+ 1, end)
    if index < end, text[index] == UInt8(ascii: "\""),
      index &- quote &- 1 <= limits.stringByteCount
    {
      return .plain(end: index)
    }
    return irregularString(text, quote, index, end, isFinal)
  }

  /// Goes on with a string that has nothing special before `index`.
  @inline(never)
  private mutating func irregularString(
    _ text: TextBytes, _ quote: Int, _ index: Int, _ end: Int, _ isFinal: Bool
  ) -> StringScan {
    var index = index
    var runStart = quote + 1
    let start = tape.resolved.count
    // What is resolved is never longer than it is written. What is cut is resolved again.
    defer { if tape.resolved.count < start { tape.resolved.count = start } }
    tape.resolved.reserve(end - quote)
    let buffer = tape.resolved.base
    var resolved = start
    while true {
      let count = index - runStart
      guard resolved - start + count <= limits.stringByteCount else {
        return .fault(.stringTooLong, at: quote)
      }
      guard index < end else {
        return isFinal ? .fault(.unexpected(.stringEnd(quote)), at: index) : .cut
      }
      switch text[index] {
      case UInt8(ascii: "\""):
        (buffer + resolved).update(from: text + runStart, count: count)
        tape.resolved.count = resolved + count
        return .resolved(start: start, count: resolved + count - start, behind: index + 1)
      case UInt8(ascii: "\\"):
        (buffer + resolved).update(from: text + runStart, count: count)
        resolved += count
        let escape = Escape(text, index, end, isFinal)
        switch escape.outcome {
        case .scalar(let scalar):
          resolved += encode(scalar, to: buffer + resolved)
        case .cut: return .cut
        case .fault(let fault): return .fault(fault, at: escape.index)
        }
        runStart = escape.index
        index = escape.index
      case 0x80...:
        // A scalar that the end cuts, or no scalar.
        let needed = scalarByteCount(of: text[index])
        return isFinal || index + needed <= end ? .fault(.notUTF8, at: index) : .cut
      default:
        return .fault(.unexpected(.noControl), at: index)
      }
      index = plainRun(text, index, end)
    }
  }
}

/// The index of the first byte from `index` on that does not stand for itself in a string: a quote,
/// a backslash, a control character, one that is not UTF-8 or a scalar that `end` cuts; `end` or
/// more if there is none before it.
@inline(__always)
private func plainRun(_ text: TextBytes, _ index: Int, _ end: Int) -> Int {
  var index = index
  while index < end {
    let special = firstSpecial(text.word(at: index))
    index &+= special
    if special == 8 { continue }
    while index < end, text[index] >= 0x80 {
      let count = text.scalarByteCount(at: index)
      guard count > 0, index &+ count <= end else { return index }
      index &+= count
    }
    guard index < end, text[index] >= 0x20, text[index] != UInt8(ascii: "\""),
      text[index] != UInt8(ascii: "\\")
    else { break }
  }
  return min(index, end)
}

/// Writes a scalar as UTF-8 and says how many bytes it has.
@inline(__always)
private func encode(_ scalar: UInt32, to bytes: UnsafeMutablePointer<UInt8>) -> Int {
  func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift & 0x3F | 0x80) }
  switch scalar {
  case ..<0x80:
    bytes[0] = UInt8(truncatingIfNeeded: scalar)
    return 1
  case ..<0x800:
    bytes[0] = UInt8(truncatingIfNeeded: scalar >> 6 | 0xC0)
    bytes[1] = tail(0)
    return 2
  case ..<0x1_0000:
    bytes[0] = UInt8(truncatingIfNeeded: scalar >> 12 | 0xE0)
    bytes[1] = tail(6)
    bytes[2] = tail(0)
    return 3
  default:
    bytes[0] = UInt8(truncatingIfNeeded: scalar >> 18 | 0xF0)
    bytes[1] = tail(12)
    bytes[2] = tail(6)
    bytes[3] = tail(0)
    return 4
  }
}
