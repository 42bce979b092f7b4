internal import LarderLMDB

extension Snapshot {
  /// The domain model of the entity under `key`; nil where there is no entity, or no model of it.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` when it cannot be read.
  public borrowing func get<Mapper: EntityMapper>(
    _ key: Mapper.Entity.Key, mappedBy mapper: Mapper
  ) throws -> Mapper.Model? {
    try get(Mapper.Entity.self, key).flatMap(mapper.convert)
  }

  /// The domain models of the entities that `query` selects, in its order. Entities that have no
  /// model are left out before offset and limit.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for the first that cannot be
  ///   read.
  public borrowing func fetch<Mapper: EntityMapper>(
    _ query: Query<Mapper.Entity>, mappedBy mapper: Mapper
  ) throws -> [Mapper.Model] {
    var models: [Mapper.Model] = []
    try forEachModel(query, mapper) { models.append($0) }
    return models
  }

  /// How many domain models ``fetch(_:mappedBy:)`` would give. Decodes every entity that the
  /// filter matches, since only the mapper knows which have a model.
  ///
  /// - Throws: As ``fetch(_:mappedBy:)``.
  public borrowing func count<Mapper: EntityMapper>(
    _ query: Query<Mapper.Entity>, mappedBy mapper: Mapper
  ) throws -> Int {
    var query = query
    query.selection.order = []
    var count = 0
    try forEachModel(query, mapper) { _ in count += 1 }
    return count
  }

  private borrowing func forEachModel<Mapper: EntityMapper>(
    _ query: Query<Mapper.Entity>, _ mapper: Mapper, _ body: (Mapper.Model) -> Void
  ) throws {
    let limit = query.selection.maximum ?? .max
    guard limit > 0, let binding = try catalogue.binding(of: Mapper.Entity.self) else { return }
    var skipped = 0
    var taken = 0
    try transaction.forEachSelected(query.selection, binding) { record in
      guard let model = mapper.convert(try Mapper.Entity(from: record)) else { return true }
      if skipped < query.selection.skipped {
        skipped += 1
        return true
      }
      body(model)
      taken += 1
      return taken < limit
    }
  }
}
