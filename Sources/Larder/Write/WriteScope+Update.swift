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

  /// Changes the documents that `query` selects in place: lends each of them to `body`, in the query's order,
  /// and writes those whose bytes have changed.
  ///
  /// ```swift
  /// try store.write { tx in try tx.update(Order.where { $0.isOpen }) { $0.isOpen = false } }
  /// ```
  /// What the query selects is found before the first document is changed, so that each is changed once. Memory
  /// holds the keys of all of them, and some hundred documents.
  ///
  /// - Returns: How many were updated, how many were left unchanged, and how many stay as they were because of an
  ///   edit that waits to be sent.
  /// - Throws: Whatever `body` throws; ``StoreError``, such as
  ///   ``StoreError/keyChanged(collection:key:found:)``. The body of the write should let it through, so that
  ///   nothing is kept.
  @discardableResult
  public mutating func update<Entity: Document>(
    _ query: Query<Entity>, _ body: (inout Entity) throws -> Void
  ) throws -> SaveReport {
    let keys = try keys(of: query)
    if keys.isEmpty { return SaveReport() }
    return try update(keys, mappedBy: Unmapped(), declared(Entity.self), body)
  }

  /// Changes the domain models that `query` selects in place, as the one for documents does. Entities that have
  /// no model are left out before offset and limit.
  ///
  /// The mapper is told the origin of the write: ``EntityMapper/update(_:by:as:)``.
  ///
  /// - Throws: As the one for documents.
  @discardableResult
  public mutating func update<Mapper: EntityMapper>(
    _ query: Query<Mapper.Entity>, mappedBy mapper: Mapper,
    _ body: (inout Mapper.Model) throws -> Void
  ) throws -> SaveReport {
    let keys = try withMoment {
      try $0.aggregate(.keys(), of: query, .mapped(by: mapper))
    }
    if keys.isEmpty { return SaveReport() }
    return try update(keys, mappedBy: mapper, declared(Mapper.Entity.self), body)
  }

  /// Changes models piece by piece, so that memory does not grow with them.
  mutating func update<Mapper: EntityMapper>(
    _ keys: [Mapper.Entity.Key], mappedBy mapper: Mapper, _ binding: CollectionBinding,
    _ body: (inout Mapper.Model) throws -> Void
  ) throws -> SaveReport {
    do {
      return try change(of: binding.collection) { scope, changes in
        var report = SaveReport()
        for start in stride(from: 0, to: keys.count, by: Batch.pieceCount) {
          let end = min(start + Batch.pieceCount, keys.count)
          let piece = try scope.batch(
            changing: keys[start..<end], mappedBy: mapper, binding, body)
          report += try scope.apply(piece, clearing: nil, binding, &changes)
        }
        return report
      }
    } catch {
      throw noted(error)
    }
  }

  /// The records of what `body` makes of some models.
  private borrowing func batch<Mapper: EntityMapper>(
    changing keys: ArraySlice<Mapper.Entity.Key>, mappedBy mapper: Mapper,
    _ binding: CollectionBinding, _ body: (inout Mapper.Model) throws -> Void
  ) throws -> Batch {
    var builder = BatchBuilder(binding, count: keys.count)
    var stored = try storedRecords(binding)
    for key in keys {
      var found: Mapper.Entity?
      try key.withEncodedKey { bytes in
        guard try stored.find(bytes) else { return }
        try stored.withRecord(bytes) { found = try Mapper.Entity(from: $0) }
      }
      guard var entity = found, try mapper.change(&entity, under: key, as: origin, body) else {
        continue
      }
      try builder.append(entity)
    }
    try builder.checkDeclared()
    return Batch(builder)
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
