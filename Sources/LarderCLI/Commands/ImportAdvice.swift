internal import LarderImport

extension ImportError {
  /// Which option may make the file work, as a sentence; nil where none is known.
  func advice(_ options: ImportOptions) -> String? {
    switch kind {
    case .limit(let limit):
      switch limit {
      case .lineByteCount, .documentByteCount, .stringByteCount, .fieldByteCount, .rowByteCount:
        return "Allow more with --max-bytes, such as --max-bytes 512M."
      case .depth, .memberCount, .numberByteCount, .columnCount: return nil
      }
    case .value where reason == .outerKey:
      return "To keep the keys, name the field for them: --key FIELD."
        + (options.shape == .automatic
          ? " If the whole file is one document: --format sequence." : "")
    // The first line is one, and goes on in the next; or is none of the documents.
    case .shape, .syntax, .value:
      if let advice = adviceOnTable(options) { return advice }
      guard options.shape == .automatic, options.documentsAt == nil,
        options.format.resolved(for: file) == .json,
        kind == .shape && reason == nil || kind == .syntax && reason == .endOfLine && line == 1
          || reason == .noKeyField && position == .start
      else { return nil }
      return "If the documents stand in a member of the file, name it: --at MEMBER. "
        + "If the whole file is one document, or its documents go over several lines: "
        + "--format sequence."
    case .encoding where reason == .notUTF8 || reason == .wideText:
      let encoding = reason == .wideText ? "utf-16" : "latin1"
      return "Convert the text to UTF-8 first, such as by `iconv -f \(encoding) -t utf-8`."
    case .duplicateKey where reason == .repeatedColumn && options.csv.columns == nil:
      return "If the table has no header, name its columns: --columns NAMES."
    case .encoding, .duplicateKey, .io, .compression: return nil
    }
  }

  /// The option for a table whose delimiter is another one, or that was not recognized as a table.
  private func adviceOnTable(_ options: ImportOptions) -> String? {
    if options.format.resolved(for: file) == .csv {
      if reason == .madeKeyColumn {
        return "If the column has the keys, name it: --key COLUMN. "
          + "To have keys made in another field: --key -FIELD."
      }
      if reason == .carriageReturn, line == 1 {
        return "If rows end in carriage returns alone, convert them first, such as by "
          + "`tr '\\r' '\\n'`."
      }
      guard options.csv.delimiter == nil, case .noColumn(let names)? = reason,
        let character: Character = [";", "|", "\t"].first(where: { character in
          names.contains { $0.contains(character) }
        })
      else { return nil }
      let name = character == "\t" ? "tab" : "'\(character)'"
      return "If the columns stand between other characters than commas: --delimiter \(name)."
    }
    guard options.format == .automatic, position == .start, reason == .text else { return nil }
    return "If the file is a table: --format csv."
  }
}
