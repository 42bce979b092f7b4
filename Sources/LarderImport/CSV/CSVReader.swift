/// A strict reader of CSV that gives one row at a time; ``CSVOptions`` says what it accepts.
///
/// It holds one chunk of its source and the row's fields, their quotes resolved, one behind the
/// other. What a chunk's end cuts is gathered there run by run, so that nothing depends on where
/// the source's pieces happened to end.
struct CSVReader: ~Copyable, Sendable {
  private(set) var text: TextWindow
  private let delimiter: UInt8
  private let limits: CSVLimits

  /// The fields of the latest row.
  private(set) var cells: [Cell] = []
  private var bytes: [UInt8] = []

  /// How many fields every row must have; nil while only the first can tell.
  private var columnCount: Int?

  private var isAtBeginning = true

  /// One field of a row.
  struct Cell {
    fileprivate(set) var range: Range<Int>
    let isQuoted: Bool
    /// Where it begins, before its quote.
    let position: TextPosition

    /// Whether nothing stands there, not even quotes.
    var isNil: Bool { range.isEmpty && !isQuoted }
  }

  /// A reader at the beginning of `source`.
  init(
    _ source: consuming ByteSource, delimiter: CSVDelimiter, columnCount: Int? = nil,
    limits: CSVLimits = CSVLimits()
  ) {
    text = TextWindow(source)
    self.delimiter = delimiter.byte
    self.columnCount = columnCount
    self.limits = limits
  }

  /// Lends the bytes of a field of the latest row, which are UTF-8.
  @inline(__always)
  func withCell<Result, Failure>(
    _ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let range = cells[index].range
    return try bytes.withUnsafeBufferPointer { (all) throws(Failure) in
      try body(UnsafeBufferPointer(rebasing: all[range]))
    }
  }

  /// Reads the next row; false when there is none. Empty lines are no rows.
  ///
  /// - Throws: ``ImportError``. The reader must then be let go of.
  mutating func next() throws(ImportError) -> Bool {
    if isAtBeginning { try begin() }
    cells.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    guard try skipEmptyLines() else { return false }
    let start = text.position
    while true {
      try field()
      if bytes.count > limits.rowByteCount {
        throw text.error(.rowByteCount, limits.rowByteCount, of: "bytes in a row", at: start)
      }
      guard try text.peek() == delimiter else { break }
      try refuseAnother()
      text.next += 1
    }
    try endRow()
    return true
  }

  private mutating func begin() throws(ImportError) {
    isAtBeginning = false
    try text.requirePlainUTF8()
  }

  // MARK: Lines

  private mutating func skipEmptyLines() throws(ImportError) -> Bool {
    while let byte = try text.peek() {
      guard byte == 0x0A || byte == 0x0D, try endLine() else { return true }
    }
    return false
  }

  /// Moves over LF or CR LF; false where neither is next.
  private mutating func endLine() throws(ImportError) -> Bool {
    guard try endsLine() else { return false }
    if text.buffer[text.next] == 0x0D { text.next += 1 }
    text.endLine()
    return true
  }

  /// Whether LF or CR LF is next.
  private mutating func endsLine() throws(ImportError) -> Bool {
    switch try text.peek() {
    case 0x0A: true
    case 0x0D: try text.has(2) && text.buffer[text.next + 1] == 0x0A
    default: false
    }
  }

  /// Called behind the last field of a row.
  private mutating func endRow() throws(ImportError) {
    let count = columnCount ?? cells.count
    guard cells.count == count else {
      throw text.error(
        .shape, found: "the end of a row of \(cells.count) fields",
        expected: "\(count) fields, as many as the header has")
    }
    columnCount = count
    _ = try endLine()
  }

  /// Called at a delimiter.
  private mutating func refuseAnother() throws(ImportError) {
    if let columnCount, cells.count >= columnCount {
      throw text.error(
        .shape, found: "a field more than the \(columnCount) of the header",
        expected: "the end of the row; a field with a delimiter in it needs quotes")
    }
    if cells.count >= limits.columnCount {
      throw text.error(
        .columnCount, limits.columnCount, of: "columns", at: text.position)
    }
  }

  // MARK: Fields

