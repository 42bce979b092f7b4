internal import LarderLMDB

/// How models stand to the documents of a collection: documents are their own models, a mapper makes
/// domain models of them, and plain `Codable` values are in a collection of any name.
///
/// Whatever reads, counts, pages or watches models takes one of these, and is written once;
/// ``ModelSaver`` is its counterpart for saves.
struct ModelForm<Model: Sendable, Entity: Document>: Sendable {
  /// The collection that the documents are in.
  let collection: String
  /// How the entity's fields stand in the collection's records; nil where there is no collection. The
  /// catalogue holds it: threads that read side by side need not count references to it.
  let lastingBinding: @Sendable (Catalogue) throws -> Unmanaged<CollectionBinding>?
  /// The model of a record; nil where it has none.
  let model: @Sendable (borrowing RecordReader) throws -> Model?
  /// Whether every record has a model. Offset, limit, counts and indexes then hold for the records.
  let isWhole: Bool
}

extension ModelForm {
  func binding(_ catalogue: Catalogue) throws -> CollectionBinding? {
    try lastingBinding(catalogue)?.takeUnretainedValue()
  }

  /// Whether a record has a model.
  func counts(_ record: borrowing RecordReader) throws -> Bool {
    try isWhole || model(record) != nil
  }
}

extension ModelForm where Model == Entity {
  /// Documents that are their own models.
  static var documents: Self {
    Self(
      collection: Entity.schema.name,
      lastingBinding: { try $0.lastingBinding(of: Entity.self) },
      model: { try Entity(from: $0) },
      isWhole: true)
  }
}

extension ModelForm {
  /// Domain models that a mapper makes of documents, and not of all of them.
  static func mapped<Mapper: EntityMapper>(by mapper: Mapper) -> Self
  where Mapper.Model == Model, Mapper.Entity == Entity {
    Self(
      collection: Entity.schema.name,
      lastingBinding: { try $0.lastingBinding(of: Entity.self) },
      model: { mapper.convert(try Entity(from: $0)) },
      isWhole: false)
  }
}

extension ModelForm
where Model: Codable & Identifiable, Model.ID: DocumentKey, Entity == CodableDocument<Model> {
  /// Values of a plain type, in the collection of this name.
  static func coded(in collection: String) -> Self {
    Self(
      collection: collection,
      lastingBinding: { try $0.lastingBinding(of: Entity.self, in: collection) },
      model: { try $0.document(coding: Model.self) },
      isWhole: true)
  }
}
