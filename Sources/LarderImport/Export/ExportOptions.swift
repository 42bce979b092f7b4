public import Larder

/// What documents are written as.
public enum ExportFormat: String, CaseIterable, Sendable {
  /// A table (RFC 4180) with a header, a row for each document; rows end in LF.
  ///
  /// A column is a field of the document; arrays, sets, dictionaries and embedded documents stand as
  /// JSON in it, and so does an optional inside of an optional, as an array of one. Nil is an empty
  /// field, `\N` a field that the document lacks, `""` empty text. Text is in quotes where an import
  /// could take it for something else. Nothing is put before `=`, `+`, `-` or `@`, with which some
  /// spreadsheets let a formula begin: open what others wrote as text.
  case csv
  /// One array, a line for each document.
  case json
  /// A document in each line.
  case ndjson

  /// The format that a file's name tells by its end, if it does.
  public init?(fileName: String) {
    let name = fileName.lowercased()
    if name.hasSuffix(".csv") || name.hasSuffix(".tsv") {
      self = .csv
    } else if name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl") {
      self = .ndjson
    } else if name.hasSuffix(".json") {
      self = .json
    } else {
      return nil
    }
  }
}

/// How an export goes about its work.
public struct ExportOptions: Sendable {
  /// What stands between two fields of a row of CSV; nil for what an import of the same name takes: a tab in a
  /// file named .tsv, otherwise a comma.
  public var delimiter: CSVDelimiter?

  /// The fields that are written, in this order; nil for all, in the catalogue's order.
  public var fields: [FieldPath]?

  /// Shows what would steer a terminal as U+FFFD, in CSV; JSON escapes control characters anyway, and has marks of
  /// direction as they are.
  package var isForTerminal = false

  /// Told, before it is made, the path of the file that takes the target's name when it is whole: for those who
  /// may have to end the process before that.
  package var onTemporaryFile: (@Sendable (_ path: String) -> Void)?

  /// All fields, with the delimiter that the file's name tells.
  public init() {}
}

/// What an export wrote.
public struct ExportReport: Equatable, Sendable {
  /// How many documents were written.
  public var documentCount = 0
  /// How many bytes were written.
  public var byteCount = 0
}
