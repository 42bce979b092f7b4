/// What is wrong with a row.
enum CSVFault {
  case carriageReturn, quoteInField, notUTF8
  case openQuotes(from: Int)
  case behindQuotes(from: Int)
  case oneMore, fewer
  case fieldTooLong, rowTooLong, tooManyColumns
}

// How a reader tells what is wrong. Nothing here runs unless an import fails.

extension CSVReader {
  /// A refusal of what stands at `text.next`.
  @inline(never)
  mutating func error(_ fault: CSVFault) -> ImportError {
    let position = text.position
    switch fault {
    case .carriageReturn:
      var error = text.error(
        .syntax, at: position, found: "a carriage return alone",
        expected: "LF or CR LF at the end of a row, or quotes around a field that holds one")
      error.reason = .carriageReturn
      return error
    case .quoteInField:
      return text.unexpected(
        "quotes around the whole field, from its first byte on, and each `\"` in it doubled")
    case .notUTF8: return text.notUTF8()
    case .openQuotes(let start):
      return text.unexpected("`\"` to end the field that begins at \(place(start))")
    case .behindQuotes(let start):
      let isCarriageReturn = text.next < text.end && text.bytes.base[text.next] == 0x0D
      var error = text.unexpected(
        "the next field or the end of the row, for the field that begins at \(place(start)) ends "
          + "before; a quote in a field is doubled")
      if isCarriageReturn { error.reason = .carriageReturn }
      return error
    case .oneMore:
      return text.error(
        .shape, at: position, found: "a field more than the \(columnCount ?? 0) of the header",
        expected: "the end of the row; a field with a delimiter in it needs quotes")
    case .fewer:
      return text.error(
        .shape, at: position, found: "the end of a row of \(cells.count) fields",
        expected: "\(columnCount ?? 0) fields, as many as the header has")
    case .fieldTooLong:
      return text.error(
        .fieldByteCount, limits.fieldByteCount, of: "bytes in a field", at: position)
    case .rowTooLong:
      return text.error(.rowByteCount, limits.rowByteCount, of: "bytes in a row", at: position)
    case .tooManyColumns:
      return text.error(.columnCount, limits.columnCount, of: "columns", at: position)
    }
  }

  private func place(_ offset: Int) -> TextPosition { text.position(of: text.start + offset) }
}
