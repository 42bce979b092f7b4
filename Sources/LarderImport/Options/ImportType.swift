internal import Larder

/// What a field holds, as the caller of an import says it.
public enum ImportType: String, CaseIterable, Sendable {
  case string, bool, integer, double, decimal, date, uuid, url, data
  /// An object whose names are keys, and not fields: `{"anna": 5, "bo": 3}`.
  case dictionary
  /// Any value, of another kind in each document. In a table, each field has the kind that it would have in a
  /// column of its own: `5` is an integer, `x` and what is quoted is text.
  case any
  /// Of a table: JSON in each field, of the kinds that all of them show. Elsewhere the same as `any`.
  case json

  var kind: Kind<Int> {
    switch self {
    case .string: .string
    case .bool: .bool
    case .integer: .integer(.int64)
    case .double: .double
    case .decimal: .decimal
    case .date: .date
    case .uuid: .uuid
    case .url: .url
    case .data: .data
    case .dictionary: .dictionary(.string, .null)
    case .any, .json: .any
    }
  }
}

extension ImportOptions {
  /// What ``types`` say of fields, as far as reading the file does not see to it.
  ///
  /// - Parameter isTable: Whether the file is CSV, where what stands in a column is made a value of the
  ///   kind as it is read.
  func rules(isTable: Bool) -> KindRules? {
    let kinds = types.filter { !isTable || $0.value == .dictionary || $0.value == .any }
    if kinds.isEmpty { return nil }
    return KindRules(
      kinds.map { name, type in ((FieldPath(name) ?? FieldPath(field: name)).names, type.kind) })
  }
}

/// What becomes of documents under one key.
public enum RepeatedKeys: Sendable {
  /// The file is refused.
  case refused
  /// The last of them is saved.
  case lastWins
}
