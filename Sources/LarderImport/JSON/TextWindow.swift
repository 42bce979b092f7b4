/// The part of a source that a reader looks at: its bytes, its place and how far it may look.
///
/// Bytes lie in `buffer`; those from `next` up to `end` are not yet read. ``more()`` slides the
/// unread bytes to the front and reads behind them, so a token that is shorter than the buffer
/// can always be brought to lie in one piece, and what a reader sees never depends on where the
/// source's pieces happened to end.
struct TextWindow: ~Copyable, Sendable {
  private(set) var source: ByteSource
  private(set) var buffer: [UInt8]

  /// The index of the first unread byte; a reader moves it forward, never beyond `end`.
  var next = 0

  /// The index behind the last byte that may be looked at.
  private(set) var end = 0

  /// The index behind the last byte that was read from the source.
  private var loaded = 0

  /// The file offset of `buffer[0]`.
  private var base = 0

  private var isSourceAtEnd = false

  /// Whether a line feed is significant: it then ends what may be read as white space.
  var linesAreSignificant = false

  private var line = 1
  private var lineOffset = 0

  /// UTF-8 continuation bytes between the line's beginning and `next`: no columns of their own.
  ///
  /// Whoever moves `next` over a scalar of several bytes adds them.
  var continuationByteCount = 0

  /// Whether a byte order mark was moved over.
  var hasMark = false

  private var bound: Bound?

  /// Bytes that a line or a document may not exceed.
  private struct Bound {
    var limit: ImportError.Limit
    var offset: Int
    var byteCount: Int
    var position: TextPosition
    var isAtLineEnd = false
  }

  init(_ source: consuming ByteSource) {
    // A value in a field of a table should not cost a buffer for a file.
    let byteCount = min(source.memoryByteCount ?? .max, ByteSource.chunkByteCount)
    buffer = [UInt8](repeating: 0, count: byteCount + 1_024)
    self.source = source
  }

  /// Where `next` stands.
  var position: TextPosition {
    TextPosition(line: line, column: base + next - lineOffset - continuationByteCount + 1)
  }

  // MARK: Looking

  /// The next byte, or `nil` at the end.
  @inline(__always)
  mutating func peek() throws(ImportError) -> UInt8? {
    guard next < end else { return try more() ? buffer[next] : nil }
    return buffer[next]
  }

  /// Whether `count` bytes can be looked at from `next` on; false when the end comes before.
  @inline(__always)
  mutating func has(_ count: Int) throws(ImportError) -> Bool {
    while end - next < count {
      guard try more() else { return false }
    }
    return true
  }

  /// Moves over white space and gives the byte behind it, or `nil` at the end.
  @inline(__always)
  mutating func significantByte() throws(ImportError) -> UInt8? {
    if next < end, buffer[next] > 0x20 { return buffer[next] }
    return try skipWhiteSpace()
  }

  private mutating func skipWhiteSpace() throws(ImportError) -> UInt8? {
    while true {
      while next < end {
        switch buffer[next] {
        case 0x20, 0x09, 0x0D: next += 1
        case 0x0A where !linesAreSignificant: endLine()
        case let byte: return byte
        }
      }
      guard try more() else { return nil }
    }
  }

  /// Moves over the line feed at `next`.
  mutating func endLine() {
    next += 1
    line += 1
    lineOffset = base + next
    continuationByteCount = 0
  }

  // MARK: Reading

  /// Brings more bytes into sight behind those not yet read; false at the end.
  ///
  /// Moves `next` and `end` together when it slides the unread bytes to the front.
  ///
  /// - Throws: ``ImportError`` when reading fails or a bound is exceeded. The window is as before.
  @inline(never)
  mutating func more() throws(ImportError) -> Bool {
    if end < loaded { return try passBound() }
    guard !isSourceAtEnd else { return false }
    slide()
    let count: Int
    do {
      count = try source.read(into: &buffer, at: loaded)
    } catch {
      var error = error
      error.position = position
      throw error
    }
    guard count > 0 else {
      isSourceAtEnd = true
      return false
    }
    loaded += count
    let before = end
    end = min(loaded, (bound?.offset ?? .max) - base)
    return try end > before ? true : passBound()
  }

  /// Makes room behind the unread bytes, when it is short.
  private mutating func slide() {
    guard next == end || buffer.count - end < 4_096 else { return }
    let kept = end - next
    precondition(kept < buffer.count, "a token is longer than the window")
    for index in 0..<kept { buffer[index] = buffer[next + index] }
    base += next
    next = 0
    end = kept
    loaded = kept
  }

  // MARK: Bounds

  /// Refuses whatever follows `byteCount` bytes behind the beginning of the line.
  mutating func boundLine(byteCount: Int) {
    bound(.lineByteCount, from: lineOffset, byteCount, TextPosition(line: line, column: 1))
  }

  /// Refuses whatever follows `byteCount` bytes behind the byte before `next`.
  mutating func boundDocument(byteCount: Int, position: TextPosition) {
    bound(.documentByteCount, from: base + next - 1, byteCount, position)
  }

  /// Lets everything be read again.
  mutating func unbound() {
    bound = nil
    end = loaded
  }

  private mutating func bound(
    _ limit: ImportError.Limit, from offset: Int, _ byteCount: Int, _ position: TextPosition
  ) {
    bound = Bound(
      limit: limit, offset: offset + byteCount, byteCount: byteCount, position: position)
    end = max(next, min(loaded, offset + byteCount - base))
  }

  /// What lies behind the bound is refused, except the line feed that ends the bounded line.
  private mutating func passBound() throws(ImportError) -> Bool {
    guard let bound, !bound.isAtLineEnd else { return false }
    if bound.limit == .lineByteCount, buffer[end] == 0x0A {
      self.bound?.isAtLineEnd = true
      self.bound?.offset += 1
      end += 1
      return true
    }
    let noun = bound.limit == .lineByteCount ? "line" : "document"
    throw ImportError(
      .limit(bound.limit), file: source.name, position: bound.position,
      found: "a \(noun) of more than \(bound.byteCount) bytes",
      expected: "at most \(bound.byteCount) bytes in one \(noun) (\(bound.limit.rawValue))")
  }
}
