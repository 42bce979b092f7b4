/// How models are saved in a collection: by way of a mapper, or by a plain type's own coding.
struct ModelSaver<Model: Sendable>: Sendable {
  /// Encodes models before their write has its turn; nil where that is better done inside it: stored
  /// documents are to be looked at, or the catalogue lacks the type or some of its fields.
  let encode: @Sendable (PendingSave<Model>, Catalogue) throws -> BoundBatch?
  /// Saves models, which may be encoded already.
  let save: @Sendable (inout WriteScope, PendingSave<Model>, BoundBatch?) throws -> SaveReport
}

extension ModelSaver {
  /// Domain models, by way of the entities that a mapper makes of them.
  static func mapped<Mapper: EntityMapper>(by mapper: Mapper) -> Self
  where Mapper.Model == Model {
    Self(
      encode: { _, _ in nil },
      save: { scope, save, _ in
        try scope.save(save.models, mappedBy: mapper, clearing: save.cleared, save.policy)
      })
  }
}

extension ModelSaver where Model: Codable & Identifiable, Model.ID: DocumentKey {
  /// Values of a plain type, in the collection of this name.
  static func coded(in collection: String) -> Self {
    Self(
      encode: { save, catalogue in try BoundBatch(save, in: collection, catalogue) },
      save: { scope, save, batch in try scope.save(save, batch, in: collection) })
  }
}

/// What a save is asked to do.
struct PendingSave<Model: Sendable>: Sendable {
  let models: [Model]
  /// What is deleted unless it is saved again.
  let cleared: Selection?
  let policy: ConflictPolicy<Model>

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
