internal import LarderLMDB

extension WriteScope {
  /// Changes the document under `key` in place: reads it, lends it to `body`, and writes it where
  /// its bytes have changed.
  ///
  /// ```swift
  /// try store.write { tx in try tx.update(Contact.self, "a") { $0.order += 1 } }
  /// ```
  /// - Returns: The document as it is now; nil when there is none, and `body` was not called.
  /// - Throws: Whatever `body` throws; ``StoreError/keyChanged(collection:key:found:)`` when it
  ///   gives the document another key; ``StoreError``, such as
  ///   ``StoreError/damagedRecord(collection:key:reason:)``. The document is as it was then, and
  ///   the transaction can go on.
  @discardableResult
  public mutating func update<Entity: Document>(
    _ type: Entity.Type, _ key: Entity.Key, _ body: (inout Entity) throws -> Void
  ) throws -> Entity? {
    try update(key, mappedBy: Unmapped<Entity>(), body)
  }

  /// Changes the domain model of the entity under `key` in place: reads it, lends it to `body`, and
  /// writes what the mapper makes of it where the entity's bytes have changed.
  ///
  /// The mapper is told the origin of the write: ``EntityMapper/update(_:by:as:)``.
  ///
  /// - Returns: The model of the entity as it is now, as a `get` would give it. Nil when there is no
  ///   entity, or none with a model, and `body` was not called; also when the changed entity has no
  ///   model any more.
  /// - Throws: As the one for documents.
  @discardableResult
  public mutating func update<Mapper: EntityMapper>(
    _ key: Mapper.Entity.Key, mappedBy mapper: Mapper,
    _ body: (inout Mapper.Model) throws -> Void
  ) throws -> Mapper.Model? {
    guard let stored = try get(Mapper.Entity.self, key) else { return nil }
    let binding = try declared(Mapper.Entity.self)  // Before `body`, which should not run twice.
    return try update(stored, under: key, mappedBy: mapper, binding, body)
  }

  mutating func update<Mapper: EntityMapper>(
    _ stored: Mapper.Entity, under key: Mapper.Entity.Key, mappedBy mapper: Mapper,
    _ binding: CollectionBinding, _ body: (inout Mapper.Model) throws -> Void
  ) throws -> Mapper.Model? {
    var entity = stored
    guard try mapper.change(&entity, under: key, as: origin, body) else { return nil }
    var builder = BatchBuilder(binding, count: 1)
    try builder.append(entity)
    do {
      try builder.checkDeclared()
    } catch {
      throw noted(error)
    }
    let report = try apply(Batch(builder), clearing: nil, binding)
    // With an edit that waits to be sent it stays as it is.
    return mapper.convert(report.kept > 0 ? stored : entity)
  }

  /// Saves a document and returns the one that it replaces; nil when there was none.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)`` when the
  ///   old one cannot be read (``save(_:)`` would replace it). Nothing is changed then.
  @discardableResult
  public mutating func upsert<Entity: Document>(_ document: Entity) throws -> Entity? {
    let old = try get(Entity.self, document.entityAccessorKey)
    try save(document)
    return old
  }
}
