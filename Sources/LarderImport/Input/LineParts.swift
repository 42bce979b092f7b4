/// Whole lines of a file, for one of several threads that read it.
final class LinePart: Sendable {
  /// What errors call the file.
  let file: String
  let bytes: [UInt8]
  /// Where they begin.
  let start: TextMark
  /// What came in place of further bytes.
  let failure: ImportError?

  fileprivate init(
    _ bytes: [UInt8], from start: TextMark, of file: String, _ failure: ImportError?
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
    bytes.withUnsafeBytes {
      let from = offset - start.offset
      room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[from..<from + count]))
    }
    return count
  }
}

/// Cuts a file with a document in each line into parts, which several threads can read side by side.
///
/// A line feed ends a line wherever it stands: inside of a text JSON has none (RFC 8259, section 7), and
/// between values it would end the document too early.
struct LineParts: ~Copyable {
  private var source: ByteSource
  private var bytes: Slab<UInt8>
  /// The first of the bytes that are in no part.
  private var next = 0
  private var start: TextMark
  private var isAtEnd = false
  private let limit: Limit

  /// When a part ends: with the line that reaches so many bytes, or is the last of so many.
  struct Limit {
    var byteCount: Int
    var lineCount = Int.max
  }

  /// - Parameters:
  ///   - rest: Bytes that were read from the source before.
  ///   - start: Where these begin.
  init(_ source: consuming ByteSource, behind rest: [UInt8], at start: TextMark, _ limit: Limit) {
    self.source = source
    self.start = start
    self.limit = limit
    bytes = Slab(
      capacity: rest.count + 2 * ByteSource.chunkByteCount, margin: 16, filler: 0)
    for byte in rest { bytes.append(byte) }
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
      if let cut = scan.cut(bytes.base + next, bytes.count - next, limit) {
        return part(upTo: cut, scan.lineCount, nil)
      }
      // A byte order mark belongs to no line.
      if bytes.count - next - scan.lineStart > lineByteCount + 3 {
        // For a reader that does not refuse it itself.
        failure = .tooLong(.lineByteCount, lineByteCount, file: source.name, position: nil)
        break
      }
      makeRoom()
      do {
        if try source.read(into: &bytes) == 0 { break }
      } catch {
        failure = error
        break
      }
    }
    isAtEnd = true
    return part(upTo: bytes.count - next, scan.lineCount, failure)
  }

  private mutating func makeRoom() {
    if bytes.capacity - bytes.count < ByteSource.chunkByteCount, next > 0 {
      bytes.slide(next..<bytes.count)
      next = 0
    }
    bytes.reserve(ByteSource.chunkByteCount)
  }

  private mutating func part(
    upTo count: Int, _ lineCount: Int, _ failure: ImportError?
  ) -> LinePart {
    let part = Array(UnsafeBufferPointer(start: bytes.base + next, count: count))
    next += count
    let begin = start
    start = TextMark(offset: begin.offset + count, line: begin.line + lineCount)
    return LinePart(part, from: begin, of: source.name, failure)
  }

  /// How far the bytes of a part have been looked at.
  private struct Scan {
    private var count = 0
    var lineCount = 0
    /// Behind the last line feed.
    var lineStart = 0

    /// Looks at what has come since the last time; returns where the part ends if that is there.
    mutating func cut(_ bytes: UnsafePointer<UInt8>, _ end: Int, _ limit: Limit) -> Int? {
      while count < end {
        let stretch = min(end - count, 4_096)
        let found = (bytes + count).lineFeedCount(stretch)
        if found > 0, lineCount + found >= limit.lineCount || count + stretch >= limit.byteCount {
          for index in count..<count + stretch where bytes[index] == 0x0A {
            lineCount += 1
            lineStart = index + 1
            if lineCount >= limit.lineCount || lineStart >= limit.byteCount { return lineStart }
          }
        } else if found > 0 {
          lineStart = count + (bytes + count).lastLineFeed(stretch) + 1
          lineCount += found
        }
        count += stretch
      }
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
