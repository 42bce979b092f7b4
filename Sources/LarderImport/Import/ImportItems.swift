internal import Larder

/// One document of a file and where its parts stand, whatever the format.
struct ImportItem {
  let document: DynamicDocument
  private let origin: Origin

  private enum Origin {
    case json(JSONDocument)
    case row(CSVRow)
  }

  init(_ document: DynamicDocument, of json: JSONDocument) {
    self.document = document
    origin = .json(json)
  }

  init(_ document: DynamicDocument, of row: CSVRow) {
    self.document = document
    origin = .row(row)
  }

  /// Where the document begins.
  var position: TextPosition {
    switch origin {
    case .json(let document): document.position
    case .row(let row): row.position
    }
  }

  /// Where the value of a field stands, or the array that it is in, and what it is as the file has it; nil where
  /// the document lacks the field. The phrase is nil for an element of an array, and for what holds others.
  ///
  /// - Parameter field: Names and places in arrays, from the outermost on, between dots.
  func place(of field: String) -> (position: TextPosition, phrase: String?)? {
    switch origin {
    case .json(let document):
      document.member(at: field).map { found in
        (found.member.position, found.isWhole ? found.member.value.shortPhrase : nil)
      }
    case .row(let row): row.position(of: field).map { ($0, nil) }
    }
  }
}

/// The documents of a file, one at a time, whatever the format.
struct ImportItems: ~Copyable {
  // One of the two.
  private var json: JSONReader?
  private var csv: CSVDocuments?
  private var conversion: DocumentConversion?
  private let makesKeys: Bool
  /// Whether ``tape`` is asked for at all.
  let isDirect = ImportPath.isDirect

  init(_ documents: consuming JSONReader, _ conversion: DocumentConversion) {
    json = consume documents
    self.conversion = conversion
    makesKeys = conversion.makesKeys
  }

  init(_ documents: consuming CSVDocuments, makesKeys: Bool) {
    csv = consume documents
    self.makesKeys = makesKeys
  }

  /// How many bytes of the file have been read.
  private(set) var consumedByteCount = 0

  /// Whether each document has a line of its own.
  var areLines: Bool { mutating get { json?.shape == .lines } }

  /// Leaves the documents that were not read yet to others; nil, and nothing is left, where they have no lines of
  /// their own.
  mutating func leaveParts(_ limit: LineParts.Limit) -> LineParts? { json?.leaveParts(limit) }

  /// Goes on with the documents of a part.
  mutating func begin(_ part: LinePart) { json?.begin(part) }

  /// Reads the next document; false behind the last.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read.
  mutating func advance() throws(ImportError) -> Bool {
    if conversion == nil {
      guard try csv?.advance() == true else { return false }
      if let count = csv?.consumedByteCount { consumedByteCount = count }
      return true
    }
    guard try json?.next() == true else { return false }
    if makesKeys, let key = json?.key { throw keyIsLost(key) }
    if let count = json?.consumedByteCount { consumedByteCount = count }
    return true
  }

  private mutating func keyIsLost(_ key: String) -> ImportError {
    var error = ImportError(
      .value, file: conversion?.file ?? "", position: json?.position,
      found: "a document under the key \(quoted(key))",
      expected: "documents without keys of their own, as keys are made for them")
    error.reason = .outerKey
    return error
  }

  /// Whether columns have turned out to be of other kinds than was guessed.
  var isWrong: Bool { mutating get { csv?.isWrong == true } }

  /// The latest document as it was read, until the next one is; nil for one that only ``item()`` has.
  var tape: DocumentTape? {
    mutating get {
      guard isDirect else { return nil }
      return conversion == nil ? csv?.tape : json?.tape
    }
  }

  /// The key of the latest document where it lacks the key field.
  var outsideKey: OutsideKey {
    mutating get {
      if makesKeys { return .made(.timeOrdered()) }
      guard let key = json?.key else { return .none }
      return .text(key)
    }
  }

  /// Where the latest document begins.
  var position: TextPosition {
    mutating get {
      if conversion == nil { return csv?.position ?? .start }
      return json?.position ?? .start
    }
  }

  /// The latest document by the names of its fields.
  ///
  /// - Throws: ``ImportError`` for one that is refused.
  mutating func item() throws(ImportError) -> ImportItem {
    guard var conversion else {
      guard let read = try csv?.document() else { preconditionFailure("a row was read") }
      return ImportItem(read.document, of: read.row)
    }
    guard let read = json?.document() else { preconditionFailure("a document was read") }
    let document = try conversion.document(read)
    if conversion.keyKind == nil {
      // The first document tells how the keys that others stand under are meant.
      conversion.keyKind = KeyKind(of: document[conversion.keyField])
      self.conversion = conversion
    }
    return ImportItem(document, of: read)
  }

  /// The next document by the names of its fields, or nil behind the last.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read.
  mutating func next() throws(ImportError) -> ImportItem? {
    try advance() ? try item() : nil
  }
}

/// How documents become records.
enum ImportPath {
  /// What holds: from the text, where that is possible. A test compares it with the way by the names of
  /// fields, which all others take.
  @TaskLocal static var isDirect = true

  /// Rows of a table whose kinds are taken for those of all rows until one shows others. A test takes
  /// fewer.
  @TaskLocal static var guessRowCount = 1_000

  /// Bytes of records that the first reading keeps at most. With more, nothing is kept, and the whole file
  /// is read again. A test takes others.
  @TaskLocal static var keptByteCount = 16 << 20

  /// Bytes of the steps in which the first reading goes on, and of the parts of a file that several threads
  /// read. A test takes others.
  @TaskLocal static var stepByteCount = 1 << 20

  /// Bytes of a file from which on several threads read it, if its documents have lines of their own.
  static var dividedByteCount: Int { 4 * stepByteCount }

  /// Bytes of a file from which on it is read on another thread than it is saved on: a smaller one is
  /// saved before that thread would have begun. A test takes others.
  @TaskLocal static var aheadByteCount = 1 << 20
}
