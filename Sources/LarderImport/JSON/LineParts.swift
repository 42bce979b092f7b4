/// Whole lines of a file, for one of several threads that read it.
final class LinePart: Sendable {
  /// What errors call the file.
  let file: String
  fileprivate let bytes: Slab<UInt8>
  /// Where they begin.
  let start: TextMark
  /// What came in place of further bytes, where they could not be read.
  let failure: ImportError?

  fileprivate init(
    _ bytes: consuming Slab<UInt8>, from start: TextMark, of file: String, _ failure: ImportError?
  ) {
    self.file = file
    self.bytes = bytes
    self.start = start
    self.failure = failure
  }

  /// The offset behind its last byte.
  var end: Int { start.offset + bytes.count }

  /// Copies as many bytes as there is room for, from an offset of the file on, and says how many.
  func copyBytes(from offset: Int, to room: UnsafeMutableRawBufferPointer) -> Int {
    let count = min(room.count, end - offset)
    let source = UnsafeRawPointer(bytes.base + (offset - start.offset))
    room.copyMemory(from: UnsafeRawBufferPointer(start: source, count: count))
    return count
  }
}

/// Cuts a file with a document in each line into parts, which several threads can read side by side.
///
/// A line feed ends a line wherever it stands: inside of a text JSON has none (RFC 8259, section 7), and
/// between values it would end the document too early.
struct LineParts: ~Copyable {
  private var source: ByteSource
  /// What was read behind the last part.
  private var rest: Slab<UInt8>
  private var start: TextMark
  private var isAtEnd = false
  private let limit: Limit

  /// When a part ends: at the end of the line that has as many bytes before it, or is the last of so
  /// many.
  struct Limit {
    var byteCount: Int
    var lineCount = Int.max
  }

  /// - Parameters:
  ///   - rest: Bytes that were read from the source before.
  ///   - start: Where these begin.
  init(
    _ source: consuming ByteSource, behind rest: UnsafeBufferPointer<UInt8>, at start: TextMark,
    _ limit: Limit
  ) {
    self.source = source
    self.start = start
    self.limit = limit
    self.rest = Self.slab(rest, limit)
  }

  private static let usualByteCount = 2 << 20

  private static func slab(_ bytes: UnsafeBufferPointer<UInt8>, _ limit: Limit) -> Slab<UInt8> {
    // What the longest parts need more is made room for as they are read.
    let room = max(min(limit.byteCount, usualByteCount), bytes.count) + ByteSource.chunkByteCount
    var slab = Slab<UInt8>(capacity: room, margin: 16, filler: 0)
    if let start = bytes.baseAddress { slab.base.update(from: start, count: bytes.count) }
    slab.count = bytes.count
    return slab
  }

  /// The next part, which may hold no document; nil behind the last.
  ///
  /// - Parameter lineByteCount: A line with more bytes is refused by whoever reads the part that it begins in;
  ///   there is none behind it.
  mutating func next(lineByteCount: Int) -> LinePart? {
    if isAtEnd { return nil }
    var scan = Scan()
    var failure: ImportError?
    while true {
      if let cut = scan.cut(rest, limit) { return part(upTo: cut, scan.lineCount, nil) }
      if rest.count - scan.lineStart > lineByteCount { break }
      rest.reserve(ByteSource.chunkByteCount)
      do {
        if try source.read(into: &rest) == 0 { break }
      } catch {
        failure = error
        break
      }
    }
    isAtEnd = true
    return part(upTo: rest.count, scan.lineCount, failure)
  }

  private mutating func part(
    upTo count: Int, _ lineCount: Int, _ failure: ImportError?
  ) -> LinePart {
    let behind = UnsafeBufferPointer(start: rest.base + count, count: rest.count - count)
    var bytes = exchange(
      &rest, with: isAtEnd ? Slab(capacity: 1, filler: 0) : Self.slab(behind, limit))
    bytes.count = count
    let begin = start
    start = TextMark(offset: begin.offset + count, line: begin.line + lineCount)
    return LinePart(bytes, from: begin, of: source.name, failure)
  }

  /// How far the bytes of a part have been looked at.
  private struct Scan {
    private var count = 0
    var lineCount = 0
    /// Behind the last line feed.
    var lineStart = 0

    /// Looks at what has come since the last time; returns where the part ends if that is there.
    mutating func cut(_ bytes: borrowing Slab<UInt8>, _ limit: Limit) -> Int? {
      while count < bytes.count {
        let next = UnsafePointer(bytes.base + count)
        let stretch = min(bytes.count - count, 4_096)
        let found = next.lineFeedCount(stretch)
        if lineCount + found >= limit.lineCount || count + stretch >= limit.byteCount, found > 0 {
          return cut(next, stretch, limit)
        }
        if found > 0 { lineStart = count + next.lastLineFeed(stretch) + 1 }
        lineCount += found
        count += stretch
      }
      return nil
    }

    /// Looks at a stretch in which the part may end.
    private mutating func cut(
      _ bytes: UnsafePointer<UInt8>, _ stretch: Int, _ limit: Limit
    ) -> Int? {
      let start = count
      for index in 0..<stretch where bytes[index] == 0x0A {
        lineCount += 1
        lineStart = start + index + 1
        if lineCount >= limit.lineCount || lineStart >= limit.byteCount { return lineStart }
      }
      count += stretch
      return nil
    }
  }
}

extension UnsafePointer<UInt8> {
  /// The index of the last line feed among `count` bytes, which have one.
  func lastLineFeed(_ count: Int) -> Int {
    var last = count - 1
    while self[last] != 0x0A { last -= 1 }
    return last
  }
}
