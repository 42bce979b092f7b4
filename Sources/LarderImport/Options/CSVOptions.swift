/// How a CSV file is read: RFC 4180, with the choices that it leaves open made here.
///
/// - Rows end in LF or CR LF; a CR alone is refused outside quotes. A byte order mark at the beginning is
///   skipped. So are empty lines, unless the table has one column and ``ImportOptions/makesKeys`` gives its
///   rows keys: an empty line is then a row whose field is nil, as an export writes it.
/// - A row that is longer or shorter than the header is refused, as are a quote inside a field
///   that does not begin with one, and text behind a closing quote. Nothing is trimmed.
/// - An empty field is nil, or empty text where a type declares text that is never nil; `""` is empty text.
///   `\N`, not quoted, is no value at all: the document lacks the field.
/// - A header `geo.lat` is the field `lat` of the embedded document `geo`, where its parts are made
///   of letters, digits, `_` and `-`; a name with a dot of its own stands between backquotes. Beside a
///   column `geo`, `geo.lat` is such a name without them, unless the collection has a document `geo`. So is the
///   name of the key field.
///
/// The kinds of the columns are, in this order of precedence: those in ``ImportOptions/types``; those that the
/// collection holds; those that the whole file shows: `bool` for `true` and `false` in any case, `integer`, `double`,
/// `date`, else text. What is quoted is text. So are numbers that would change: `007`, `+47`, `1e5` (an exponent
/// needs its sign), integers beyond 64 bits, digits that no double has, integers among doubles that no double is equal
/// to; and dates that an export would write in another way than `2026-03-01T09:30:00.250Z`. The key is text or
/// an integer. A column without a name is called `column 1`, by its place.
///
/// A column whose fields are of several kinds is text, too. With ``ImportOptions/allowsMixedKinds``, or the type
/// ``ImportType/any``, each field keeps the kind that it would have in a column of its own. Without these, a
/// column that the collection has of any kind is read as JSON, which is how an export writes it.
///
/// Arrays, sets, dictionaries and embedded documents stand as JSON in one field, where the
/// collection holds these or the column's type is `json`. They are read, too, where the collection has the field
/// and nobody has seen a value in it.
public struct CSVOptions: Sendable {
  /// What stands between two fields; nil for a comma, or a tab in files named `.tsv`.
  public var delimiter: CSVDelimiter?

  /// The names of the columns, for a file without a header line; nil when the first row has them.
  public var columns: [String]?

  /// What a file may hold before it is refused.
  public var limits = CSVLimits()

  /// A header line, commas, kinds by the collection or the file.
  public init() {}
}

/// What stands between two fields of a row.
public struct CSVDelimiter: Hashable, Sendable {
  let byte: UInt8

  /// `,`, the usual one.
  public static let comma = CSVDelimiter(byte: 0x2C)
  /// `;`, as spreadsheets write it where the comma is in numbers.
  public static let semicolon = CSVDelimiter(byte: 0x3B)
  /// The tab character, of `.tsv` files.
  public static let tab = CSVDelimiter(byte: 0x09)
  /// `|`.
  public static let pipe = CSVDelimiter(byte: 0x7C)

  private init(byte: UInt8) { self.byte = byte }

  /// An ASCII character that is no letter or digit, no quotation mark, grave accent or backslash, none of
  /// `+`, `-`, `.` and `_`, no space, and no control character but the tab and U+001F; nil for others.
  public init?(_ character: Character) {
    guard let byte = character.asciiValue, character.unicodeScalars.count == 1 else { return nil }
    switch Unicode.Scalar(byte) {
    case "\t", "\u{1F}", ",", ";", "|", ":", "!", "#", "$", "%", "&", "'", "(", ")", "*", "/", "<",
      "=", ">", "?", "@", "[", "]", "^", "{", "}", "~":
      self.byte = byte
    default: return nil
    }
  }
}

/// How much of anything a CSV file may hold before it is refused.
///
/// Every limit is the largest size that is still accepted.
///
/// Limits below 0 mean 0.
public struct CSVLimits: Equatable, Sendable {
  /// Bytes of one field, without the quotes around it.
  public var fieldByteCount = 64 << 20

  /// Bytes of all fields of a row together. It bounds memory: a row is held as a whole.
  public var rowByteCount = 64 << 20

  /// Columns.
  public var columnCount = 65_536

  /// The default limits.
  public init() {}

  /// The same limits, none of them below 0.
  var honoured: CSVLimits {
    var limits = self
    limits.fieldByteCount = max(0, fieldByteCount)
    limits.rowByteCount = max(0, rowByteCount)
    limits.columnCount = max(0, columnCount)
    return limits
  }
}

/// How the bytes of a file are laid out.
public enum ImportFormat: String, CaseIterable, Sendable {
  /// Told by the file's name: `.csv` and `.tsv` are CSV, everything else is JSON.
  case automatic
  /// JSON or NDJSON, in the shape that ``ImportOptions/shape`` says.
  case json
  /// CSV, as ``ImportOptions/csv`` says.
  case csv

  /// The format of a file of this name; never ``automatic``.
  package func resolved(for name: String) -> ImportFormat {
    guard self == .automatic else { return self }
    let name = formatName(of: name)
    return name.hasSuffix(".csv") || name.hasSuffix(".tsv") ? .csv : .json
  }
}
