internal import LarderLMDB

/// A model, and what was fetched beside it.
public struct Included<Model: Sendable, Related: Sendable>: Sendable {
  /// The document that the query selected.
  public let model: Model
  /// What belongs to it.
  public let related: Related

  /// A document and what belongs to it.
  public init(model: Model, related: Related) {
    self.model = model
    self.related = related
  }
}

extension Included: Equatable where Model: Equatable, Related: Equatable {}

// MARK: What a document refers to

extension Reading where Self: ~Copyable {
  /// The documents under `keys` that exist, by their keys. Each is read once, in the order in which
  /// they lie, whatever the order of `keys` and however often one is among them.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for one that cannot be read.
  public borrowing func documents<Entity: Document>(
    _ type: Entity.Type = Entity.self, keys: some Sequence<Entity.Key>
  ) throws -> [Entity.Key: Entity] {
    try documents(type, keys: keys, skipping: nil)
  }

  private borrowing func documents<Entity: Document>(
    _ type: Entity.Type, keys: some Sequence<Entity.Key>, skipping unreadable: UnreadableHandler?
  ) throws -> [Entity.Key: Entity] {
    try withMoment { moment in
      let form = ModelForm<Entity, Entity>.documents.skipping(unreadable)
      let keys = Set(keys)
      guard let binding = try moment.lastingBinding(of: form, keys: keys)?.takeUnretainedValue()
      else { return [:] }
      var wanted: [(key: Entity.Key, bytes: [UInt8])] = []
      for key in keys { wanted.append((key, key.withEncodedKey { [UInt8]($0) })) }
      wanted.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) }
      var documents: [Entity.Key: Entity] = [:]
      documents.reserveCapacity(wanted.count)
      var cursor = try moment.transaction.cursor(in: binding.collection.documents)
      for (key, bytes) in wanted {
        try bytes.withUnsafeBytes { bytes in
          guard (1...KeyKind.maximumByteCount).contains(bytes.count), try cursor.seek(bytes) else {
            return
          }
          documents[key] = try form.model(cursor.value, key: bytes, binding)
        }
      }
      return documents
    }
  }

  /// The documents that `query` selects, each with the one that its field refers to: nil where there
  /// is none under that key. Two passes, however many documents there are.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for one that cannot be read.
  public borrowing func fetch<Entity: Document, Other: Document>(
    _ query: Query<Entity>, including key: KeyPath<Entity, Other.Key>, of type: Other.Type
  ) throws -> [Included<Entity, Other?>] {
    let models = try fetch(query)
    let others = try documents(
      type, keys: models.lazy.map { $0[keyPath: key] },
      skipping: query.selection.unreadable)
    return models.map { Included(model: $0, related: others[$0[keyPath: key]]) }
  }

  /// The documents that `query` selects, each with the one that its field refers to, if it does.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for one that cannot be read.
  public borrowing func fetch<Entity: Document, Other: Document>(
    _ query: Query<Entity>, including key: KeyPath<Entity, Other.Key?>, of type: Other.Type
  ) throws -> [Included<Entity, Other?>] {
    let models = try fetch(query)
    let others = try documents(
      type, keys: models.lazy.compactMap { $0[keyPath: key] },
      skipping: query.selection.unreadable)
    return models.map { model in
      Included(model: model, related: model[keyPath: key].flatMap { others[$0] })
    }
  }

  /// The documents that `query` selects, each with those that its field refers to, in the field's
  /// order and without those that do not exist.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for one that cannot be read.
  public borrowing func fetch<Entity: Document, Other: Document>(
    _ query: Query<Entity>, including keys: KeyPath<Entity, [Other.Key]>, of type: Other.Type
  ) throws -> [Included<Entity, [Other]>] {
    let models = try fetch(query)
    let others = try documents(
      type, keys: models.lazy.flatMap { $0[keyPath: keys] },
      skipping: query.selection.unreadable)
    return models.map { model in
      Included(model: model, related: model[keyPath: keys].compactMap { others[$0] })
    }
  }
}

