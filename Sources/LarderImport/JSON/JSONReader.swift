internal import Larder

/// A strict JSON reader (RFC 8259) that gives one document at a time as a ``JSONTape``.
///
/// It holds one document and one chunk of its source, however large the file. Only a keyed file
/// costs more, about 40 bytes for each key, to refuse a key that stands twice. Input that is not
/// exactly JSON in UTF-8 is refused, as are names that stand twice in one object and whatever
/// exceeds ``JSONLimits``.
package struct JSONReader: ~Copyable, Sendable {
  /// The shape of the file; ``JSONShape/automatic`` until the first document is asked for.
  package internal(set) var shape: JSONShape

  var text: TextWindow
  var scanner: TapeScanner
  let limits: JSONLimits
  /// The names of the members, from the outermost on, in which the documents stand.
  let path: [String]
  var stage = Stage.beforeFirst
  private var failure: ImportError?
  /// The key of the latest document, in a keyed file.
  var key: String?
  var keys = SeenNames()

  enum Stage {
    case beforeFirst
    /// Just behind the bracket around all documents.
    case opened
    /// Behind the `:` of the first key, which is already read.
    case atFirstKeyed
    /// Behind the first name of an object that has turned out to be a line.
    case inFirstLine
    case afterDocument
    case atLine
    case inSequence
    case afterLast
  }

  /// The documents of `source`; nothing is read yet.
  ///
  /// - Parameter path: Names of members, from the outermost on, in which the documents stand; the shape is
  ///   then that of the innermost one's value.
  package init(
    _ source: consuming ByteSource, shape: JSONShape = .automatic, at path: [String] = [],
    limits: JSONLimits = JSONLimits()
  ) {
    text = TextWindow(source)
    self.path = path
    self.limits = limits.honoured
    scanner = TapeScanner(limits: self.limits)
    self.shape = shape
    if shape == .automatic, path.isEmpty, let named = JSONShape.named(by: text.source.name) {
      self.shape = named
    }
  }

  /// What errors call the source.
  package var file: String { text.source.name }

  /// How many bytes the source has handed out; for progress.
  package var consumedByteCount: Int { text.source.consumedByteCount }

  /// How many bytes the source has in all; `nil` when only the end will tell.
  package var totalByteCount: Int? { text.source.totalByteCount }

  /// Reads the next document; false behind the last when nothing else follows.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read. Documents that were
  ///   given before stay good; every further call throws the same error.
  package mutating func next() throws(ImportError) -> Bool {
    if let failure { throw failure }
    do {
      text.release()
      if case .beforeFirst = stage { try begin() }
      return try document()
    } catch {
      failure = error
      throw error
    }
  }

  /// Leaves what was not read yet to others; nil, and nothing is left, where that are not lines.
  mutating func leaveParts(_ limit: LineParts.Limit) -> LineParts? {
    guard case .atLine = stage, failure == nil else { return nil }
    text.release()
    stage = .afterLast
    return exchange(&text, with: TextWindow(ByteSource(bytes: [], name: file))).parts(limit)
  }

  /// Goes on with the documents of a part of the lines.
  mutating func begin(_ part: LinePart) {
    text.begin(part)
    failure = nil
    shape = .lines
    if part.start.offset == 0 {
      stage = .beforeFirst
    } else {
      beginLines()
    }
  }

  private mutating func document() throws(ImportError) -> Bool {
    switch stage {
    case .beforeFirst, .afterLast: return false
    case .opened, .afterDocument: return try enclosedDocument()
    case .atFirstKeyed:
      text.release()
      try root()
    case .inFirstLine:
      try scan()
      try endLine()
      return true
    case .atLine: return try line()
    case .inSequence: return try documentInSequence()
    }
    return true
  }

  /// The whole text as one value.
  mutating func value() throws(ImportError) {
    try text.requirePlainUTF8()
    try skipToValue()
    text.keep()
    text.boundDocument(byteCount: JSONLimits.mostByteCount)
    scanner.begin()
    try scan()
    text.unbound()
    guard try text.significantByte() == nil else {
      throw text.unexpected("the end of the file after its one value")
    }
  }

  // MARK: The beginning

  private mutating func begin() throws(ImportError) {
    guard path.isEmpty else { return try beginAtMember() }
    switch shape {
    case .automatic: try beginAutomatically()
    case .array: try begin(.array)
    case .keyed: try begin(.keyed)
    case .lines:
      try text.requirePlainUTF8()
      beginLines()
    case .sequence:
      try text.requirePlainUTF8()
      stage = .inSequence
    }
  }

  private mutating func begin(_ shape: JSONShape) throws(ImportError) {
    try text.requirePlainUTF8()
    let bracket = shape == .array ? UInt8(ascii: "[") : UInt8(ascii: "{")
    try skipToValue()
    guard try text.peek() == bracket else {
      throw try shapeError(
        "`\(Unicode.Scalar(bracket))`, with which a file of shape \(shape) begins")
    }
    text.next += 1
    self.shape = shape
    stage = .opened
    keys.open()
  }

  private mutating func beginLines() {
    shape = .lines
    stage = .atLine
    text.linesAreSignificant = true
    text.boundLine(byteCount: limits.lineByteCount)
  }

  private mutating func beginAutomatically() throws(ImportError) {
    try text.requirePlainUTF8()
    switch try text.significantByte() {
    case UInt8(ascii: "["): try begin(.array)
    case UInt8(ascii: "{"): try beginObject()
    // Lines are no lines where there are none, such as what an export writes that selects nothing.
    case nil where !formatName(of: file).hasSuffix(".json"): beginLines()
    default: throw text.unexpected("`[` or `{`")
    }
  }

  /// Tells a keyed file from a first line by the value of the first member, or of another one in this line.
  private mutating func beginObject() throws(ImportError) {
    shape = .keyed
    // Once more behind white space, as before an array.
    try text.requirePlainUTF8()
    text.keep()
    // White space without end must not fill the memory.
    text.boundDocument(byteCount: max(limits.documentByteCount, 64 << 20))
    // As long as it may be what is around all documents.
    (scanner.mostContainers, scanner.mostMembers) = (1, .max)
    scanner.begin()
    try scan(stopsAtName: true)
    (scanner.mostContainers, scanner.mostMembers) = (limits.depth, limits.memberCount)
    text.unbound()
    guard scanner.state != .end else {
      text.release()
      return try finish()
    }
    try skipColon()
    if try text.significantByte() == UInt8(ascii: "{") {
      if try isAtFirstLine() {
        // From its beginning, as any other line.
        text.next = text.start
        return beginLines()
      }
      keys.open()
      try takeKey(scanner.tape.entries[1])
      stage = .atFirstKeyed
      return
    }
    guard text.position.line == text.position(of: text.start).line else {
      throw text.error(
        .shape, at: text.position(of: text.start),
        found: "an object in several lines whose first member is no object",
        expected: "documents in an array, under keys, or one in each line")
    }
    beginLines()
    stage = .inFirstLine
  }

  // MARK: Documents

  /// The next document of an array, or with its key that of a keyed file.
  private mutating func enclosedDocument() throws(ImportError) -> Bool {
    let end = shape == .array ? UInt8(ascii: "]") : UInt8(ascii: "}")
    var byte = try text.significantByte()
    if byte == end {
      text.next += 1
      try leaveMembers()
      try finish()
      return false
    }
    if stage == .afterDocument {
      guard byte == UInt8(ascii: ",") else {
        throw text.unexpected(shape == .array ? "`,` or `]`" : "`,` or `}`")
      }
      text.next += 1
      byte = try text.significantByte()
    }
    if shape == .keyed { try name() }
    try root()
    return true
  }

  mutating func skipColon() throws(ImportError) {
    guard try text.significantByte() == UInt8(ascii: ":") else { throw text.unexpected("`:`") }
    text.next += 1
  }

  mutating func takeKey(_ entry: JSONTape.Entry) throws(ImportError) {
    let bytes = withBytes(of: entry) { Array($0) }
    key = String(decoding: bytes, as: UTF8.self)
    guard bytes.withUnsafeBufferPointer({ keys.insert(NameFingerprint($0)) }) else {
      throw text.error(
        .duplicateKey, at: text.position(of: text.start + entry.offset),
        found: "a second \(quoted(key ?? "")) in one object", expected: "each name once")
    }
  }

  /// The document that comes next in an array or behind a key.
  private mutating func root() throws(ImportError) {
    try skipToValue()
    if try text.peek() == UInt8(ascii: "{"), limits.depth > 0 {
      text.boundDocument(byteCount: limits.documentByteCount)
    }
    try requireObject()
    text.keep()
    scanner.begin()
    try scan()
    text.unbound()
    stage = .afterDocument
  }

  private mutating func documentInSequence() throws(ImportError) -> Bool {
    guard try text.significantByte() != nil else {
      try finish()
      return false
    }
    try root()
    stage = .inSequence
    return true
  }

  private mutating func line() throws(ImportError) -> Bool {
    while let byte = try text.significantByte() {
      guard byte == 0x0A else {
        try requireObject()
        text.keep()
        scanner.begin()
        try scan()
        try endLine()
        return true
      }
      text.endLine()
      text.boundLine(byteCount: limits.lineByteCount)
    }
    try finish()
    return false
  }

  /// Makes sure that nothing follows in the line.
  private mutating func endLine() throws(ImportError) {
    stage = .atLine
    guard let byte = try text.significantByte() else { return }
    guard byte == 0x0A else { throw text.unexpected("the end of the line after its document") }
  }

  /// Makes sure that nothing follows.
  private mutating func finish() throws(ImportError) {
    if shape != .lines {
      guard try text.significantByte() == nil else {
        throw text.unexpected("the end of the file after its one value")
      }
    }
    stage = .afterLast
  }

  // MARK: Values

  mutating func skipToValue() throws(ImportError) {
    guard try text.significantByte() != nil else { throw text.unexpected("a value") }
  }

  /// Makes sure that an object comes next; what else is there is refused for itself, if it can be.
  private mutating func requireObject() throws(ImportError) {
    guard try text.peek() != UInt8(ascii: "{") else { return }
    throw try shapeError("an object, for each document is one")
  }

  /// The refusal of the value that comes next, or the error that is in it.
  mutating func shapeError(_ expected: String) throws(ImportError) -> ImportError {
    text.keep()
    let byte = try text.peek()
    let found: String
    switch byte {
    case UInt8(ascii: "["), UInt8(ascii: "{"):
      if limits.depth == 0, stage != .beforeFirst {
        throw text.error(.tooDeep, at: 0, limits)
      }
      found = byte == UInt8(ascii: "[") ? "an array" : "an object"
    default:
      scanner.begin()
      try scan()
      found = value(at: 0).phrase
    }
    return text.error(
      .shape, at: text.position(of: text.start), found: found, expected: expected)
  }

  // MARK: Scanning

  /// Scans up to the end of what the scanner has begun.
  mutating func scan(stopsAtName: Bool = false) throws(ImportError) {
    var isFinal = false
    while true {
      let outcome = scanner.scan(
        UnsafePointer(text.bytes.base + text.start), to: text.end - text.start, isFinal: isFinal,
        linesEnd: text.linesAreSignificant, stopsAtName: stopsAtName)
      text.next = text.start + scanner.next
      switch outcome {
      case .done: return
      case .cut:
        // A long token is scanned from its beginning again: only when twice as much is there.
        isFinal = !(try text.more(text.end - text.next))
      case .fault(let fault):
        let name = fault == .duplicateName ? latestName : ""
        throw text.error(fault, at: scanner.next, limits, name: name)
      }
    }
  }

  /// The name that was scanned last, for the refusal of it.
  private var latestName: String {
    let last = scanner.tape.entries.count - 1
    return last < 0 ? "" : string(at: last)
  }
}
