#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Why an import refused its input, and where.
///
/// Reads as one sentence: `contacts.json:12:7: found "}", expected a value`.
public struct ImportError: Error, Equatable, Sendable {
  /// What sort of refusal it is.
  public enum Kind: Equatable, Sendable {
    /// The text breaks the grammar of its format.
    case syntax
    /// The bytes are not UTF-8, have more than one byte order mark, or an escape is no Unicode scalar.
    case encoding
    /// The input exceeds a limit; the value says which.
    case limit(Limit)
    /// A name stands twice in one object or one header, or a key twice in one file.
    case duplicateKey
    /// The file is sound, but not laid out as documents.
    case shape
    /// A value is sound, but not what its field can hold.
    case value
    /// A compressed file is cut off or damaged at that byte of it, counted from 0; zstd says so of a
    /// block by its first byte. The command line alone reads compressed files.
    case compression(offset: Int)
    /// The system could not open or read the file; the code is its `errno`.
    case io(code: Int32)
  }

  /// The limits that an input can exceed, by the names of the properties that set them.
  public enum Limit: String, Sendable {
    /// The property of ``JSONLimits`` of that name.
    case depth, stringByteCount, memberCount, numberByteCount, lineByteCount, documentByteCount
    /// The property of ``CSVLimits`` of that name.
    case fieldByteCount, rowByteCount, columnCount
  }

  /// What sort of refusal it is.
  public var kind: Kind

  /// The name of the file, as its reader was given it.
  public var file: String

  /// Where the thing stands that was found; `nil` when the file could not even be opened.
  public var position: TextPosition?

  /// What was found, as a phrase.
  public var found: String

  /// What was expected in its place, as a phrase that says how to mend the input.
  public var expected: String

  /// What those need to know who advise on it; nil for most. It says nothing that the phrases do not, and makes
  /// no difference between errors.
  package var reason: Reason?

  /// What the phrases say, for those who advise on it.
  package enum Reason: Equatable, Sendable {
    /// A line ends before a value does.
    case endOfLine
    /// Where something else was expected stands what a person reads, and no bracket of JSON.
    case text
    /// A table lacks a column that it must have; it has these.
    case noColumn(among: [String])
    /// A table has two columns of one name.
    case repeatedColumn
    /// A table has the column that keys are to be made in.
    case madeKeyColumn
    /// A carriage return stands alone where a row of a table may end.
    case carriageReturn
    /// A document of JSON lacks its key.
    case noKeyField
    /// A document stands under a key, and is to get one that is made.
    case outerKey
    /// The names of fields, and not how the documents stand in the file.
    case fieldNames
    /// Some bytes are not UTF-8.
    case notUTF8
    /// All of the text seems to be UTF-16 or UTF-32.
    case wideText
  }

  /// An error of `kind` at `position` in `file`.
  public init(
    _ kind: Kind, file: String, position: TextPosition?, found: String, expected: String
  ) {
    self.kind = kind
    self.file = file
    self.position = position
    self.found = found
    self.expected = expected
  }

  /// The line, counted from 1.
  public var line: Int? { position?.line }

  /// The column in Unicode scalars, counted from 1.
  public var column: Int? { position?.column }
}

extension ImportError {
  /// Whether both say the same of the same place.
  public static func == (left: ImportError, right: ImportError) -> Bool {
    left.kind == right.kind && left.file == right.file && left.position == right.position
      && left.found == right.found && left.expected == right.expected
  }
}

extension ImportError: CustomStringConvertible {
  /// File, line, column, what was found and what was expected, in one printable line.
  public var description: String {
    let place = position.map { ":\($0)" } ?? ""
    return printable("\(file)\(place): found \(found), expected \(expected)")
  }
}

/// `text` between backquotes, shortened and free of control characters, for a message.
func quoted(_ text: String) -> String {
  let head = String(text.unicodeScalars.prefix(64))
  return "`\(printable(head))\(head.utf8.count < text.utf8.count ? "…" : "")`"
}

/// `text` with every scalar escaped that a terminal could act upon or would not show.
func printable(_ text: String) -> String {
  var result = ""
  for scalar in text.unicodeScalars {
    if isPrintable(scalar) {
      result.unicodeScalars.append(scalar)
    } else {
      result += "\\u{\(String(scalar.value, radix: 16))}"
    }
  }
  return result
}

/// Whether a terminal shows `scalar` and does nothing else with it.
func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator,
    .paragraphSeparator:
    false
  case .spaceSeparator: scalar == " "
  default: true
  }
}

extension ImportError: LocalizedError {
  public var errorDescription: String? { description }
}
