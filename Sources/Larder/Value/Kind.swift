/// What a field holds, as a type declares it and as the catalogue keeps it.
///
/// `Reference` stands for an embedded document: the Swift type's schema in a declaration, the
/// number of a field table in the catalogue, the fields seen so far where kinds are inferred.
@_documentation(visibility: internal)
public indirect enum Kind<Reference: Hashable & Sendable>: Hashable, Sendable {
  /// Nothing has been seen: the elements of an array that was always empty, the value in an
  /// optional that was always nil.
  case null
  /// Any value.
  case any
  case bool
  case integer(IntegerKind)
  case float
  case double
  case string
  case data
  case date
  case uuid
  case url
  case decimal
  case optional(Kind)
  case array(Kind)
  case set(Kind)
  case dictionary(Kind, Kind)
  case document(Reference)
}

/// The width and sign of an integer field.
@_documentation(visibility: internal)
public enum IntegerKind: UInt8, Hashable, Sendable, CaseIterable {
  case int8, int16, int32, int64, uint8, uint16, uint32, uint64

  var isSigned: Bool { rawValue < 4 }
  var bitCount: Int { 8 << Int(rawValue & 3) }

  /// Whether a value of this magnitude and sign fits.
  func holds(_ value: Int64) -> Bool {
    switch self {
    case .int64: true
    case .uint64: value >= 0
    default:
      isSigned
        ? value >= -(1 << (bitCount - 1)) && value < 1 << (bitCount - 1)
        : value >= 0 && value < 1 << bitCount
    }
  }

  /// The narrowest kind that holds both, or nil where only a `Double` would (`Int64` and
  /// `UInt64`).
  func joined(with other: IntegerKind) -> IntegerKind? {
    if self == other { return self }
    if isSigned == other.isSigned { return bitCount >= other.bitCount ? self : other }
    let (signed, unsigned) = isSigned ? (self, other) : (other, self)
    if signed.bitCount > unsigned.bitCount { return signed }
    return Self.allCases.first { $0.isSigned && $0.bitCount > unsigned.bitCount }
  }
}

extension Kind {
  /// The kind without its `optional`s.
  var unwrapped: Kind {
    if case .optional(let inner) = self { return inner.unwrapped }
    return self
  }

  var isOptional: Bool {
    switch self {
    case .optional, .any: true
    default: false
    }
  }

  /// Whether there is an embedded document anywhere in it.
  var holdsDocuments: Bool {
    switch self {
    case .document: true
    case .optional(let inner), .array(let inner), .set(let inner): inner.holdsDocuments
    case .dictionary(let key, let value): key.holdsDocuments || value.holdsDocuments
    default: false
    }
  }

  /// Whether it is still to be seen what stands in it, or in a part of it.
  var isOpen: Bool {
    switch self {
    case .null: true
    case .optional(let inner), .array(let inner), .set(let inner): inner.isOpen
    case .dictionary(let key, let value): key.isOpen || value.isOpen
    default: false
    }
  }

  /// This kind with other references, made by `change`.
  func mapReferences<Other>(_ change: (Reference) -> Other) -> Kind<Other> {
    switch self {
    case .null: .null
    case .any: .any
    case .bool: .bool
    case .integer(let width): .integer(width)
    case .float: .float
    case .double: .double
    case .string: .string
    case .data: .data
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .decimal: .decimal
    case .optional(let inner): .optional(inner.mapReferences(change))
    case .array(let element): .array(element.mapReferences(change))
    case .set(let element): .set(element.mapReferences(change))
    case .dictionary(let key, let value):
      .dictionary(key.mapReferences(change), value.mapReferences(change))
    case .document(let reference): .document(change(reference))
    }
  }
}

extension Kind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .null: "null"
    case .any: "any"
    case .bool: "bool"
    case .integer(let width): "\(width)"
    case .float: "float"
    case .double: "double"
    case .string: "string"
    case .data: "data"
    case .date: "date"
    case .uuid: "uuid"
    case .url: "url"
    case .decimal: "decimal"
    case .optional(let inner): "\(inner)?"
    case .array(let element): "[\(element)]"
    case .set(let element): "set of \(element)"
    case .dictionary(let key, let value): "[\(key): \(value)]"
    case .document: "document"
    }
  }
}
