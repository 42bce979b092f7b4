internal import LarderLMDB

// What a repository of a plain `Codable` type does inside its transactions. The collection is
// named: the type may have several.

/// What a plain type is mapped by to its documents.
struct CodableMapper<Model: Codable & Identifiable & Sendable>: EntityMapper
where Model.ID: DocumentKey {
  func convert(_ entity: CodableDocument<Model>) -> Model? { entity.model }
  func newEntity(for model: Model) -> CodableDocument<Model> { CodableDocument(model) }
  func update(_ entity: inout CodableDocument<Model>, by model: Model) { entity.model = model }
  func entityAccessorKey(_ model: Model) -> Model.ID { model.id }
}

/// Encoded values, and how their type's fields stood in the collection at the time.
struct CodableBatch: Sendable {
  let batch: Batch
  let binding: CollectionBinding
}

extension Batch {
  /// Encodes values.
  ///
  /// - Throws: ``StoreError`` for a key or a value that cannot be stored;
  ///   ``UndeclaredFields/Needed``.
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
  /// - Parameter batch: The models, encoded already.
  mutating func save<Model: Codable & Identifiable & Sendable>(
    _ models: [Model], _ batch: CodableBatch?, in name: String, clearing selection: Selection?,
    onConflict policy: ConflictPolicy<Model>
  ) throws -> SaveReport where Model.ID: DocumentKey {
    typealias Entity = CodableDocument<Model>
    guard let binding = try catalogue.binding(of: Entity.self, in: name) else {
      if models.isEmpty { return SaveReport() }
      undeclared = try Declaration(
        name: name, keyKind: Model.ID.keyKind, keyField: nil,
        shape: CodableShapes(of: Model.self).shape)
      throw DeclarationNeeded()
    }
    guard case .replace = policy else {
      return try save(
        models, mappedBy: CodableMapper(), clearing: selection, onConflict: policy, binding)
    }
    if let batch, batch.binding.collection === binding.collection {
      return try apply(batch.batch, clearing: selection, binding)
    }
    return try encodeAndSave(models, clearing: selection, binding)
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

  mutating func delete<Model>(
    _ query: Query<CodableDocument<Model>>, in name: String
  ) throws -> Int {
    try query.selection.checkMatchesWhole("delete")
    guard let binding = try catalogue.binding(of: CodableDocument<Model>.self, in: name) else {
      return 0
    }
    return try delete(query.selection, binding)
  }

  mutating func delete<Model: Codable & Identifiable & Sendable>(
    _ type: Model.Type, keys: [Model.ID], in name: String
  ) throws -> Int where Model.ID: DocumentKey {
    guard let binding = try catalogue.binding(of: CodableDocument<Model>.self, in: name) else {
      return 0
    }
    return try delete(keys: keys, binding.collection)
  }

  mutating func eraseAllData(ofCollection name: String) throws -> Int {
    guard let collection = catalogue[name] else { return 0 }
    return try eraseAllData(of: collection)
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

extension Snapshot {
  borrowing func get<Model: Codable & Identifiable & Sendable>(
    _ type: Model.Type, keys: [Model.ID], in name: String
  ) throws -> [Model] where Model.ID: DocumentKey {
    guard let binding = try binding(of: CodableDocument<Model>.self, in: name) else { return [] }
    var models: [Model] = []
    try binding._withUnsafeGuaranteedRef { binding in
      for key in keys {
        try key.withEncodedKey { key in
          _ = try transaction.withRecord(for: key, binding) {
            models.append(try $0.document(coding: type))
          }
        }
      }
    }
    return models
  }

  borrowing func fetch<Model>(
    _ query: Query<CodableDocument<Model>>, in name: String
  ) throws -> [Model] {
    guard let binding = try catalogue.binding(of: CodableDocument<Model>.self, in: name) else {
      return []
    }
    var models: [Model] = []
    if query.selection.filter == .constant(true) {
      models.reserveCapacity(try transaction.count(query.selection, binding))
    }
    try transaction.select(query.selection, binding) {
      models.append(try $0.document(coding: Model.self))
    }
    return models
  }
}
