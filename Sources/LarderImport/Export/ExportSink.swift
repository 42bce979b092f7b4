/// The file of an export: what stands before the first document, texts of documents, and what stands behind
/// the last.
// Guard: several threads may write, each in its turn; see ``ExportRun``.
final class ExportSink: @unchecked Sendable {
  private var file: ExportFile
  private let format: ExportFormat
  private var hasDocuments = false

  /// - Throws: ``ExportError``.
  init(_ target: ExportTarget, _ form: ExportForm) throws(ExportError) {
    file = try ExportFile(target, onTemporaryFile: form.options.onTemporaryFile)
    format = form.format
    if format == .csv { try file.write(form.table().bytes) }
  }

  /// - Parameter text: Of documents, as ``ExportText`` makes it.
  /// - Throws: ``ExportError``.
  func write(_ text: UnsafeRawBufferPointer) throws(ExportError) {
    guard format == .json, !hasDocuments, text.count >= 2 else { return try file.write(text) }
    hasDocuments = true
    // In place of the comma.
    try file.write([UInt8]("[\n".utf8))
    try file.write(UnsafeRawBufferPointer(rebasing: text.dropFirst(2)))
  }

  /// - Parameter text: Of documents, as ``ExportText`` makes it.
  /// - Throws: ``ExportError``.
  func write(_ text: [UInt8]) throws(ExportError) {
    let result: Result<Void, ExportError> = text.withUnsafeBytes { bytes in
      Result { () throws(ExportError) in try write(bytes) }
    }
    try result.get()
  }

  /// - Returns: How many bytes were written.
  /// - Throws: ``ExportError``; a file that was there is as it was.
  func finish() throws(ExportError) -> Int {
    if format == .json { try file.write([UInt8]((hasDocuments ? "\n]\n" : "[]\n").utf8)) }
    try file.finish()
    return file.byteCount
  }
}
