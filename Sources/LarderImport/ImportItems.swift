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

  /// Where the value of a field stands, and what it is as the file has it; nil where the document
  /// lacks the field.
  ///
  /// - Parameter field: Names and places in arrays, from the outermost on, between dots.
  func place(of field: String) -> (position: TextPosition, phrase: String?)? {
    switch origin {
    case .json(let document):
      document.member(at: field).map { ($0.position, $0.value.shortPhrase) }
    case .row(let row): row.position(of: field).map { ($0, nil) }
    }
  }
}

/// The documents of a file, one at a time, whatever the format.
struct ImportItems: ~Copyable {
  // One of the two.
  private var json: JSONDocuments?
  private var csv: CSVDocuments?
  private var conversion: DocumentConversion?

  init(_ documents: consuming JSONDocuments, _ conversion: DocumentConversion) {
    json = consume documents
    self.conversion = conversion
  }

  init(_ documents: consuming CSVDocuments) { csv = consume documents }

  /// How many bytes of the file have been read.
  private(set) var consumedByteCount = 0

  /// The next document, or nil behind the last.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read.
  mutating func next() throws(ImportError) -> ImportItem? {
    guard var conversion else {
      defer { if let count = csv?.consumedByteCount { consumedByteCount = count } }
      return try csv?.next()
    }
    guard let read = try json?.next() else { return nil }
    if let count = json?.consumedByteCount { consumedByteCount = count }
    let document = try conversion.document(read)
    if conversion.keyKind == nil {
      // The first document tells how the keys that others stand under are meant.
      conversion.keyKind = KeyKind(of: document[conversion.keyField])
      self.conversion = conversion
    }
    return ImportItem(document, of: read)
  }
}
