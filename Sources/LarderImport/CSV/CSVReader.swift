/// A strict reader of CSV that gives one row at a time; ``CSVOptions`` says what it accepts.
///
/// It holds one row and one chunk of its source. Fields are ranges of the text; only those with doubled
/// quotes are copied. A row that the end of a chunk cuts is scanned again from its beginning when more
/// is there, so that nothing depends on where the source's pieces happened to end.
struct CSVReader: ~Copyable, Sendable {
  var text: TextWindow
  let delimiter: UInt8
  let limits: CSVLimits
  /// Whether an empty line of a table of one column is a row, whose field is empty.
  private let takesEmptyLines: Bool

  /// The fields of the latest row.
  private(set) var cells = Slab<Cell>(capacity: 16, filler: Cell())

  /// The fields of the latest row that have doubled quotes, with these resolved, behind ``names``.
  private(set) var resolved = Slab<UInt8>(capacity: 0, margin: 16, filler: 0)

  /// What stands before everything in ``resolved``.
  private var names: [UInt8] = []

  /// How many fields every row must have; nil while only the first can tell.
  private(set) var columnCount: Int?

  private var isAtBeginning = true
  /// What ended the reading of bytes behind those that are in sight.
  private var failure: ImportError?

  /// One field of a row.
  struct Cell: BitwiseCopyable, Sendable {
    /// Where its bytes begin, counted from the row's beginning or in ``CSVReader/resolved``.
    var start = 0
    var count = 0
    /// Where it begins, before its quote, counted from the row's beginning.
    var offset = 0
    var isQuoted = false
    var isResolved = false
    /// Whether it has been read as a plain value of the kind that its column is guessed to be.
    var isAsGuessed = false

    /// Whether nothing stands there, not even quotes.
    var isNil: Bool { count == 0 && !isQuoted }
  }

  /// A reader at the beginning of `source`.
  init(
    _ source: consuming ByteSource, delimiter: CSVDelimiter, columnCount: Int? = nil,
    limits: CSVLimits = CSVLimits(), takesEmptyLines: Bool = false
  ) {
    text = TextWindow(source)
    self.delimiter = delimiter.byte
    self.columnCount = columnCount
    self.limits = limits.honoured
    self.takesEmptyLines = takesEmptyLines
  }

  /// Lends the bytes of a field of the latest row, which are UTF-8.
  @inline(__always)
  func withCell<Result, Failure>(
    _ index: Int, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let cell = cells[index]
    let first = cell.isResolved ? resolved.base : text.bytes.base + text.start
    return try body(UnsafeBufferPointer(start: first + cell.start, count: cell.count))
  }

  /// Notes that a field shows the kind that its column is guessed to be.
  @inline(__always)
  mutating func confirmGuess(_ index: Int) { cells.base[index].isAsGuessed = true }

  /// Where the latest row begins.
  var position: TextPosition { text.position(of: text.start) }

  /// Where a field of the latest row begins.
  func position(of index: Int) -> TextPosition {
    text.position(of: text.start + cells[index].offset)
  }

  /// Where all of them begin.
  mutating func positions() -> [TextPosition] {
    var mark = text.markStart()
    return (0..<cells.count).map { text.move(&mark, to: text.start + cells[$0].offset) }
  }

  /// Keeps bytes at the beginning of ``resolved``; the latest row is lost.
  mutating func keep(names: [UInt8]) {
    self.names = names
    resolved.count = 0
    clear()
  }

  /// Makes room behind the resolved fields of the row, and lends it.
  ///
  /// - Parameter body: Says how many bytes it has put there.
  @inline(__always)
  mutating func appendResolved(
    atMost most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int
  ) {
    resolved.reserve(most)
    resolved.count += body(resolved.base + resolved.count)
  }

  /// Reads the next row; false when there is none. Empty lines are no rows, except where the reader takes
  /// them for those of one column.
  ///
  /// - Throws: ``ImportError``. The reader must then be let go of.
  mutating func next() throws(ImportError) -> Bool {
    if isAtBeginning {
      isAtBeginning = false
      try text.requirePlainUTF8()
    }
    text.release()
    clear()
    guard try skipEmptyLines() else { return false }
    text.keep()
    try row()
    return true
  }

  private mutating func clear() {
    cells.removeAll(keepingUpTo: 1 << 12)
    if resolved.count < names.count || resolved.capacity > names.count + 1 << 20 {
      resolved.removeAll(keepingUpTo: 0)
      for byte in names { resolved.append(byte) }
    }
    resolved.count = names.count
  }

  // MARK: Lines

