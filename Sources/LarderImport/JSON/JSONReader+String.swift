extension JSONReader {
  /// The string whose opening quote is the next byte.
  mutating func string() throws(ImportError) -> String {
    text.next += 1
    guard let run = try run(room: limits.stringByteCount) else { throw tooLong }
    if text.next < text.end, text.buffer[text.next] == UInt8(ascii: "\"") {
      defer { text.next += 1 }
      return String(decoding: text.buffer[run], as: UTF8.self)
    }
    gathered.removeAll(keepingCapacity: true)
    gathered += text.buffer[run]
    return try gatheredString()
  }

  /// The string whose beginning is gathered, up to what stands at `next`.
  private mutating func gatheredString() throws(ImportError) -> String {
    while true {
      guard let byte = try text.peek() else {
        throw text.unexpected("`\"` to end the string that begins at \(position)")
      }
      switch byte {
      case UInt8(ascii: "\""):
        text.next += 1
        defer { releaseGathered() }
        return String(decoding: gathered, as: UTF8.self)
      case UInt8(ascii: "\\"):
        append(try escapedScalar())
      case 0x00..<0x20:
        throw text.unexpected("`\"` or an escape: control characters are written as `\\u00XX`")
      case 0x80...:
        // A scalar that the end of the chunk cut, or no scalar.
        try text.seeScalar()
        guard text.scalarByteCount(at: text.next) != nil else { throw try text.notUTF8() }
      default:
        break
      }
      guard let run = try run(room: limits.stringByteCount - gathered.count) else { throw tooLong }
      gathered += text.buffer[run]
    }
  }

  /// Moves over the bytes in sight that stand for themselves, and says which they are.
  ///
  /// The run ends before a quote, a backslash, a control character, something that is not UTF-8,
  /// or a scalar that the end of the chunk cuts. `nil` when `room` bytes do not hold it.
  @inline(__always)
  private mutating func run(room: Int) throws(ImportError) -> Range<Int>? {
    let first = text.next
    let end = text.end
    var index = first
    var continuations = 0
    while index < end {
      let byte = text.buffer[index]
      if byte < 0x80 {
        guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else { break }
        index += 1
      } else {
        guard let count = text.scalarByteCount(at: index) else { break }
        index += count
        continuations += count - 1
      }
    }
    guard index - first <= room else { return nil }
    text.next = index
    text.continuationByteCount += continuations
    return first..<index
  }

  private var tooLong: ImportError {
    text.error(
      .stringByteCount, limits.stringByteCount, of: "bytes in a string", at: position)
  }

  /// Keeps the buffer for the next string, unless it has become unusually large.
  private mutating func releaseGathered() {
    if gathered.capacity > 1 << 20 { gathered = [] }
  }
}
