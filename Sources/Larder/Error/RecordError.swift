#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What is wrong with a record's bytes, or with one field of it.
///
/// Thrown while a document is read from its record. ``field(_:_:)`` wraps the reason once per
/// level, so that a nested fault reads `geo.lat: expected a number, found a string`.
public indirect enum RecordError: Error, Equatable, Sendable {
  /// The bytes end before the value does.
  case truncated
  /// A byte that cannot begin a value of the kind that was asked for.
  case unexpected(byte: UInt8, expected: String)
  /// A string's bytes are not UTF-8.
  case invalidUTF8
  /// A number that the field's type cannot hold.
  case outOfRange(expected: String)
  /// The record has no such field, and the type declares no default.
  case missing
  /// Documents nested deeper than 128 levels, or values of any kind deeper than 512.
  case tooDeep
  /// The checksum does not fit the bytes, the key and the collection.
  case checksum
  /// The record names a field table that the catalogue does not have.
  case unknownTable(Int)
  /// Bytes of the right kind that mean nothing to the field's type.
  case invalid(String)
  /// An error that the type's own `init(from:)` threw. The record is not damaged: usually another version of the app
  /// wrote it.
  case refused(String)
  /// A raw value, or the name of an enum's case, that the field's type does not have. It is no
  /// damage: usually a newer version of the app wrote it.
  case unknownCase(String, type: String)
  /// The document takes more bytes than a record can hold, 2 GiB less 1 MiB; of its fields the one that is
  /// named takes most of them.
  case tooLarge(byteCount: Int, limit: Int)
  /// A predicate threw while it was evaluated on the document; nothing is wrong with the record.
  case predicate(String)
  /// The reason, and the name of the field that it concerns.
  case field(String, RecordError)
}

extension RecordError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .truncated: "the bytes end too early"
    case .unexpected(RecordFormat.nilByte, let expected): "expected \(expected), found nil"
    case .unexpected(let byte, let expected):
      "expected \(expected), found \(RecordFormat.phrase(of: byte))"
    case .invalidUTF8: "a string is not valid UTF-8"
    case .outOfRange(let expected): "the number does not fit \(expected)"
    case .missing: "the field is missing and has no default"
    case .tooDeep:
      "documents are nested deeper than \(RecordFormat.maximumDepth) levels, or values of any kind"
        + " deeper than \(RecordFormat.maximumNesting)"
    case .checksum: "the checksum does not match"
    case .unknownTable(let id): "field table \(id) is not in the catalogue"
    case .invalid(let what), .refused(let what): what
    case .unknownCase(let value, let type): "\(value) is no raw value or case of \(type)"
    case .tooLarge(let byteCount, let limit):
      "the document takes \(byteCount) bytes, most of them here, and may take \(limit)"
    case .predicate(let reason): "the predicate threw: \(reason)"
    case .field(let name, let reason): "\(path(from: name, reason)): \(reason.reason)"
    }
  }

  /// The names of the fields down to the fault, outermost first.
  var path: [String] {
    if case .field(let name, let reason) = self { return [name] + reason.path }
    return []
  }

  /// What is wrong, without the fields down to it.
  var reason: RecordError {
    if case .field(_, let inner) = self { inner.reason } else { self }
  }

  /// Whether the innermost reason is an ``unknownCase(_:type:)``.
  var isUnknownCase: Bool {
    if case .unknownCase = reason { true } else { false }
  }

  /// Whether the record is whole, and another version of the type has written it: a field is missing or nil where
  /// this one needs a value, holds one of another kind or a number that is too large for it, or is refused by its type.
  /// Where the bytes are damaged, the checksum has told so before.
  var isMisfit: Bool {
    switch reason {
    case .missing, .outOfRange, .unexpected, .invalid: !path.isEmpty
    case .refused: true
    default: false
    }
  }

  private func path(from name: String, _ reason: RecordError) -> String {
    ([name] + reason.path).joined(separator: ".")
  }
}

extension RecordFormat {
  /// The kind of a value by its first byte, in words.
  fileprivate static func phrase(of byte: UInt8) -> String {
    switch byte {
    case 0x00...0x7F, 0xCC...0xD3, 0xE0...0xFF: "an integer"
    case 0x80...0x8F, 0xDE, 0xDF: "a dictionary"
    case 0x90...0x9F, 0xDC, 0xDD: "an array"
    case 0xA0...0xBF, 0xD9...0xDB: "a string"
    case nilByte: "nil"
    case marker: "a document"
    case 0xC2, 0xC3: "a Bool"
    case 0xC4...0xC6: "data"
    case 0xC7...0xC9, 0xD4...0xD8: "a date, a UUID, a decimal or a URL"
    case 0xCA, 0xCB: "a double"
    default: "byte 0x\(String(byte, radix: 16, uppercase: true))"
    }
  }
}

extension RecordError: LocalizedError {
  public var errorDescription: String? { description }
}
