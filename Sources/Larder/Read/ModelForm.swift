internal import LarderLMDB

/// How models stand to the documents of a collection: documents are their own models, a mapper makes
/// domain models of them, and plain `Codable` values are in a collection of any name.
///
/// Whatever reads, counts, pages or watches models takes one of these, and is written once;
/// ``ModelSaver`` is its counterpart for saves.
@usableFromInline struct ModelForm<Model: Sendable, Entity: Document>: Sendable {
  /// The collection that the documents are in.
  let collection: String
  /// How the entity's fields stand in the collection's records; nil where there is no collection. The
  /// catalogue holds it: threads that read side by side need not count references to it.
  let lastingBinding: @Sendable (Catalogue) throws -> Unmanaged<CollectionBinding>?
  /// The model of a record; nil where it has none.
  let model: @Sendable (borrowing RecordReader) throws -> Model?
  /// Whether every record has a model. Offset, limit, counts and indexes then hold for the records.
  private(set) var isWhole: Bool
  /// Who is told of records that cannot be read, which then have no model.
  private(set) var unreadable: UnreadableHandler? = nil

  init(
    collection: String,
    lastingBinding: @escaping @Sendable (Catalogue) throws -> Unmanaged<CollectionBinding>?,
    model: @escaping @Sendable (borrowing RecordReader) throws -> Model?, isWhole: Bool
  ) {
    self.collection = collection
    self.lastingBinding = lastingBinding
    self.model = model
    self.isWhole = isWhole
  }
}

// MARK: Records that cannot be read

extension ModelForm {
  /// The same, without the records that cannot be read.
  func skipping(_ unreadable: UnreadableHandler?) -> Self {
    guard let unreadable else { return self }
    var form = self
    form.unreadable = unreadable
    form.isWhole = false
    return form
  }

  /// The model of a record that is verified first; nil where it has none, or is to be skipped.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func model(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ binding: CollectionBinding
  ) throws -> Model? {
    guard let unreadable else { return try binding.reading(record, key: key, model) }
    return try unreadable.skipping { try binding.reading(record, key: key, model) }
  }

  /// Whether a record cannot be read and is to be skipped; reports it then.
  ///
  /// - Throws: As ``model(_:key:_:)``.
  func skips(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, _ binding: CollectionBinding
  ) throws -> Bool {
    guard let unreadable else { return false }
    return try unreadable.skipping {
      _ = try binding.reading(record, key: key, model)
      return ()
    } == nil
  }
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
  @inlinable static func mapped<Mapper: EntityMapper>(by mapper: Mapper) -> Self
  where Mapper.Model == Model, Mapper.Entity == Entity {
    Self { mapper.convert(try Entity(from: $0)) }
  }

  @usableFromInline init(
    ofSome model: @escaping @Sendable (borrowing RecordReader) throws -> Model?
  ) {
    self.init(
      collection: Entity.schema.name, lastingBinding: { try $0.lastingBinding(of: Entity.self) },
      model: model, isWhole: false)
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