  private mutating func field() throws(ImportError) {
    let position = text.position
    let start = bytes.count
    let isQuoted = try text.peek() == UInt8(ascii: "\"")
    if isQuoted { try quoted(position) } else { try plain(position) }
    cells.append(Cell(range: start..<bytes.count, isQuoted: isQuoted, position: position))
  }

  /// Gathers a field without quotes, up to the delimiter or the end of the row.
  private mutating func plain(_ position: TextPosition) throws(ImportError) {
    let start = bytes.count
    while true {
      try take(text.plainRun(delimiter), of: start, position)
      guard let byte = try text.peek(), byte != delimiter else { return }
      switch byte {
      case 0x0A: return
      case 0x0D:
        if try endsLine() { return }
        throw text.error(
          .syntax, found: "a carriage return alone",
          expected: "LF or CR LF at the end of a row, or quotes around a field that holds one")
      case UInt8(ascii: "\""):
        throw text.unexpected(
          "quotes around the whole field, from its first byte on, and each `\"` in it doubled")
      case 0x80...: try requireScalar()
      default: break
      }
    }
  }

  /// Gathers a field in quotes, up to what stands behind the closing one.
  private mutating func quoted(_ position: TextPosition) throws(ImportError) {
    let start = bytes.count
    text.next += 1
    while true {
      try take(text.quotedRun(), of: start, position)
      switch try text.peek() {
      case nil: throw text.unexpected("`\"` to end the field that begins at \(position)")
      case 0x0A:
        bytes.append(0x0A)
        text.endLine()
      case UInt8(ascii: "\""):
        text.next += 1
        guard try text.peek() == UInt8(ascii: "\"") else { return try requireEnd(position) }
        bytes.append(UInt8(ascii: "\""))
        text.next += 1
      case let byte? where byte >= 0x80: try requireScalar()
      default: break
      }
    }
  }

  /// Makes sure that a field, which begins at `position`, ends behind its closing quote.
  private mutating func requireEnd(_ position: TextPosition) throws(ImportError) {
    guard let byte = try text.peek(), byte != delimiter else { return }
    if try endsLine() { return }
    throw text.unexpected(
      "the next field or the end of the row, for the field that begins at \(position) ends before; "
        + "a quote in a field is doubled")
  }

  /// Refuses a byte that begins no scalar; one that the end of a chunk cut is brought into sight.
  private mutating func requireScalar() throws(ImportError) {
    try text.seeScalar()
    guard text.scalarByteCount(at: text.next) != nil else { throw try text.notUTF8() }
  }

  @inline(__always)
  private mutating func take(
    _ run: Range<Int>, of start: Int, _ position: TextPosition
  ) throws(ImportError) {
    guard bytes.count - start + run.count <= limits.fieldByteCount else {
      throw text.error(
        .fieldByteCount, limits.fieldByteCount, of: "bytes in a field", at: position)
    }
    bytes += text.buffer[run]
  }
}

extension TextWindow {
  /// Moves over the bytes in sight that a field without quotes may hold, and says which they are.
  @inline(__always)
  fileprivate mutating func plainRun(_ delimiter: UInt8) -> Range<Int> {
    run { byte in
      byte > 0x22
        ? byte != delimiter
        : byte != 0x22 && byte != 0x0A && byte != 0x0D
          && byte != delimiter
    }
  }

  /// Moves over the bytes in sight that stand for themselves between quotes, but for line feeds.
  @inline(__always)
  fileprivate mutating func quotedRun() -> Range<Int> {
    run { byte in byte != 0x22 && byte != 0x0A }
  }

  /// - Parameter holds: Whether an ASCII byte stands for itself.
  @inline(__always)
  private mutating func run(_ holds: (UInt8) -> Bool) -> Range<Int> {
    let first = next
    var index = first
    var continuations = 0
    buffer.withUnsafeBufferPointer { buffer in
      while index < end {
        let byte = buffer[index]
        if byte < 0x80 {
          guard holds(byte) else { break }
          index += 1
        } else {
          guard let count = scalarByteCount(at: index) else { break }
          index += count
          continuations += count - 1
        }
      }
    }
    next = index
    continuationByteCount += continuations
    return first..<index
  }
}
