/// The part of a source that a reader looks at: its bytes, its place and how far it may look.
///
/// Bytes lie in `bytes`; those from `next` up to `end` are not yet read. From ``keep()`` on to
/// ``release()`` those that were read stay where they are, counted from ``start``, so that a document
/// lies in one piece. What a reader sees never depends on where the source's pieces happen to end.
struct TextWindow: ~Copyable, Sendable {
  private(set) var source: ByteSource
  private(set) var bytes: Slab<UInt8>

  /// The index of the first unread byte; a reader moves it forward, never beyond `end`.
  var next = 0

  /// The index behind the last byte that may be looked at.
  private(set) var end = 0

  /// The index of the first byte that is kept; `next` where none is.
  var start: Int { kept ?? next }
  private var kept: Int?

  /// The file offset of the first of `bytes`.
  private var base = 0

  private var isSourceAtEnd = false

  /// Whether a line feed is significant: it then ends what may be read as white space.
  var linesAreSignificant = false

  /// Somewhere at or before `start`; lines are counted from there when somebody asks.
  private var mark = TextMark()

  private var bound: Bound?

  /// Bytes that a line or a document may not exceed.
  private struct Bound {
    var limit: ImportError.Limit
    var from: Int
    var offset: Int
    var byteCount: Int
    var isAtLineEnd = false
  }

  init(_ source: consuming ByteSource) {
    // A value in a field of a table should not cost a buffer for a file.
    let byteCount = min(source.memoryByteCount ?? .max, 2 * ByteSource.chunkByteCount)
    bytes = Slab(capacity: byteCount + 64, margin: 16, filler: 0)
    self.source = source
  }

  /// Begins anew with the lines of a part, at its place in the file.
  mutating func begin(_ part: LinePart) {
    source = ByteSource(part)
    bytes.removeAll(keepingUpTo: 4 * ByteSource.chunkByteCount)
    bytes.reserve(ByteSource.chunkByteCount)
    (next, end, kept) = (0, 0, nil)
    (base, mark) = (part.start.offset, part.start)
    (isSourceAtEnd, linesAreSignificant, bound) = (false, false, nil)
  }

  /// What was not read yet, for several threads.
  consuming func parts(_ limit: LineParts.Limit) -> LineParts {
    let mark = markStart()
    let rest = Array(UnsafeBufferPointer(start: bytes.base + start, count: bytes.count - start))
    return LineParts(source, behind: rest, at: mark, limit)
  }

  // MARK: Places

  /// Where `next` stands.
  var position: TextPosition { position(of: next) }

  /// The line and column of the byte at `index`, which is not before `start`.
  ///
  /// Lines are counted from ``markStart()`` on, or from where the bytes last slid.
  func position(of index: Int) -> TextPosition {
    var place = mark
    place.move(to: index + base, bytes.base, base)
    return place.position(of: index + base)
  }

  /// The place of `start`, to go on from; the next call is quicker for it.
  mutating func markStart() -> TextMark {
    mark.move(to: start + base, bytes.base, base)
    return mark
  }

  /// Goes on with `mark` to the byte at `index`.
  func move(_ mark: inout TextMark, to index: Int) -> TextPosition {
    mark.move(to: index + base, bytes.base, base)
    return mark.position(of: index + base)
  }

  // MARK: Looking

  /// The next byte, or `nil` at the end.
  mutating func peek() throws(ImportError) -> UInt8? {
    guard next < end else { return try more() ? bytes.base[next] : nil }
    return bytes.base[next]
  }

  /// Whether `count` bytes can be looked at from `next` on; false when the end comes before.
  mutating func has(_ count: Int) throws(ImportError) -> Bool {
    while end - next < count {
      guard try more() else { return false }
    }
    return true
  }

  /// Moves over a byte order mark at the beginning of the file; it takes no column.
  mutating func skipByteOrderMark() throws(ImportError) {
    guard base + next == 0, try has(3),
      isByteOrderMark(UnsafeBufferPointer(start: bytes.base, count: 3))
    else { return }
    next = 3
    mark = TextMark(offset: 3, line: 1)
  }

  /// Moves over white space and gives the byte behind it, or `nil` at the end.
  mutating func significantByte() throws(ImportError) -> UInt8? {
    while true {
      while next < end {
        switch bytes.base[next] {
        case 0x20, 0x09, 0x0D: next += 1
        case 0x0A where !linesAreSignificant: next += 1
        case let byte: return byte
        }
      }
      guard try more() else { return nil }
    }
  }

  /// Moves over the line feed at `next`, which must be significant.
  mutating func endLine() {
    next += 1
    mark = TextMark(offset: base + next, line: mark.line + 1)
  }

  // MARK: Reading

