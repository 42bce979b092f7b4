/// What writes documents that have no schema into a ``RecordWriter``, and keeps what it learns from
/// one document to the next.
@usableFromInline protocol RecordGuest: AnyObject {
  /// Which fields the documents know that were written; nil where they have schemas.
  var knowledge: (any FieldKnowledge)? { get }

  /// Whether the last document could not be written because the catalogue lacks fields of it. Asked
  /// once, it is forgotten.
  func takeLack() -> Bool
}

/// Which fields documents without a schema know.
@usableFromInline protocol FieldKnowledge: Sendable {
  /// Whether they know the field of this name in a field table.
  func knows(_ name: String, table: Int) -> Bool
}
