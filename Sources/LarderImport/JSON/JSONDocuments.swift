/// One document of an import.
package struct JSONDocument: Equatable, Sendable {
  /// The key that a keyed file gives the document; `nil` in the other shapes.
  package var key: String?

  /// The members in file order.
  package var members: [JSONMember]

  /// Where the document's `{` stands.
  package var position: TextPosition
}

/// The documents of a file, one at a time, in whichever ``JSONShape`` it has.
///
/// Memory holds one document and one chunk of the file. Only a keyed file costs more, about 40
/// bytes for each key, to refuse a key that stands twice.
package struct JSONDocuments: ~Copyable, Sendable {
  /// The shape of the file; ``JSONShape/automatic`` until the first document is asked for.
  package private(set) var shape: JSONShape

  private var reader: JSONReader
  private var stage = Stage.beforeFirst
  private var failure: ImportError?

  private enum Stage {
    case beforeFirst
    case inArray, inObject
    /// Behind the `:` of the first key, which is already read.
    case atFirstKeyed(key: String)
    /// Behind the first name of an object that has turned out to be a line.
    case inFirstLine(name: String, position: TextPosition)
    case atLine
    case afterLast
  }

  /// The documents of `source`; nothing is read yet.
  package init(
    _ source: consuming ByteSource, shape: JSONShape = .automatic,
    limits: JSONLimits = JSONLimits()
  ) {
    reader = JSONReader(source, limits: limits)
    self.shape = shape == .automatic ? JSONShape.named(by: reader.file) ?? shape : shape
  }

  /// What errors call the source, for errors about what its documents hold.
  package var file: String { reader.file }

  /// How many bytes the source has handed out; for progress.
  package var consumedByteCount: Int { reader.consumedByteCount }

  /// How many bytes the source has in all; `nil` when only the end will tell.
  package var totalByteCount: Int? { reader.totalByteCount }

  /// The next document, or `nil` behind the last when nothing else follows.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read. Documents that were
  ///   given before stay good; every further call throws the same error.
  package mutating func next() throws(ImportError) -> JSONDocument? {
    if let failure { throw failure }
    do {
      if case .beforeFirst = stage { try begin() }
      return try document()
    } catch {
      failure = error
      throw error
    }
  }

  private mutating func document() throws(ImportError) -> JSONDocument? {
    switch stage {
    case .beforeFirst, .afterLast:
      return nil
    case .inArray:
      guard let event = try reader.next(), event != .endArray else { return try finish() }
      return try document(beginningWith: event)
    case .inObject:
      guard case .name(let key) = try reader.next() else { return try finish() }
      return try document(beginningWith: try reader.next(), key: key)
    case .atFirstKeyed(let key):
      stage = .inObject
      return try document(beginningWith: try reader.next(), key: key)
    case .inFirstLine(let name, let position):
      let first = try reader.member(named: name)
      return try line(members: try reader.members(after: [first]), position)
    case .atLine:
      guard try reader.beginLine() else { return try finish() }
      let position = try beginDocument(try reader.next())
      return try line(members: try reader.members(), position)
    }
  }

  // MARK: The beginning

  private mutating func begin() throws(ImportError) {
    switch shape {
    case .automatic: try beginAutomatically()
    case .array: try begin(.array, with: .beginArray, "`[`")
    case .keyed: try begin(.keyed, with: .beginObject, "`{`")
    case .lines:
      try reader.text.requirePlainUTF8()
      beginLines()
    }
  }

  private mutating func begin(
    _ shape: JSONShape, with bracket: JSONEvent, _ spelling: String
  ) throws(ImportError) {
    reader.rootIsUnlimited = true
    reader.mostContainers += 1
    let event = try reader.next()
    guard event == bracket else {
      throw shapeError(
        phrase(event), expected: "\(spelling), with which a file of shape \(shape) begins")
    }
    self.shape = shape
    stage = shape == .array ? .inArray : .inObject
  }

  private mutating func beginLines() {
    shape = .lines
    stage = .atLine
    reader.text.linesAreSignificant = true
  }

  private mutating func beginAutomatically() throws(ImportError) {
    try reader.text.requirePlainUTF8()
    switch try reader.text.significantByte() {
    case UInt8(ascii: "["): try begin(.array, with: .beginArray, "`[`")
    case UInt8(ascii: "{"): try beginObject()
    default: throw reader.text.unexpected("`[` or `{`")
    }
  }

  /// Tells a keyed file from a first line by the value of the first member.
  private mutating func beginObject() throws(ImportError) {
    try begin(.keyed, with: .beginObject, "`{`")
    let position = reader.position
    guard case .name(let name) = try reader.next() else {
      _ = try finish()
      return
    }
    if try reader.text.significantByte() == UInt8(ascii: "{") {
      stage = .atFirstKeyed(key: name)
      return
    }
    guard reader.text.position.line == position.line else {
      reader.position = position
      throw shapeError(
        "an object in several lines whose first member is no object",
        expected: "documents in an array, under keys, or one in each line")
    }
    reader.rootIsUnlimited = false
    reader.mostContainers -= 1
    reader.text.boundLine(byteCount: reader.limits.lineByteCount)
    beginLines()
    stage = .inFirstLine(name: name, position: position)
  }

  // MARK: Documents

  private mutating func document(
    beginningWith event: JSONEvent?, key: String? = nil
  ) throws(ImportError) -> JSONDocument {
    let position = try beginDocument(event)
    reader.text.boundDocument(
      byteCount: reader.limits.documentByteCount, position: position)
    let members = try reader.members()
    reader.text.unbound()
    return JSONDocument(key: key, members: members, position: position)
  }

  private mutating func line(
    members: [JSONMember], _ position: TextPosition
  ) throws(ImportError) -> JSONDocument {
    try reader.endLine()
    stage = .atLine
    return JSONDocument(key: nil, members: members, position: position)
  }

  /// Makes sure that nothing follows.
  private mutating func finish() throws(ImportError) -> JSONDocument? {
    if shape != .lines { _ = try reader.next() }
    stage = .afterLast
    return nil
  }

  /// Where the document stands that `event`, the latest, begins.
  private func beginDocument(_ event: JSONEvent?) throws(ImportError) -> TextPosition {
    guard event == .beginObject else {
      throw shapeError(phrase(event), expected: "an object, for each document is one")
    }
    return reader.position
  }

  private func phrase(_ event: JSONEvent?) -> String {
    switch event {
    case .scalar(let value): value.phrase
    case .beginArray: "an array"
    default: "an object"
    }
  }

  private func shapeError(_ found: String, expected: String) -> ImportError {
    reader.text.error(.shape, at: reader.position, found: found, expected: expected)
  }
}

extension JSONReader {
  /// Moves over empty lines to the value of the next line that has one; false at the end.
  fileprivate mutating func beginLine() throws(ImportError) -> Bool {
    text.boundLine(byteCount: limits.lineByteCount)
    while let byte = try text.significantByte() {
      guard byte == 0x0A else {
        state = .beforeValue
        return true
      }
      text.endLine()
      text.boundLine(byteCount: limits.lineByteCount)
    }
    return false
  }

  /// Makes sure that nothing follows in the line.
  fileprivate mutating func endLine() throws(ImportError) {
    guard let byte = try text.significantByte() else { return }
    guard byte == 0x0A else { throw text.unexpected("the end of the line after its document") }
  }
}