// MARK: What refers to a document

extension Reading where Self: ~Copyable {
  /// The documents that `query` selects, each with those of another collection that refer to it by
  /// their field: `fetch(Contact.all, collecting: Order.all.sorted(by: \.date), by: \.contactID)`.
  ///
  /// An index on the field finds them; without one the other collection is read once for every 200
  /// documents.
  ///
  /// - Parameter others: Which of them, and in which order.
  /// - Throws: ``StoreError/queryNotAllowed(operation:reason:)`` for `others` with a limit or an
  ///   offset; ``StoreError/damagedRecord(collection:key:reason:)`` for one that cannot be read.
  public borrowing func fetch<Entity: Document, Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>,
    by key: any KeyPath<Other, Entity.Key> & Sendable
  ) throws -> [Included<Entity, [Other]>] where Entity.Key: Comparand {
    try fetch(query, collecting: others, QueryField<Other, Entity.Key>(key).operand) {
      $0[keyPath: key]
    } stored: {
      Value(storing: $0)
    }
  }

  /// The documents that `query` selects, each with those of another collection that refer to it by
  /// their field, which may be nil.
  ///
  /// - Throws: As the other one.
  public borrowing func fetch<Entity: Document, Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>,
    by key: any KeyPath<Other, Entity.Key?> & Sendable
  ) throws -> [Included<Entity, [Other]>] where Entity.Key: Comparand {
    try fetch(query, collecting: others, QueryField<Other, Entity.Key?>(key).operand) {
      $0[keyPath: key]
    } stored: {
      Value(storing: $0)
    }
  }

  /// The documents that `query` selects, each with those of another collection that refer to it by
  /// their field, where keys have a type of their own with a raw value.
  ///
  /// - Throws: As the other ones.
  public borrowing func fetch<Entity: Document, Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>,
    by key: any KeyPath<Other, Entity.Key> & Sendable
  ) throws -> [Included<Entity, [Other]>]
  where Entity.Key: RawRepresentable & Equatable & Sendable, Entity.Key.RawValue: Comparand {
    try fetch(query, collecting: others, QueryField<Other, Entity.Key>(key).rawOperand) {
      $0[keyPath: key]
    } stored: {
      Value(storing: $0.rawValue)
    }
  }

  /// The documents that `query` selects, each with those of another collection that refer to it by
  /// their field, which may be nil, where keys have a type of their own with a raw value.
  ///
  /// - Throws: As the other ones.
  public borrowing func fetch<Entity: Document, Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>,
    by key: any KeyPath<Other, Entity.Key?> & Sendable
  ) throws -> [Included<Entity, [Other]>]
  where Entity.Key: RawRepresentable & Equatable & Sendable, Entity.Key.RawValue: Comparand {
    try fetch(query, collecting: others, QueryField<Other, Entity.Key?>(key).optionalRawOperand()) {
      $0[keyPath: key]
    } stored: {
      Value(storing: $0.rawValue)
    }
  }

  private borrowing func fetch<Entity: Document, Other: Document>(
    _ query: Query<Entity>, collecting others: Query<Other>, _ operand: Operand,
    key: (Other) -> Entity.Key?, stored: (Entity.Key) -> Value
  ) throws -> [Included<Entity, [Other]>] {
    try others.selection.checkMatchesWhole("collecting")
    let models = try fetch(query)
    var found: [Entity.Key: [Other]] = [:]
    // As many as an index looks for in one go.
    for start in stride(from: 0, to: models.count, by: 200) {
      let keys = models[start..<min(start + 200, models.count)].map(\.entityAccessorKey)
      let condition = FilterNode.test(operand, .isAny(keys.map(stored)))
      let part = others.where { _ in Filter(node: condition) }
      for other in try fetch(part) {
        if let key = key(other) { found[key, default: []].append(other) }
      }
    }
    return models.map { Included(model: $0, related: found[$0.entityAccessorKey] ?? []) }
  }
}
