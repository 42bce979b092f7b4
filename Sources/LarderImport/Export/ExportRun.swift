internal import Larder

/// One export: documents in, bytes out.
struct ExportRun: ~Copyable {
  private var file: ExportFile
  /// Nil for JSON.
  private var csv: CSVOutput?
  private var json = JSONOutput()
  /// In place of both where nothing is left out and no value needs a tag.
  private var records = RecordOutput()
  private var rows: RecordRows?
  private let isDirect: Bool
  private let format: ExportFormat
  private let fields: [FieldPath]?
  /// What the catalogue knows of the documents, if there may be values of any kind in them.
  private let place: FieldPlace?
  private let progress: (StoreProgress) throws -> Void
  private var documentCount = 0

  /// What is gathered before it is written.
  private static let chunkByteCount = 64 << 10

  /// - Parameters:
  ///   - fieldNames: The fields of the documents, for a table.
  ///   - place: What the catalogue knows of the documents.
  /// - Throws: ``ExportError``.
  init(
    _ format: ExportFormat, to target: ExportTarget, _ options: ExportOptions,
    fieldNames: [String], _ place: FieldPlace?, progress: @escaping (StoreProgress) throws -> Void
  ) throws(ExportError) {
    file = try ExportFile(target)
    self.format = format
    fields = options.fields
    self.place = place?.holdsAny == true ? place : nil
    self.progress = progress
    let isForTerminal = format == .csv && options.isForTerminal
    isDirect = options.fields == nil && self.place == nil && !isForTerminal
    guard format == .csv else { return }
    let output = CSVOutput(options.fields ?? fieldNames.map(FieldPath.init(field:)), place, options)
    if isDirect { rows = RecordRows(output) } else { csv = output }
  }

  /// - Throws: ``ExportError``; `CancellationError`; what `progress` throws; `RecordError` for a
  ///   damaged record.
  mutating func add(_ record: borrowing RecordReader) throws {
    if isDirect {
      try addDirectly(record)
    } else {
      let document = try record.dynamicDocument()
      csv?.write(document)
      if csv == nil { addJSON(document) }
    }
    documentCount += 1
    let byteCount =
      isDirect ? rows?.byteCount ?? records.byteCount : csv?.bytes.count ?? json.bytes.count
    if byteCount >= Self.chunkByteCount { try flush() }
    if documentCount.isMultiple(of: 1_000) {
      try StoreProgress(
        .exporting, completed: documentCount, total: nil, documentCount: documentCount
      ).tell(progress)
    }
  }

  private mutating func addDirectly(_ record: borrowing RecordReader) throws(RecordError) {
    if format == .csv {
      try rows?.write(record)
      return
    }
    if format == .json { records.put(documentCount == 0 ? "[\n" : ",\n") }
    try records.write(record)
    if format == .ndjson { records.put("\n") }
  }

  private mutating func addJSON(_ document: DynamicDocument) {
    if format == .json { json.put(documentCount == 0 ? "[\n" : ",\n") }
    json.write(fields.map(document.only) ?? document, in: place)
    if format == .ndjson { json.put("\n") }
  }

  private mutating func flush() throws(ExportError) {
    if isDirect {
      try file.write(rows?.bytes ?? records.bytes)
      rows?.removeAll()
      return records.removeAll()
    }
    try file.write(csv?.bytes ?? json.bytes)
    csv?.removeAll()
    json.removeAll()
  }

  /// - Throws: ``ExportError``; a file that was there is as it was.
  mutating func finish() throws(ExportError) -> ExportReport {
    if format == .json, isDirect {
      records.put(documentCount == 0 ? "[]\n" : "\n]\n")
    } else if format == .json {
      json.put(documentCount == 0 ? "[]\n" : "\n]\n")
    }
    try flush()
    try file.finish()
    return ExportReport(documentCount: documentCount, byteCount: file.byteCount)
  }
}
