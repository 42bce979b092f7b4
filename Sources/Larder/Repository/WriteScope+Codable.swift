internal import LarderLMDB

// How values of a plain `Codable` type are saved. The collection is named: the type may have several.

/// What a plain type is mapped by to its documents.
struct CodableMapper<Model: Codable & Identifiable & Sendable>: EntityMapper
where Model.ID: DocumentKey {
  func convert(_ entity: CodableDocument<Model>) -> Model? { entity.model }
  func newEntity(for model: Model) -> CodableDocument<Model> { CodableDocument(model) }
  func update(_ entity: inout CodableDocument<Model>, by model: Model) { entity.model = model }
  func entityAccessorKey(_ model: Model) -> Model.ID { model.id }
}

/// Encoded models, and how their type's fields stood in the collection at the time.
struct BoundBatch: Sendable {
  let batch: Batch
  let binding: CollectionBinding
}

extension BoundBatch {
  /// Nil where the values are better encoded inside the write; very many of them are, too.
  ///
  /// - Throws: ``StoreError`` for a key or a value that cannot be stored.
  init?<Model: Codable & Identifiable & Sendable>(
    _ save: PendingSave<Model>, in collection: String, _ catalogue: Catalogue
  ) throws where Model.ID: DocumentKey {
    guard case .replace = save.policy,
      save.models.count <= Batch.largestCount || save.cleared != nil,
      let binding = try catalogue.unlessUnfit({
        try catalogue.binding(of: CodableDocument<Model>.self, in: collection)
      }),
      let batch = try Batch.unlessUndeclared({ try Batch(save.models[...], binding) })
    else { return nil }
    self.init(batch: batch, binding: binding)
  }
}

extension Batch {
  /// Encodes values.
  ///
  /// - Throws: ``StoreError`` for a key or a value that cannot be stored;
  ///   ``FieldsNeeded``.
  convenience init<Model: Codable & Identifiable & Sendable>(
    _ models: ArraySlice<Model>, _ binding: CollectionBinding
  ) throws where Model.ID: DocumentKey {
    var builder = BatchBuilder(binding, count: models.count)
    try models.withUnsafeBufferPointer { models in
      for index in models.indices { try builder.append(coding: models[index]) }
    }
    try builder.checkDeclared()
    self.init(builder)
  }
}

extension BatchBuilder {
  mutating func append<Model: Codable & Identifiable & Sendable>(
    coding model: Model
  ) throws where Model.ID: DocumentKey {
    try model.id.withEncodedKey { key in
      try begin(key)
      writer.beginDocument()
      writer.putDocument(coding: model)
      try end(key)
    }
  }
}

extension WriteScope {
  /// - Parameter batch: The models, where they are encoded already.
  mutating func save<Model: Codable & Identifiable & Sendable>(
    _ save: PendingSave<Model>, _ batch: BoundBatch?, in name: String
  ) throws -> SaveReport where Model.ID: DocumentKey {
    let found = try catalogue.unlessUnfit {
      try catalogue.binding(of: CodableDocument<Model>.self, in: name)
    }
    guard let binding = found else {
      if save.models.isEmpty { return SaveReport() }
      undeclared = try Declaration(
        name: name, keyKind: Model.ID.keyKind, keyField: nil,
        shape: CodableShapes(of: Model.self).shape)
      throw DeclarationNeeded()
    }
    guard case .replace = save.policy else {
      return try self.save(
        save.models, mappedBy: CodableMapper(), clearing: save.cleared, onConflict: save.policy,
        binding)
    }
    if let batch, batch.binding.collection === binding.collection {
      return try apply(batch.batch, clearing: save.cleared, binding)
    }
    return try encodeAndSave(save.models, clearing: save.cleared, binding)
  }

  /// Changes the value under `key` in place. `body` runs again where the changed value has fields
  /// that the catalogue lacks.
  mutating func update<Model: Codable & Identifiable & Sendable>(
    _ key: Model.ID, in name: String, _ body: (inout Model) throws -> Void
  ) throws -> Model? where Model.ID: DocumentKey {
    guard let binding = try catalogue.binding(of: CodableDocument<Model>.self, in: name),
      let stored = try key.withEncodedKey({ key in
        try transaction.withRecord(for: key, binding) { try CodableDocument<Model>(from: $0) }
      })
    else { return nil }
    return try update(stored, under: key, mappedBy: CodableMapper(), binding, body)
  }

  /// Changes the values that `query` selects in place. `body` runs again where a changed value has fields that
  /// the catalogue lacks.
  mutating func update<Model: Codable & Identifiable & Sendable>(
    _ query: Query<CodableDocument<Model>>, in name: String, _ body: (inout Model) throws -> Void
  ) throws -> SaveReport where Model.ID: DocumentKey {
    let form = ModelForm<Model, CodableDocument<Model>>.coded(in: name)
    let keys = try withMoment { try $0.aggregate(.keys(), of: query, form) }
    guard !keys.isEmpty, let binding = try form.binding(catalogue) else { return SaveReport() }
    return try update(keys, mappedBy: CodableMapper(), binding, body)
  }

  /// Encodes and writes piece by piece, so that memory does not grow with the batch; all at once
  /// where something is to be cleared, or where one key might stand in two pieces.
  private mutating func encodeAndSave<Model: Codable & Identifiable & Sendable>(
    _ models: [Model], clearing selection: Selection?, _ binding: CollectionBinding
  ) throws -> SaveReport where Model.ID: DocumentKey {
    let isWhole =
      selection != nil || models.count <= Batch.largestCount || !Batch.areAscending(models)
    let pieceCount = isWhole ? max(1, models.count) : Batch.pieceCount
    do {
      return try change(of: binding.collection) { scope, changes in
        var report = SaveReport()
        for start in stride(from: 0, to: max(1, models.count), by: pieceCount) {
          let piece = models[start..<min(start + pieceCount, models.count)]
          report += try scope.apply(
            Batch(piece, binding), clearing: selection, binding, &changes)
        }
        return report
      }
    } catch {
      throw noted(error)
    }
  }
}

extension Batch {
  /// Whether each key comes after the one before it.
  fileprivate static func areAscending<Model: Identifiable>(_ models: [Model]) -> Bool
  where Model.ID: DocumentKey {
    var last: [UInt8] = []
    return models.allSatisfy { model in
      let key = model.id.withEncodedKey { [UInt8]($0) }
      defer { last = key }
      return last.lexicographicallyPrecedes(key)
    }
  }
}
