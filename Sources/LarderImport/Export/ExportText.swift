internal import Larder

/// What all texts of one export have in common.
struct ExportForm: Sendable {
  let format: ExportFormat
  let options: ExportOptions
  /// What the catalogue knows of the documents.
  private let place: FieldPlace?
  /// The fields of the documents, for a table.
  private let fieldNames: [String]

  init(
    _ format: ExportFormat, _ options: ExportOptions, fieldNames: [String], _ place: FieldPlace?
  ) {
    self.format = format
    self.options = options
    self.fieldNames = fieldNames
    self.place = place
  }

  /// The same, if there may be values of any kind in the documents.
  var tagged: FieldPlace? { place?.holdsAny == true ? place : nil }

  /// Whether nothing is left out and no value needs a tag, so that records become text as they are.
  var isDirect: Bool {
    options.fields == nil && tagged == nil && !(format == .csv && options.isForTerminal)
  }

  /// A table that has its header and nothing else.
  func table() -> CSVOutput {
    CSVOutput(options.fields ?? fieldNames.map(FieldPath.init(field:)), place, options)
  }
}

/// Documents as the text of an export, without what stands before the first and behind the last. In JSON
/// there is a comma before each.
struct ExportText: ~Copyable {
  private let form: ExportForm
  private let place: FieldPlace?
  private let isDirect: Bool
  /// Nil for JSON.
  private var csv: CSVOutput?
  private var json = JSONOutput()
  /// In place of both where records become text as they are.
  private var records = RecordOutput()
  private var rows: RecordRows?

  init(_ form: ExportForm) {
    self.form = form
    place = form.tagged
    isDirect = form.isDirect
    guard form.format == .csv else { return }
    var table = form.table()
    table.removeAll()
    if isDirect { rows = RecordRows(table) } else { csv = table }
  }

  var byteCount: Int {
    // Mutating, as an optional that cannot be copied is not looked into otherwise.
    mutating get {
      isDirect ? rows?.byteCount ?? records.byteCount : csv?.bytes.count ?? json.bytes.count
    }
  }

  /// - Throws: `RecordError` for a damaged record.
  mutating func add(_ record: borrowing RecordReader) throws(RecordError) {
    guard !isDirect else { return try addDirectly(record) }
    let document = try record.dynamicDocument()
    csv?.write(document)
    if csv != nil { return }
    if form.format == .json { json.put(",\n") }
    json.write(form.options.fields.map(document.only) ?? document, in: place)
    if form.format == .ndjson { json.put("\n") }
  }

  private mutating func addDirectly(_ record: borrowing RecordReader) throws(RecordError) {
    if form.format == .csv {
      try rows?.write(record)
      return
    }
    if form.format == .json { records.put(",\n") }
    try records.write(record)
    if form.format == .ndjson { records.put("\n") }
  }

  /// Puts the text into a file, and forgets it.
  ///
  /// - Throws: ``ExportError``.
  mutating func move(to sink: ExportSink) throws(ExportError) {
    if isDirect {
      try sink.write(rows?.bytes ?? records.bytes)
      rows?.removeAll()
      return records.removeAll()
    }
    try sink.write(csv?.bytes ?? json.bytes)
    csv?.removeAll()
    json.removeAll()
  }
}
