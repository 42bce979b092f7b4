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
    // The first line is one, and goes on in the next; or is none of the documents.
    case .shape, .syntax, .value:
      guard options.shape == .automatic, options.documentsAt == nil,
        options.format.resolved(for: file) == .json,
        kind == .shape || kind == .syntax && found == "the end of the line" && line == 1
          || kind == .value && position == .start
      else { return nil }
      return "If the documents stand in a member of the file, name it: --at MEMBER. "
        + "If the whole file is one document, or its documents go over several lines: "
        + "--format sequence."
    case .encoding, .duplicateKey, .io, .compression: return nil
    }
  }
}
