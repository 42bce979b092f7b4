internal import Larder

/// The documents of a CSV file, one at a time.
struct CSVDocuments: ~Copyable, Sendable {
  private(set) var reader: CSVReader
  private let table: CSVTable
  private let conversion: DocumentConversion
  private var tapes: CSVTape
  /// Whether ``tapes`` has the latest row; nil where nobody has tried yet.
  private var isOnTape: Bool?
  private var guess: CSVGuess?

  /// - Parameter reader: Behind the header.
  init(_ reader: consuming CSVReader, _ table: CSVTable, isRehearsal: Bool) {
    self.reader = reader
    self.table = table
    conversion = DocumentConversion(
      file: table.file, keyField: "", keyKind: nil, place: nil, isRehearsal: isRehearsal)
    tapes = CSVTape(table)
    guess = table.guess
    self.reader.keep(names: tapes.names)
  }

  /// How many bytes of the file have been read.
  var consumedByteCount: Int { reader.text.source.consumedByteCount }

  /// Reads the next row; false behind the last.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read.
  mutating func advance() throws(ImportError) -> Bool {
    isOnTape = nil
    guard try reader.next() else { return false }
    if guess != nil {
      // It need not look again at what has been read for the tape.
      isOnTape = tapes.take(&reader)
      if guess?.add(reader) == true { isWrong = true }
    }
    return true
  }

  /// Whether the rows so far show other kinds of columns than was guessed.
  private(set) var isWrong = false

  /// The latest row as an object, until the next one is read; nil for one that has a value which only
  /// ``item()`` knows, or that is refused.
  var tape: DocumentTape? {
    mutating get {
      let isTaken = isOnTape ?? tapes.take(&reader)
      isOnTape = isTaken
      return isTaken ? tapes.tape(of: reader) : nil
    }
  }

  /// Where the latest row begins.
  var position: TextPosition { reader.position }

  /// The latest row as a document, and where its values stand.
  ///
  /// - Throws: ``ImportError`` for one that is refused.
  mutating func document() throws(ImportError) -> (document: DynamicDocument, row: CSVRow) {
    var fields = try fields(table.fields)
    if table.makesKeys {
      fields.insert(DynamicDocument.Field(table.keyField, .uuid(.timeOrdered())), at: 0)
    }
    let document = DynamicDocument(uniqueFields: fields)
    return (document, CSVRow(positions: reader.positions(), columns: table.columns))
  }

  /// The values of the fields, without those that are missing.
  private func fields(_ fields: [CSVField]) throws(ImportError) -> [DynamicDocument.Field] {
    var result: [DynamicDocument.Field] = []
    result.reserveCapacity(fields.count)
    for field in fields {
      guard let value = try value(of: field) else { continue }
      result.append(DynamicDocument.Field(field.name, value))
    }
    return result
  }

  private func value(of field: CSVField) throws(ImportError) -> Value? {
    switch field.content {
    case .column(let index): return try value(of: index)
    case .document(let document):
      if isNothing(document) {
        for index in document.columns where !isMissing(index) { return .null }
        return nil
      }
      return .document(DynamicDocument(uniqueFields: try fields(document.fields)))
    }
  }

  /// Whether an embedded document is nil or missing: no column says anything of it.
  private func isNothing(_ document: CSVField.Document) -> Bool {
    var isMissing = true
    for index in document.columns where !self.isMissing(index) {
      guard reader.cells[index].isNil else { return false }
      isMissing = false
    }
    return document.allowsNil || isMissing
  }

  private func isMissing(_ index: Int) -> Bool {
    reader.isMissing(index)
  }

  /// The value in a column; nil where the document lacks it.
  private func value(of index: Int) throws(ImportError) -> Value? {
    let notation = table.columns[index].notation
    if isMissing(index) { return nil }
    if reader.cells[index].isNil {
      switch notation.empty {
      case .null: return .null
      case .text: return .string("")
      case .missing: return nil
      case .refused: throw refused(index)
      }
    }
    if notation.isJSON { return try json(index) }
    let isQuoted = reader.cells[index].isQuoted
    guard let value = reader.withCell(index, { notation.value($0, isQuoted: isQuoted) }) else {
      throw refused(index)
    }
    return value
  }

  private func json(_ index: Int) throws(ImportError) -> Value {
    let column = table.columns[index]
    let bytes = reader.withCell(index) { Array($0) }
    let position = reader.position(of: index)
    let value: JSONValue
    do {
      value = try JSONValue(
        readingFrom: ByteSource(bytes: bytes, name: table.file), limits: table.jsonLimits)
    } catch {
      let place = error.position.map { " at \($0) of the field" } ?? ""
      throw ImportError(
        error.kind, file: table.file, position: position,
        found: "\(error.found)\(place) in \(quoted(column.name)), which holds JSON",
        expected: error.expected)
    }
    let rules = column.path.names.reduce(table.rules) { $0?.member($1) }
    return try conversion.value(value, column.notation.place, rules, at: position)
  }

  @inline(never)
  private func refused(_ index: Int) -> ImportError {
    let column = table.columns[index]
    let text = reader.withCell(index) { String(decoding: $0, as: UTF8.self) }
    return ImportError(
      .value, file: table.file, position: reader.position(of: index),
      found: "\(text.isEmpty ? "an empty field" : quoted(text)) in \(quoted(column.name))",
      expected: column.notation.expectation
        + (column.notation.isFixed
          ? "" : "; or that the field may hold any kind (`allowsMixedKinds`, `--mixed`)"))
  }
}

/// Where the fields of a row stand.
struct CSVRow {
  fileprivate let positions: [TextPosition]
  fileprivate let columns: [CSVColumn]

  /// Where the row begins.
  var position: TextPosition { positions.first ?? .start }

  /// Where the column stands that holds a field, or holds most of the way to it.
  ///
  /// - Parameter field: Names and places in arrays, from the outermost on, between dots.
  func position(of field: String) -> TextPosition? {
    var nearest: (length: Int, position: TextPosition)?
    for (column, position) in zip(columns, positions) {
      let path = column.path.names.joined(separator: ".")
      guard path == field || field.hasPrefix(path + ".") || path.hasPrefix(field + ".") else {
        continue
      }
      if path.utf8.count > nearest?.length ?? -1 { nearest = (path.utf8.count, position) }
    }
    return nearest?.position
  }
}
