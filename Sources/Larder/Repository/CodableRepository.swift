/// Values of a plain `Codable & Identifiable` type, kept in a store as ordinary documents.
///
/// ```swift
/// struct Note: Codable, Identifiable, Sendable {
///   var id: UUID
///   var title: String
///   var city: String?
/// }
///
/// let notes = store.repository(of: Note.self)
/// try await notes.save(note)
/// let inOslo = try notes.fetch(notes.where { $0.city == "Oslo" }.sorted(by: \.title))
/// ```
/// As ``StoreRepository`` otherwise: the same transactions, reports and errors, and the same
/// records, so that the command line and a ``Document`` of the same fields read them. The type's
/// own coding costs time, and no condition can be told from a key path what the type calls the
/// field: conditions and orders decode every document that they look at.
public typealias CodableRepository<Model: Codable & Identifiable & Sendable> =
  StoredRepository<Model, CodableDocument<Model>> where Model.ID: DocumentKey

extension Store {
  /// The values of a plain `Codable` type, in a collection that is named after the type. Costs
  /// nothing: the collection comes into being with its first save, and until then reads as empty.
  ///
  /// Values are coded where the store is read and written. In a module whose default isolation is the
  /// main actor, a type's `Codable` conformance belongs to that: declare it as a `nonisolated struct`.
  @_disfavoredOverload  // Of a type that is a `Document` as well, the documents are meant.
  public func repository<Model: Codable & Identifiable & Sendable>(
    of type: Model.Type = Model.self
  ) -> CodableRepository<Model> where Model.ID: DocumentKey {
    repository(of: type, collection: CodableDocument<Model>.schema.name)
  }

  /// The values of a plain `Codable` type that are in the collection of this name.
  ///
  /// Where the main actor is the default isolation of the module, declare a `nonisolated struct`.
  public func repository<Model: Codable & Identifiable & Sendable>(
    of type: Model.Type = Model.self, collection: String
  ) -> CodableRepository<Model> where Model.ID: DocumentKey {
    let collection = collection.normalized()
    return CodableRepository(
      store: self, form: .coded(in: collection), saver: .coded(in: collection), key: \.id)
  }
}

// MARK: Queries

extension StoredRepository
where Model: Codable & Identifiable, Model.ID: DocumentKey, Entity == CodableDocument<Model> {
  /// Every value.
  public var all: Query<Entity> { Query() }

  /// The values that `condition` holds for: `notes.where { $0.city == "Oslo" }`. Each that it looks
  /// at is decoded.
  public func `where`(_ condition: (Fields<Entity>) -> Filter<Entity>) -> Query<Entity> {
    all.where(condition)
  }

  /// The values whose property is true: `notes.where { $0.isDone }`.
  public func `where`(
    _ condition: (Fields<Entity>) -> QueryField<Entity, Bool>
  ) -> Query<Entity> {
    all.where(condition)
  }

  @_disfavoredOverload
  @available(
    *, unavailable,
    message: """
      a condition names a field of the document, as in `where { $0.age > 18 }`. For one that depends on other values \
      alone, use `all` where it holds
      """
  )
  public func `where`(_ condition: (Fields<Entity>) -> Bool) -> Query<Entity> {
    fatalError("unavailable")
  }
}
