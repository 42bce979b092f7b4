internal import Larder

/// The columns of a CSV file: where in a document each belongs, and what its fields hold.
struct CSVTable: Sendable {
  let file: String
  let columns: [CSVColumn]
  /// The fields of a document, in the order of their first columns.
  let fields: [CSVField]
  /// Whether rows were read to find kinds.
  let isInferred: Bool
  /// What the rows that were read show, where there are more of them; nil where the kinds are certain.
  private(set) var guess: CSVGuess?
  let options: CSVOptions
  let jsonLimits: JSONLimits
  let rules: KindRules?
  let makesKeys: Bool
  let keyField: String
  private let delimiter: CSVDelimiter

  /// Finds the columns; reads the file where only that tells a column's kind.
  ///
  /// - Parameters:
  ///   - mostRows: How many rows are looked at before their kinds are taken for those of all.
  ///   - progress: Told now and then how many bytes and rows have been read; what it throws ends the
  ///     reading.
  /// - Throws: ``ImportError``; what `progress` throws.
  init(
    _ source: consuming ByteSource, _ options: ImportOptions, _ rehearsal: SaveRehearsal,
    mostRows: Int = .max, progress: (_ byteCount: Int, _ rowCount: Int) throws -> Void
  ) throws {
    file = source.name
    self.options = options.csv
    jsonLimits = options.limits
    rules = options.rules(isTable: true)
    makesKeys = options.makesKeys
    keyField = rehearsal.keyField
    delimiter =
      options.csv.delimiter ?? (formatName(of: file).hasSuffix(".tsv") ? .tab : .comma)
    var reader = CSVReader(
      source, delimiter: delimiter, columnCount: self.options.columns?.count,
      limits: self.options.limits, takesEmptyLines: makesKeys)
    let header = try CSVHeader(
      self.options, options.types, &reader, place: rehearsal.shape.place,
      keyField: rehearsal.keyField)
    try header.require(rehearsal.keyField, isMade: options.makesKeys)
    var guess = CSVGuess(header, options, keyField: rehearsal.keyField)
    isInferred = !guess.isEmpty
    var (rowCount, isAtEnd) = (0, guess.isEmpty)
    while !isAtEnd, rowCount < mostRows {
      guard try reader.next() else {
        isAtEnd = true
        break
      }
      rowCount += 1
      guess.add(reader)
      if rowCount.isMultiple(of: 1_000) {
        try progress(reader.text.source.consumedByteCount, rowCount)
      }
    }
    columns = header.columns.enumerated().map { index, column in
      CSVColumn(
        name: column.name, path: column.path,
        notation: CSVNotation(
          options.types[column.name], column.place, inferred: guess.kind(of: index),
          allowsMixed: options.allowsMixedKinds && column.path.names != [rehearsal.keyField]))
    }
    fields = header.fields
    self.guess = isAtEnd ? nil : guess
  }

  /// Whether among the keys there are integers above `Int64.max`.
  var hasUnsignedKeys: Bool {
    columns.contains { $0.path.names == [keyField] && $0.notation.kind == .integer(.uint64) }
  }

  /// Takes what was guessed for certain: all rows have shown the same.
  mutating func confirm() { guess = nil }

  /// The documents of the file, from its beginning.
  ///
  /// - Parameter isRehearsal: Whether they only show what their fields hold.
  func documents(
    _ source: consuming ByteSource, isRehearsal: Bool
  ) throws(ImportError) -> CSVDocuments {
    var reader = CSVReader(
      source, delimiter: delimiter, columnCount: options.columns?.count, limits: options.limits,
      takesEmptyLines: makesKeys)
    if options.columns == nil { _ = try reader.next() }
    return CSVDocuments(reader, self, isRehearsal: isRehearsal)
  }
}

/// One column of a CSV file.
struct CSVColumn: Sendable {
  let name: String
  let path: FieldPath
  let notation: CSVNotation
}

/// A field of a document, and the columns that it comes from.
struct CSVField: Sendable {
  let name: String
  let content: Content

  enum Content: Sendable {
    case column(Int)
    case document(Document)
  }

  /// An embedded document in several columns.
  struct Document: Sendable {
    let fields: [CSVField]
    /// All columns in it, however deep.
    let columns: [Int]
    let allowsNil: Bool
  }
}