  /// Keeps the bytes from `next` on.
  mutating func keep() { kept = next }

  /// Lets the bytes go that were read.
  mutating func release() { kept = nil }

  /// Brings more bytes into sight behind those not yet read; false at the end.
  ///
  /// Moves all indexes together when it slides the bytes to the front.
  ///
  /// - Parameter count: How many there should be, where the end or a bound does not come before.
  /// - Throws: ``ImportError`` when reading fails or a bound is exceeded. The text is as before.
  @inline(never)
  mutating func more(_ count: Int = 1) throws(ImportError) -> Bool {
    if end < bytes.count { return try passBound() }
    let before = end - start
    repeat {
      guard !isSourceAtEnd, try read() else { break }
    } while end == bytes.count && end - start - before < count
    if end - start > before { return true }
    return end < bytes.count ? try passBound() : false
  }

  private mutating func read() throws(ImportError) -> Bool {
    slide()
    let count: Int
    do {
      count = try source.read(into: &bytes)
    } catch {
      var error = error
      error.position = position
      throw error
    }
    isSourceAtEnd = count == 0 || source.consumedByteCount == source.memoryByteCount
    end = max(next, min(bytes.count, (bound?.offset ?? .max) - base))
    return count > 0
  }

  /// Makes room behind the unread bytes, when it is short.
  private mutating func slide() {
    guard start == bytes.count || bytes.capacity - bytes.count < 4_096 else { return }
    // Before what they are counted over is gone.
    _ = markStart()
    let start = start
    base += start
    next -= start
    end -= start
    if kept != nil { kept = 0 }
    bytes.slide(start..<bytes.count)
    if bytes.capacity - bytes.count < bytes.capacity / 2 { bytes.reserve(bytes.capacity / 2) }
  }

  // MARK: Bounds

  /// Refuses whatever follows `byteCount` bytes behind the beginning of the line.
  mutating func boundLine(byteCount: Int) {
    if mark.offset < start + base { _ = markStart() }
    bound(.lineByteCount, from: mark.lineOffset, byteCount)
  }

  /// Refuses whatever follows `byteCount` bytes from `next` on, where a document's bracket stands.
  mutating func boundDocument(byteCount: Int) {
    bound(.documentByteCount, from: base + next, byteCount)
  }

  /// Lets everything be read again.
  mutating func unbound() {
    bound = nil
    end = bytes.count
  }

  private mutating func bound(_ limit: ImportError.Limit, from: Int, _ byteCount: Int) {
    bound = Bound(limit: limit, from: from, offset: from + byteCount, byteCount: byteCount)
    end = max(next, min(bytes.count, from + byteCount - base))
  }

  /// What lies behind the bound is refused, except the line feed that ends the bounded line.
  private mutating func passBound() throws(ImportError) -> Bool {
    guard let bound, !bound.isAtLineEnd else { return false }
    if bound.limit == .lineByteCount, bytes[end] == 0x0A {
      self.bound?.isAtLineEnd = true
      self.bound?.offset += 1
      end += 1
      return true
    }
    throw .tooLong(
      bound.limit, bound.byteCount, file: source.name,
      position: bound.limit == .lineByteCount
        ? TextPosition(line: mark.line, column: 1) : position(of: bound.from - base))
  }
}

/// A place in a file, from which others are found by counting lines and columns.
struct TextMark: Sendable {
  private(set) var offset = 0
  private(set) var line = 1
  /// Where the line begins.
  private(set) var lineOffset = 0
  /// UTF-8 continuation bytes between the line's beginning and the mark: no columns of their own.
  private var continuationByteCount = 0

  init() {}

  /// The beginning of a line.
  init(offset: Int, line: Int) {
    (self.offset, self.line, lineOffset) = (offset, line, offset)
  }

  /// Moves the mark forward over bytes of which `bytes` has those from the offset `base` on.
  fileprivate mutating func move(to offset: Int, _ bytes: UnsafePointer<UInt8>, _ base: Int) {
    precondition(offset >= self.offset && self.offset >= base)
    var (rest, count) = (bytes + (self.offset - base), offset - self.offset)
    let lineFeedCount = rest.lineFeedCount(count)
    if lineFeedCount > 0 {
      let last = rest.lastLineFeed(count)
      line += lineFeedCount
      lineOffset = self.offset + last + 1
      continuationByteCount = 0
      rest += last + 1
      count -= last + 1
    }
    continuationByteCount += rest.continuationByteCount(count)
    self.offset = offset
  }

  /// The line and column of the mark, which is at `offset`.
  fileprivate func position(of offset: Int) -> TextPosition {
    TextPosition(line: line, column: offset - lineOffset - continuationByteCount + 1)
  }
}
