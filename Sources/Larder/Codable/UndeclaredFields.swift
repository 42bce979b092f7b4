/// Fields that documents of a `Codable` type need, and the catalogue does not have: found while
/// the documents are encoded.
struct UndeclaredFields {
  typealias Needed = FieldsNeeded

  var shapes: CodableShapes
  /// Finds out what only the type's own `init(from:)` can tell, by documents like the first one.
  private let probe: (CollectionBinding) -> FieldProbe

  init<Model: Codable & Identifiable & Sendable>(_ model: Model) where Model.ID: DocumentKey {
    shapes = CodableShapes(of: Model.self)
    probe = { FieldProbe(model, $0) }
  }

  /// What declares the fields.
  ///
  /// - Throws: ``StoreError/kindMismatch(collection:field:stored:declared:)``;
  ///   ``StoreError/unwritable(collection:key:reason:)`` where there is nothing left to declare.
  func declaration(in collection: Collection) throws -> Declaration {
    let stored = collection.description
    if let (field, first, second) = shapes.conflict {
      throw StoreError.kindMismatch(
        collection: stored.name, field: field, stored: first, declared: second)
    }
    var shapes = shapes
    var description = stored
    try description.merge(shapes.shape)
    guard description != stored else {
      // Declaring it again would never come to an end.
      throw StoreError.unwritable(
        collection: stored.name, key: "",
        reason: .invalid("its values do not fit the fields that were declared for them"))
    }
    let probe = probe(
      CollectionBinding(Collection(description, documents: collection.documents)))
    for name in probe.requiredFields where stored.fields.slot(of: name) == nil {
      shapes.setRequired(name)
    }
    return try Declaration(
      name: stored.name, keyKind: stored.keyKind, keyField: probe.keyField, shape: shapes.shape)
  }
}

extension Batch {
  /// The batch that `body` makes; nil where the catalogue lacks fields of a `Codable` type.
  @usableFromInline static func unlessUndeclared(_ body: () throws -> Batch) throws -> Batch? {
    do {
      return try body()
    } catch is UndeclaredFields.Needed {
      return nil
    }
  }
}
