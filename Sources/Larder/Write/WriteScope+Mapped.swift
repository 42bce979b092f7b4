internal import LarderLMDB

extension WriteScope {
  /// Saves documents, with a say in what becomes of those that are stored already.
  ///
  /// With a query, what it matches and is not in `documents` is deleted in the same step. A
  /// document in both is a conflict like any other.
  ///
  /// - Throws: Whatever the policy throws; ``StoreError``, among them
  ///   ``StoreError/keyChanged(collection:key:found:)`` and, for a stored document that has to be
  ///   read, ``StoreError/damagedRecord(collection:key:reason:)``. The body should let it through,
  ///   so that nothing is kept.
  @discardableResult
  public mutating func save<Entity: Document>(
    _ documents: [Entity], clearBeforeSaving query: Query<Entity>? = nil,
    onConflict policy: ConflictPolicy<Entity>
  ) throws -> SaveReport {
    if case .replace = policy { return try save(documents, clearBeforeSaving: query) }
    return try save(
      documents, mappedBy: Unmapped(), clearBeforeSaving: query, onConflict: policy)
  }

  /// Saves domain models: those that are stored already update their entities, so that fields
  /// which the mapper does not touch stay. Everything else is as for documents.
  ///
  /// - Throws: As for documents. An entity whose record is damaged is not replaced, as its
  ///   device-only fields would be lost unseen; delete it first.
  @discardableResult
  public mutating func save<Mapper: EntityMapper>(
    _ models: [Mapper.Model], mappedBy mapper: Mapper,
    clearBeforeSaving query: Query<Mapper.Entity>? = nil,
    onConflict policy: ConflictPolicy<Mapper.Model> = .replace
  ) throws -> SaveReport {
    try query?.selection.checkMatchesWhole("clearBeforeSaving")
    return try save(models, mappedBy: mapper, clearing: query?.selection, policy)
  }

  mutating func save<Mapper: EntityMapper>(
    _ models: [Mapper.Model], mappedBy mapper: Mapper, clearing selection: Selection?,
    _ policy: ConflictPolicy<Mapper.Model>
  ) throws -> SaveReport {
    if models.isEmpty, try catalogue.binding(of: Mapper.Entity.self) == nil { return SaveReport() }
    return try save(
      models, mappedBy: mapper, clearing: selection, onConflict: policy,
      declared(Mapper.Entity.self))
  }

  mutating func save<Mapper: EntityMapper>(
    _ models: [Mapper.Model], mappedBy mapper: Mapper, clearing selection: Selection?,
    onConflict policy: ConflictPolicy<Mapper.Model>, _ binding: CollectionBinding
  ) throws -> SaveReport {
    var builder = BatchBuilder(binding, count: models.count)
    for model in models {
      let key = mapper.entityAccessorKey(model)
      if try keepExisting(key, policy, binding, &builder) { continue }
      let stored = try key.withEncodedKey { key in
        try transaction.withRecord(for: key, binding) { try Mapper.Entity(from: $0) }
      }
      try builder.append(mapper.entity(for: model, over: stored, onConflict: policy))
    }
    do {
      try builder.checkDeclared()
    } catch {
      throw noted(error)
    }
    return try apply(Batch(builder), clearing: selection, binding)
  }

  /// Puts the record that is stored under `key` into the batch, if the policy wants it kept: one
  /// with equal bytes is not written, and is not cleared either.
  private borrowing func keepExisting<Model>(
    _ key: some DocumentKey, _ policy: ConflictPolicy<Model>, _ binding: CollectionBinding,
    _ builder: inout BatchBuilder
  ) throws -> Bool {
    guard case .keepExisting = policy else { return false }
    return try key.withEncodedKey { key in
      guard (1...KeyKind.maximumByteCount).contains(key.count) else { return false }
      return try transaction.withValue(for: key, in: binding.collection.documents) { record in
        try builder.append(record: record, key: key)
      } != nil
    }
  }
}
