/// A place in the documents of a collection, as the catalogue knows it: what importers and the
/// command line ask before they make values of text.
package struct FieldPlace: Sendable {
  private let tables: [FieldTable]
  private let stored: Kind<Int>
  /// Whether the kind comes from a type, and not from values that were saved.
  package let isDeclared: Bool
  /// Whether a document without this field is refused.
  package let isRequired: Bool

  /// The documents themselves.
  init(_ tables: [FieldTable], table: Int = 0) {
    self.init(tables, .document(table), isDeclared: false, isRequired: false)
  }

  private init(_ tables: [FieldTable], _ kind: Kind<Int>, isDeclared: Bool, isRequired: Bool) {
    self.tables = tables
    stored = kind
    self.isDeclared = isDeclared
    self.isRequired = isRequired
  }

  /// The kind, without its optional. An optional inside of an optional is an array: the outer one
  /// stands as one of a single element, so that nil in it is not mistaken for nil.
  package var kind: Kind<Int> {
    if case .optional(.optional(let inner)) = stored { return .array(.optional(inner)) }
    return stored.unwrapped
  }

  /// Whether nil may stand here.
  package var allowsNil: Bool { stored.isOptional || stored == .null }

  /// The field of this name in the document, or the value under it in the dictionary.
  package func member(_ name: String) -> FieldPlace? {
    switch kind {
    case .document(let table):
      guard let field = tables[table].field(named: name) else { return nil }
      return FieldPlace(
        tables, field.kind, isDeclared: field.isDeclared, isRequired: field.isRequired)
    case .dictionary(_, let value):
      return FieldPlace(tables, value, isDeclared: isDeclared, isRequired: false)
    default: return nil
    }
  }

  /// An element of the array or set.
  package var element: FieldPlace? {
    switch kind {
    case .array(let element), .set(let element):
      FieldPlace(tables, element, isDeclared: isDeclared, isRequired: false)
    default: nil
    }
  }

  /// The place of a member. Everything inside of a value of any kind is of any kind, too.
  package func anyMember(_ name: String) -> FieldPlace? { kind == .any ? self : member(name) }

  /// An element, likewise.
  package var anyElement: FieldPlace? { kind == .any ? self : element }

  var isDocument: Bool { if case .document = kind { true } else { false } }

  /// Whether a value of any kind may stand here or further in.
  package var holdsAny: Bool { holds(.any) }

  /// Whether a `Float` may stand here or further in.
  package var holdsFloats: Bool { holds(.float) }

  private func holds(_ kind: Kind<Int>) -> Bool {
    var seen: Set<Int> = []
    return holds(kind, in: stored, &seen)
  }

  private func holds(_ kind: Kind<Int>, in stored: Kind<Int>, _ seen: inout Set<Int>) -> Bool {
    switch stored {
    case kind: return true
    case .optional(let inner), .array(let inner), .set(let inner):
      return holds(kind, in: inner, &seen)
    case .dictionary(let key, let value):
      return holds(kind, in: key, &seen) || holds(kind, in: value, &seen)
    case .document(let table):
      // A type may hold itself.
      guard seen.insert(table).inserted else { return false }
      return tables[table].fields.contains { holds(kind, in: $0.kind, &seen) }
    default: return false
    }
  }

  /// The names of the document's fields, in the catalogue's order.
  package var fieldNames: [String] {
    guard case .document(let table) = kind else { return [] }
    return tables[table].fields.map(\.name)
  }
}
