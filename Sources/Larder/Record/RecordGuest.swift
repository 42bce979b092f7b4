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
  /// The value that a field has where a record lacks it, in the bytes of a record; nil where it has none, or where
  /// nobody knows.
  func initialValue(of name: String, table: Int) -> [UInt8]?
}

extension FieldKnowledge {
  @usableFromInline func initialValue(of name: String, table: Int) -> [UInt8]? { nil }
}

/// Which fields a type with a schema knows, for its documents that were encoded without it.
struct SchemaKnowledge: FieldKnowledge {
  private let binding: CollectionBinding
  private let schemas: [Int: [SchemaBinding]]

  /// - Parameter binding: Of the type.
  init(_ binding: CollectionBinding) {
    self.binding = binding
    schemas = Dictionary(grouping: binding.schemas, by: \.table)
  }

  func knows(_ name: String, table: Int) -> Bool {
    // Objects that no type describes are replaced as a whole.
    schemas[table]?.contains { $0.fields.contains { $0.name == name } } ?? true
  }

  func initialValue(of name: String, table: Int) -> [UInt8]? {
    let fields = schemas[table]?.flatMap(\.fields).filter { $0.name == name }
    guard let field = fields?.first else { return nil }
    var writer = RecordWriter(binding: binding, capacity: 64)
    // Embedded documents stand in another one.
    writer.beginDocument()
    let start = writer.count
    if let value = field.defaultValue {
      value._store(into: &writer)
    } else if field.kind.isOptional {
      writer.putNil()
    } else {
      return nil
    }
    return writer.withBytes { [UInt8]($0[start...]) }
  }
}
