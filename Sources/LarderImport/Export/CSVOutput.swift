internal import Larder

/// Documents as rows of CSV; ``ExportFormat/csv`` says how.
struct CSVOutput {
  private(set) var bytes: [UInt8] = []
  private let columns: [Column]
  let delimiter: UInt8
  private let isForTerminal: Bool
  private var json = JSONOutput()

  private struct Column {
    let path: FieldPath
    /// Whether its fields stand as JSON, even where they hold a scalar.
    let isJSON: Bool
    /// What the catalogue knows of it, if there may be values of any kind in it.
    let place: FieldPlace?
  }

  /// Writes the header.
  ///
  /// - Parameter place: What the catalogue knows of the documents.
  init(_ fields: [FieldPath], _ place: FieldPlace?, _ options: ExportOptions) {
    columns = fields.map { path in
      let place = path.names.reduce(place) { $0?.member($1) }
      return Column(
        path: path, isJSON: CSVNotation(nil, place, inferred: .null, allowsMixed: false).isJSON,
        place: place?.holdsAny == true ? place : nil)
    }
    delimiter = (options.delimiter ?? .comma).byte
    isForTerminal = options.isForTerminal
    for (index, column) in columns.enumerated() {
      if index > 0 { bytes.append(delimiter) }
      write(text: column.path.header, isAmbiguous: false)
    }
    bytes.append(0x0A)
  }

  /// Forgets what was written, and keeps the memory.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// The fields of the columns, where all of these are fields of the document itself.
  var fieldNames: [String] { columns.map { $0.path.names[0] } }

  /// By column, whether its fields stand as JSON, even where they hold a scalar.
  var areJSON: [Bool] { columns.map(\.isJSON) }

  /// Writes the value of a document in a column, and nothing else.
  mutating func write(_ value: Value, inColumn index: Int) { write(value, columns[index]) }

  mutating func write(_ document: DynamicDocument) {
    var next = 0
    for (index, column) in columns.enumerated() {
      if index > 0 { bytes.append(delimiter) }
      write(document.value(at: column.path, from: &next), column)
    }
    bytes.append(0x0A)
  }

  private mutating func write(_ value: Value?, _ column: Column) {
    guard let value else {
      bytes += "\\N".utf8
      return
    }
    if value == .null { return }
    guard let text = value.plainText, !column.isJSON else {
      json.removeAll()
      json.write(value, in: column.place)
      return write(text: String(decoding: json.bytes, as: UTF8.self), isAmbiguous: false)
    }
    switch value {
    case .string, .url, .data: write(text: text, isAmbiguous: true)
    default: write(text: text, isAmbiguous: false)
    }
  }

  /// - Parameter isAmbiguous: Whether it is text that must not be taken for anything else.
  private mutating func write(text: String, isAmbiguous: Bool) {
    var text = isForTerminal ? harmless(text) : text
    text.withUTF8 { text in
      guard needsQuotes(text) || isAmbiguous && CSVInference.isAmbiguous(text) else {
        bytes += text
        return
      }
      bytes.append(0x22)
      var start = 0
      for index in text.indices where text[index] == 0x22 {
        bytes += text[start...index]
        start = index
      }
      bytes += text[start...]
      bytes.append(0x22)
    }
  }

  private func needsQuotes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = text.first, let last = text.last, !Self.isFragile(first, last)
    else { return !text.isEmpty }
    return text.contains { $0 == delimiter || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
  }

  /// Whether text with this first and last byte loses one of them without quotes.
  static func isFragile(_ first: UInt8, _ last: UInt8) -> Bool {
    // A space at an end some readers drop; a byte order mark at the beginning all of them.
    first == 0x20 || last == 0x20 || first == 0xEF
  }

  /// `text` without what a terminal would act upon.
  private func harmless(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      result.append(isPrintable(scalar) || scalar == "\n" || scalar == "\t" ? scalar : "\u{FFFD}")
    }
    return String(result)
  }
}

extension FieldPath {
  /// The path as the name of a column; a name with a dot of its own, or one that would be read as
  /// another, stands between backquotes.
  fileprivate var header: String {
    guard names.count == 1, !names[0].isEmpty, FieldPath(names[0]).map({ $0 == self }) ?? true
    else { return description }
    return names[0]
  }
}
