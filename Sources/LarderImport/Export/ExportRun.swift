internal import Larder

/// One export: documents in, bytes out.
struct ExportRun: ~Copyable {
  private var file: ExportFile
  /// Nil for JSON.
  private var csv: CSVOutput?
  private var json = JSONOutput()
  private let format: ExportFormat
  private let fields: [FieldPath]?
  /// What the catalogue knows of the documents, if there may be values of any kind in them.
  private let place: FieldPlace?
  private let progress: (Int) -> Bool
  private var documentCount = 0

  /// What is gathered before it is written.
  private static let chunkByteCount = 64 << 10

  /// - Parameters:
  ///   - fieldNames: The fields of the documents, for a table.
  ///   - place: What the catalogue knows of the documents.
  /// - Throws: ``ExportError``.
  init(
    _ format: ExportFormat, to target: ExportTarget, _ options: ExportOptions,
    fieldNames: [String], _ place: FieldPlace?, progress: @escaping (Int) -> Bool
  ) throws(ExportError) {
    file = try ExportFile(target)
    self.format = format
    fields = options.fields
    self.place = place?.holdsAny == true ? place : nil
    self.progress = progress
    guard format == .csv else { return }
    csv = CSVOutput(options.fields ?? fieldNames.map(FieldPath.init(field:)), place, options)
  }

  /// - Throws: ``ExportError``; `CancellationError`.
  mutating func add(_ document: DynamicDocument) throws {
    csv?.write(document)
    if csv == nil { addJSON(document) }
    documentCount += 1
    if csv?.bytes.count ?? json.bytes.count >= Self.chunkByteCount { try flush() }
    if documentCount.isMultiple(of: 1_000), Task.isCancelled || !progress(documentCount) {
      throw CancellationError()
    }
  }

  private mutating func addJSON(_ document: DynamicDocument) {
    if format == .json { json.put(documentCount == 0 ? "[\n" : ",\n") }
    json.write(fields.map(document.only) ?? document, in: place)
    if format == .ndjson { json.put("\n") }
  }

  private mutating func flush() throws(ExportError) {
    try file.write(csv?.bytes ?? json.bytes)
    csv?.removeAll()
    json.removeAll()
  }

  /// - Throws: ``ExportError``; a file that was there is as it was.
  mutating func finish() throws(ExportError) -> ExportReport {
    if format == .json { json.put(documentCount == 0 ? "[]\n" : "\n]\n") }
    try flush()
    try file.finish()
    return ExportReport(documentCount: documentCount, byteCount: file.byteCount)
  }
}
