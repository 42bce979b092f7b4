/// Stands between a domain model that knows nothing of storage and the entity that is stored.
///
/// ```swift
/// struct SellerContactMapper: EntityMapper {
///   func convert(_ entity: SellerContactEntity) -> SellerContact? { ... }
///   func newEntity(for model: SellerContact) -> SellerContactEntity { ... }
///   func update(_ entity: inout SellerContactEntity, by model: SellerContact) { ... }
///   func entityAccessorKey(_ model: SellerContact) -> String { model.id }
/// }
/// ```
/// A new domain type needs one mapper and one entity, nothing else:
/// ``Store/repository(of:mappedBy:)`` does the rest. Every function here is called inside reads
/// and writes, on any thread, so it should be quick and must not write to the store.
public protocol EntityMapper<Model, Entity>: Sendable {
  associatedtype Model: Sendable
  associatedtype Entity: Document

  /// The domain model of a stored entity; nil where it has none, and is left out of what is
  /// read, before offset, limit and count.
  func convert(_ entity: Entity) -> Model?

  /// An entity under the model's key, for one that is not stored yet. ``update(_:by:)`` is called
  /// with it next, so that only what the model does not say needs a value here.
  func newEntity(for model: Model) -> Entity

  /// Changes a new or stored entity to what the model says. Fields that it does not touch, as
  /// those that only the device knows, stay as they are. Must not change the key.
  func update(_ entity: inout Entity, by model: Model)

  /// The key of the entity that this model is stored as.
  func entityAccessorKey(_ model: Model) -> Entity.Key
}

extension EntityMapper {
  /// The key that an entity is stored under: its own.
  public func entityAccessorKey(_ entity: Entity) -> Entity.Key { entity.entityAccessorKey }
}

extension EntityMapper {
  /// What is to be stored for `model`, where `stored` is there already, or nothing.
  ///
  /// - Throws: What the policy throws; ``StoreError/keyChanged(collection:key:found:)``.
  func entity(
    for model: Model, over stored: Entity?, onConflict policy: ConflictPolicy<Model>
  ) throws -> Entity {
    let key = entityAccessorKey(model)
    var model = model
    if case .merge(let merge) = policy, let old = stored.flatMap(convert) {
      model = try merge(old, model)
      try key.checkUnchanged(entityAccessorKey(model), in: Entity.self)
    }
    var entity = stored ?? newEntity(for: model)
    update(&entity, by: model)
    try key.checkUnchanged(entity.entityAccessorKey, in: Entity.self)
    return entity
  }
}

extension DocumentKey {
  /// - Throws: ``StoreError/keyChanged(collection:key:found:)`` where the encoded keys differ:
  ///   the bytes decide, as they do in the store.
  func checkUnchanged<Entity: Document>(
    _ found: Entity.Key, in type: Entity.Type
  ) throws where Entity.Key == Self {
    try withEncodedKey { key in
      try found.withEncodedKey { found in
        guard !Bytes.equal(key, found) else { return }
        let kind = Self.keyKind
        throw StoreError.keyChanged(
          collection: Entity.schema.name, key: kind.text(of: key), found: kind.text(of: found))
      }
    }
  }
}

/// What a document without a mapper is mapped by: nothing happens to it.
struct Unmapped<Entity: Document>: EntityMapper {
  func convert(_ entity: Entity) -> Entity? { entity }
  func newEntity(for model: Entity) -> Entity { model }
  func update(_ entity: inout Entity, by model: Entity) { entity = model }
  func entityAccessorKey(_ model: Entity) -> Entity.Key { model.entityAccessorKey }
}