  private mutating func skipEmptyLines() throws(ImportError) -> Bool {
    while true {
      guard text.next < text.end else {
        guard try more() else { return false }
        continue
      }
      if takesEmptyLines, columnCount == 1 { return true }
      guard try endLine() else { return true }
    }
  }

  /// Moves over LF or CR LF; false where neither is next.
  private mutating func endLine() throws(ImportError) -> Bool {
    let byte = text.bytes.base[text.next]
    if byte == 0x0A {
      text.next += 1
      return true
    }
    guard byte == 0x0D else { return false }
    while text.end - text.next < 2 {
      guard try more() else { return false }
    }
    guard text.bytes.base[text.next + 1] == 0x0A else { return false }
    text.next += 2
    return true
  }

  // MARK: Rows

  private mutating func row() throws(ImportError) {
    var isFinal = false
    while true {
      let outcome = scan(
        UnsafePointer(text.bytes.base + text.start), to: text.end - text.start, isFinal: isFinal)
      switch outcome {
      case .row(let behind):
        text.next = text.start + behind
        if text.next < text.end { _ = try endLine() }
        return
      case .cut(let index):
        text.next = text.start + index
        isFinal = !(try more())
        clear()
      case .fault(let fault, let index):
        text.next = text.start + index
        throw error(fault)
      }
    }
  }

  /// Brings as much again into sight as there is of the row; false at the end.
  ///
  /// - Throws: ``ImportError`` when reading fails and all that was read before has been looked at.
  private mutating func more() throws(ImportError) -> Bool {
    if var failure {
      failure.position = text.position
      throw failure
    }
    let wanted = 2 * (text.end - text.start)
    var isMore = false
    repeat {
      do {
        guard try text.more() else { return isMore }
      } catch {
        guard isMore else { throw error }
        failure = error
        return true
      }
      isMore = true
    } while text.end - text.start < wanted
    return true
  }

  /// Where scanning a row stopped.
  private enum RowScan {
    /// Behind its last field.
    case row(behind: Int)
    /// Before what the end of the bytes cuts.
    case cut(at: Int)
    case fault(CSVFault, at: Int)
  }

  /// Scans the row at the beginning of `text`.
  ///
  /// - Parameters:
  ///   - text: Has a margin of 16 bytes behind `end`.
  ///   - isFinal: Whether no more will come behind `end`.
  private mutating func scan(_ text: TextBytes, to end: Int, isFinal: Bool) -> RowScan {
    let delimiter = delimiter
    let delimiters = repeated(delimiter)
    let mostBytes = limits.fieldByteCount
    let mostCells = min(columnCount ?? .max, limits.columnCount)
    var (index, byteCount) = (0, 0)
    while true {
      var cell = Cell(offset: index)
      if index < end, text[index] == UInt8(ascii: "\"") {
        switch scanQuoted(text, index, end, isFinal) {
        case .row(let behind): index = behind
        case let other: return other
        }
        cell = cells[cells.count - 1]
      } else {
        cell.start = index
        index = text.plainRun(from: index, to: end, delimiters)
        cell.count = index &- cell.start
        guard cell.count <= mostBytes else { return .fault(.fieldTooLong, at: cell.offset) }
        if index < end {
          let byte = text[index]
          if byte != delimiter, byte != 0x0A {
            if let fault = fault(byte, text, index, end, isFinal) { return fault }
          }
        } else if !isFinal {
          return .cut(at: index)
        }
        cells.append(cell)
      }
      byteCount += cell.count
      guard byteCount <= limits.rowByteCount else { return .fault(.rowTooLong, at: 0) }
      guard index < end, text[index] == delimiter else { break }
      guard cells.count < mostCells else {
        let isLonger = columnCount.map { cells.count >= $0 } ?? false
        return .fault(isLonger ? .oneMore : .tooManyColumns, at: index)
      }
      index &+= 1
    }
    let count = columnCount ?? cells.count
    guard cells.count == count else { return .fault(.fewer, at: index) }
    columnCount = count
    return .row(behind: index)
  }

  /// What keeps a field without quotes from ending before `byte`, which is neither a delimiter nor LF.
  @inline(never)
  private func fault(
    _ byte: UInt8, _ text: TextBytes, _ index: Int, _ end: Int, _ isFinal: Bool
  ) -> RowScan? {
    switch byte {
    case 0x0D:
      guard index + 1 < end else {
        return isFinal ? .fault(.carriageReturn, at: index) : .cut(at: index)
      }
      return text[index + 1] == 0x0A ? nil : .fault(.carriageReturn, at: index)
    case UInt8(ascii: "\""): return .fault(.quoteInField, at: index)
    default: return brokenScalar(byte, index, end, isFinal)
    }
  }

