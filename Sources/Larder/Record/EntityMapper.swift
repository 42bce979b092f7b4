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
  ///
  /// Every save writes these fields, whoever makes it, unless ``update(_:by:as:)`` says otherwise.
  func update(_ entity: inout Entity, by model: Model)

  /// Changes an entity as ``update(_:by:)`` does, with regard to where the model comes from.
  ///
  /// ```swift
  /// func update(
  ///   _ entity: inout SellerContactEntity, by model: SellerContact, as origin: ChangeOrigin
  /// ) {
  ///   update(&entity, by: model)
  ///   if origin == .local { entity.isFavourite = model.isFavourite }
  /// }
  /// ```
  /// Write it where the app edits fields that a remote does not send: what the app saves itself has
  /// the origin ``ChangeOrigin/local``, and a refresh has ``ChangeOrigin/sync``. A field that neither
  /// writes cannot be changed through the mapper: an edit of it is not kept.
  ///
  /// - Parameter origin: That of the save, or of the write that it is a part of.
  func update(_ entity: inout Entity, by model: Model, as origin: ChangeOrigin)

  /// The key of the entity that this model is stored as.
  func entityAccessorKey(_ model: Model) -> Entity.Key

  /// The key of an entity, as the mapper finds it: by default the entity's own.
  ///
  /// Every save asks for it after ``update(_:by:as:)``. An entity is stored under its own key, which
  /// is what queries and indexes go by. So it must be this one, and the model's: otherwise the save
  /// throws ``StoreError/keyChanged(collection:key:found:)``.
  func entityAccessorKey(_ entity: Entity) -> Entity.Key
}

extension EntityMapper {
  public func update(_ entity: inout Entity, by model: Model, as origin: ChangeOrigin) {
    update(&entity, by: model)
  }

  public func entityAccessorKey(_ entity: Entity) -> Entity.Key { entity.entityAccessorKey }
}

extension EntityMapper {
  /// What is to be stored for `model`, where nothing is stored yet.
  ///
  /// - Throws: ``StoreError/keyChanged(collection:key:found:)``.
  @inlinable @inline(__always) func newEntity(
    for model: Model, under key: Entity.Key, as origin: ChangeOrigin
  ) throws -> Entity {
    var entity = newEntity(for: model)
    try update(&entity, by: model, under: key, as: origin)
    return entity
  }

  /// Changes what is stored to what is to be stored for `model`.
  ///
  /// - Throws: What the policy throws; ``StoreError/keyChanged(collection:key:found:)``.
  @inlinable func update(
    _ stored: inout Entity, by model: Model, under key: Entity.Key,
    onConflict policy: ConflictPolicy<Model>, as origin: ChangeOrigin
  ) throws {
    guard case .merge(let merge) = policy, let old = convert(stored) else {
      return try update(&stored, by: model, under: key, as: origin)
    }
    let merged = try merge(old, model)
    try key.checkUnchanged(entityAccessorKey(merged), in: Entity.self)
    try update(&stored, by: merged, under: key, as: origin)
  }

  /// Changes the entity that is stored to what `body` makes of its model; false where it has none, and
  /// `body` was not called.
  ///
  /// - Throws: What `body` throws; ``StoreError/keyChanged(collection:key:found:)``.
  func change(
    _ stored: inout Entity, under key: Entity.Key, as origin: ChangeOrigin,
    _ body: (inout Model) throws -> Void
  ) throws -> Bool {
    guard var model = convert(stored) else { return false }
    try body(&model)
    try key.checkUnchanged(entityAccessorKey(model), in: Entity.self)
    try update(&stored, by: model, under: key, as: origin)
    return true
  }

  @inlinable @inline(__always) func update(
    _ entity: inout Entity, by model: Model, under key: Entity.Key, as origin: ChangeOrigin
  ) throws {
    update(&entity, by: model, as: origin)
    try key.checkUnchanged(entityAccessorKey(entity), in: Entity.self)
    try key.checkUnchanged(entity.entityAccessorKey, in: Entity.self)
  }
}

extension DocumentKey {
  /// - Throws: ``StoreError/keyChanged(collection:key:found:)`` where the encoded keys differ:
  ///   the bytes decide, as they do in the store.
  @inlinable @inline(__always) func checkUnchanged<Entity: Document>(
    _ found: Entity.Key, in type: Entity.Type
  ) throws where Entity.Key == Self {
    if hasSameBits(as: found) { return }
    try checkEncoded(found, in: type)
  }

  /// Whether both are the same in memory, and so encoded alike. Others may be encoded alike, too; but
  /// mappers mostly hand on the key that they were given, and encoding it four times was a tenth of a save.
  @inlinable @inline(__always) func hasSameBits(as other: Self) -> Bool {
    withUnsafeBytes(of: self) { mine in withUnsafeBytes(of: other) { Bytes.equal(mine, $0) } }
  }

  @inline(never) @inlinable func checkEncoded<Entity: Document>(
    _ found: Entity.Key, in type: Entity.Type
  ) throws where Entity.Key == Self {
    var isEqual = false
    withEncodedKey { key in
      found.withEncodedKey { (found) -> Void in isEqual = Bytes.equal(key, found) }
    }
    if !isEqual { throw changed(to: found, in: Entity.schema.name) }
  }

  @usableFromInline func changed(to found: Self, in collection: String) -> StoreError {
    let kind = Self.keyKind
    return .keyChanged(
      collection: collection, key: withEncodedKey { kind.text(of: $0) },
      found: found.withEncodedKey { kind.text(of: $0) })
  }
}

/// What a document without a mapper is mapped by: nothing happens to it.
struct Unmapped<Entity: Document>: EntityMapper {
  func convert(_ entity: Entity) -> Entity? { entity }
  func newEntity(for model: Entity) -> Entity { model }
  func update(_ entity: inout Entity, by model: Entity) { entity = model }
  func entityAccessorKey(_ model: Entity) -> Entity.Key { model.entityAccessorKey }
}
