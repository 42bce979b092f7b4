internal import LarderLMDB

extension WriteScope {
  /// Changes the documents that `query` selects in place: lends each of them to `body`, in the query's order,
  /// and writes those whose bytes have changed.
  ///
  /// ```swift
  /// try store.write { tx in try tx.update(Order.where { $0.isOpen }) { $0.isOpen = false } }
  /// ```
  /// The query is answered before the first document is changed, so each document is changed once, even if it
  /// matches again afterwards. Memory holds all the keys, and a few hundred documents at a time.
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
}