  /// A scalar that the end cuts, or no scalar.
  private func brokenScalar(_ byte: UInt8, _ index: Int, _ end: Int, _ isFinal: Bool) -> RowScan {
    isFinal || index + scalarByteCount(of: byte) <= end
      ? .fault(.notUTF8, at: index) : .cut(at: index)
  }

  /// Scans the field whose quote is at `quote`, and adds it to those of the row.
  private mutating func scanQuoted(
    _ text: TextBytes, _ quote: Int, _ end: Int, _ isFinal: Bool
  ) -> RowScan {
    var index = quote &+ 1
    var doubledCount = 0
    while true {
      index = text.quotedRun(from: index, to: end)
      let count = index &- quote &- 1 &- doubledCount
      guard count <= limits.fieldByteCount else { return .fault(.fieldTooLong, at: quote) }
      guard index < end else {
        return isFinal ? .fault(.openQuotes(from: quote), at: index) : .cut(at: index)
      }
      guard text[index] == UInt8(ascii: "\"") else {
        return brokenScalar(text[index], index, end, isFinal)
      }
      let behind = index &+ 1
      guard behind < end || isFinal else { return .cut(at: behind) }
      if behind < end {
        let byte = text[behind]
        if byte == UInt8(ascii: "\"") {
          doubledCount &+= 1
          index &+= 2
          continue
        }
        if byte != delimiter, byte != 0x0A {
          guard byte == 0x0D, behind + 1 < end || isFinal else {
            return byte == 0x0D ? .cut(at: behind) : .fault(.behindQuotes(from: quote), at: behind)
          }
          guard behind + 1 < end, text[behind + 1] == 0x0A else {
            return .fault(.behindQuotes(from: quote), at: behind)
          }
        }
      }
      var cell = Cell(start: quote &+ 1, count: count, offset: quote, isQuoted: true)
      if doubledCount > 0 {
        cell.start = resolved.count
        cell.isResolved = true
        resolve(text, quote &+ 1, index)
      }
      cells.append(cell)
      return .row(behind: behind)
    }
  }

  /// Copies what stands in quotes, each two of them as one.
  private mutating func resolve(_ text: TextBytes, _ start: Int, _ end: Int) {
    appendResolved(atMost: end - start) { buffer in
      var (index, count) = (start, 0)
      while index < end {
        buffer[count] = text[index]
        count &+= 1
        index &+= text[index] == UInt8(ascii: "\"") ? 2 : 1
      }
      return count
    }
  }
}

extension UnsafePointer<UInt8> {
  /// The index of the first byte from `index` on that may end a field without quotes: a delimiter, a
  /// quote, CR, LF, or one that is not UTF-8 or a scalar that `end` cuts; `end` if there is none. There is a
  /// margin of 8 bytes behind `end`.
  @inline(__always)
  func plainRun(from index: Int, to end: Int, _ delimiters: UInt64) -> Int {
    let delimiter = UInt8(truncatingIfNeeded: delimiters)
    var index = index
    while index < end {
      let word = word(at: index)
      // As in `firstSpecial(_:)`: what a subtraction borrows spoils no byte before the first special one.
      let quotes = (word ^ repeated(0x22)) &- repeated(0x01)
      let separators = (word ^ delimiters) &- repeated(0x01)
      let controls = word &- repeated(0x20)
      let special = (quotes | separators | controls | word) & repeated(0x80)
      let count = special.trailingZeroBitCount >> 3
      index &+= count
      if count == 8 { continue }
      guard index < end else { break }
      let byte = self[index]
      if byte >= 0x80 {
        let count = scalarByteCount(at: index)
        guard count > 0, index &+ count <= end else { return index }
        index &+= count
        continue
      }
      if byte == delimiter || byte == 0x22 || byte == 0x0A || byte == 0x0D { return index }
      index &+= 1
    }
    return Swift.min(index, end)
  }

  /// The same in quotes, where only a quote may be the end.
  @inline(__always)
  func quotedRun(from index: Int, to end: Int) -> Int {
    var index = index
    while index < end {
      let word = word(at: index)
      let quotes = (word ^ repeated(0x22)) &- repeated(0x01)
      let count = ((quotes | word) & repeated(0x80)).trailingZeroBitCount >> 3
      index &+= count
      if count == 8 { continue }
      guard index < end else { break }
      if self[index] < 0x80 { return index }
      let byteCount = scalarByteCount(at: index)
      guard byteCount > 0, index &+ byteCount <= end else { return index }
      index &+= byteCount
    }
    return Swift.min(index, end)
  }
}
