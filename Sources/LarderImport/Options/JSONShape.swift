/// How a file lays out its documents, each of which is a JSON object.
public enum JSONShape: String, CaseIterable, Sendable {
  /// Told by the file's name and first bytes, as far as a stream can tell:
  ///
  /// - a name that ends in `.ndjson` or `.jsonl`: lines;
  /// - `[` first: an array;
  /// - `{` first: keyed if the value of the first member is an object or if there is no member,
  ///   otherwise lines, of which the first is then a document. It is a document, too, if another
  ///   member in the same line is no object, such as its key, and among the first 1,048,576 bytes;
  /// - nothing but white space: lines, of which there are none. A name that ends in `.json` promises
  ///   more, and such a file is refused.
  ///
  /// So lines whose first document has objects alone for members are taken for a keyed file, and
  /// refused: name the shape or the file.
  case automatic

  /// One array of documents.
  case array

  /// One object whose members are the documents, each under its key.
  case keyed

  /// One document in each line (NDJSON).
  ///
  /// Empty lines are skipped, lines may end in CR LF, and the last need not end at all.
  case lines

  /// One document, or several one behind the other with nothing but white space between; each over as
  /// many lines as it takes. Never told by a file itself.
  case sequence

  /// The shape that a file's name tells, if it does.
  static func named(by file: String) -> JSONShape? {
    let name = formatName(of: file)
    return name.hasSuffix(".ndjson") || name.hasSuffix(".jsonl") ? .lines : nil
  }
}
