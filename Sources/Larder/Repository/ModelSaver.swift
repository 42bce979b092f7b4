/// How models are saved in a collection: by way of a mapper, or by a plain type's own coding.
@usableFromInline struct ModelSaver<Model: Sendable, Entity: Document>: Sendable {
  /// Encodes models before their write has its turn; nil where that is better done inside it: stored
  /// documents are to be looked at, or the catalogue lacks the type or some of its fields.
  let encode: @Sendable (PendingSave<Model>, Catalogue) throws -> BoundBatch?
  /// Saves models, which may be encoded already.
  let save: @Sendable (inout WriteScope, PendingSave<Model>, BoundBatch?) throws -> SaveReport
  /// Changes the model under a key in place; nil where there is none.
  let update:
    @Sendable (
      inout WriteScope, Entity.Key, (inout Model) throws -> Void
    ) throws -> Model?
  /// Changes the models that a query selects in place.
  let updateAll:
    @Sendable (
      inout WriteScope, Query<Entity>, (inout Model) throws -> Void
    ) throws -> SaveReport
}

extension ModelSaver {
  /// Domain models, by way of the entities that a mapper makes of them. Inlined where the mapper is
  /// known, so that what is done for each model is specialised for it.
  @inlinable static func mapped<Mapper: EntityMapper>(by mapper: Mapper) -> Self
  where Mapper.Model == Model, Mapper.Entity == Entity {
    Self(
      save: { scope, save in
        try scope.save(save.models, mappedBy: mapper, clearing: save.cleared, save.policy)
      },
      update: { scope, key, body in try scope.update(key, mappedBy: mapper, body) },
      updateAll: { scope, query, body in try scope.update(query, mappedBy: mapper, body) })
  }

  /// A saver that encodes inside the write.
  @usableFromInline init(
    save: @escaping @Sendable (inout WriteScope, PendingSave<Model>) throws -> SaveReport,
    update:
      @escaping @Sendable (
        inout WriteScope, Entity.Key, (inout Model) throws -> Void
      ) throws -> Model?,
    updateAll:
      @escaping @Sendable (
        inout WriteScope, Query<Entity>, (inout Model) throws -> Void
      ) throws -> SaveReport
  ) {
    self.init(
      encode: { _, _ in nil }, save: { scope, pending, _ in try save(&scope, pending) },
      update: update, updateAll: updateAll)
  }
}

extension ModelSaver
where Model: Codable & Identifiable, Model.ID: DocumentKey, Entity == CodableDocument<Model> {
  /// Values of a plain type, in the collection of this name.
  static func coded(in collection: String) -> Self {
    Self(
      encode: { save, catalogue in try BoundBatch(save, in: collection, catalogue) },
      save: { scope, save, batch in try scope.save(save, batch, in: collection) },
      update: { scope, key, body in try scope.update(key, in: collection, body) },
      updateAll: { scope, query, body in try scope.update(query, in: collection, body) })
  }
}

/// What a save is asked to do.
@usableFromInline struct PendingSave<Model: Sendable>: Sendable {
  @usableFromInline let models: [Model]
  /// What is deleted unless it is saved again.
  @usableFromInline let cleared: Selection?
  @usableFromInline let policy: ConflictPolicy<Model>

  /// - Throws: ``StoreError/queryNotAllowed(operation:reason:)`` for a limit or an offset.
  init<Entity>(
    _ models: [Model], clearing query: Query<Entity>?, _ policy: ConflictPolicy<Model>
  ) throws {
    try query?.selection.checkMatchesWhole("clearBeforeSaving")
    self.models = models
    cleared = query?.selection
    self.policy = policy
  }
}
