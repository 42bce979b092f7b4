internal import LarderLMDB

/// The reads that a ``Snapshot`` and a ``WriteScope`` have in common. A write reads what it has written
/// so far.
///
/// ```swift
/// func openOrders(_ moment: borrowing some Reading & ~Copyable) throws -> Int {
///   try moment.count(Order.where { $0.isOpen })
/// }
/// ```
public protocol Reading: ~Copyable {
  /// Lends the transaction that the reads of this protocol use. There is nothing to call it for: a
  /// `Moment` has no members of its own and cannot be kept.
  @_documentation(visibility: internal)
  borrowing func withMoment<Result>(
    _ body: (borrowing Moment) throws -> Result
  ) rethrows -> Result
}

extension Snapshot: Reading {
  public borrowing func withMoment<Result>(
    _ body: (borrowing Moment) throws -> Result
  ) rethrows -> Result {
    try body(moment)
  }

  /// To be used while the snapshot lives.
  var moment: Moment { Moment(transaction, catalogue, noting: notes) }
}

// MARK: Documents

extension Reading where Self: ~Copyable {
  /// The document under `key`, or nil.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` when it cannot be read.
  public borrowing func get<Entity: Document>(
    _ type: Entity.Type = Entity.self, _ key: Entity.Key
  ) throws -> Entity? {
    try withMoment { moment in
      guard let binding = try moment.binding(of: type, key: key) else { return nil }
      return try key.withEncodedKey { key in
        try moment.transaction.withRecord(for: key, binding) { try Entity(from: $0) }
      }
    }
  }

  /// The documents under `keys` that exist, in the order of `keys`.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for the first that cannot be
  ///   read.
  public borrowing func get<Entity: Document>(
    _ type: Entity.Type = Entity.self, keys: some Sequence<Entity.Key>
  ) throws -> [Entity] {
    var documents: [Entity] = []
    for key in keys {
      if let document = try get(type, key) { documents.append(document) }
    }
    return documents
  }

  /// The documents under `keys` that exist and can be read, in the order of `keys`. The others are
  /// reported, as ``Query/skippingUnreadable(_:)`` does.
  ///
  /// - Throws: ``StoreError``, but not for a document that cannot be read.
  public borrowing func get<Entity: Document>(
    _ type: Entity.Type = Entity.self, keys: some Sequence<Entity.Key>,
    skippingUnreadable report: @escaping @Sendable (UnreadableDocument) -> Void
  ) throws -> [Entity] {
    let form = ModelForm<Entity, Entity>.documents.skipping(UnreadableHandler(report: report))
    return try withMoment { try $0.get(keys: Array(keys), form) }
  }

  /// The documents that `query` selects, in its order.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for the first that cannot be
  ///   read.
  public borrowing func fetch<Entity: Document>(_ query: Query<Entity>) throws -> [Entity] {
    try withMoment { moment in
      if query.selection.unreadable != nil { return try moment.fetch(query, .documents) }
      let filter = query.selection.interest
      guard let binding = try moment.binding(of: Entity.self, matching: filter) else { return [] }
      return try moment.fetch(query.selection, binding) { try Entity(from: $0) }
    }
  }

  /// The first document that `query` selects, in its order; nil if it selects none.
  ///
  /// - Throws: As `fetch(_:)`.
  public borrowing func first<Entity: Document>(_ query: Query<Entity>) throws -> Entity? {
    try fetch(query.limit(1)).first
  }

  /// How many documents `query` selects.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` when a field of the filter
  ///   cannot be read.
  public borrowing func count<Entity: Document>(_ query: Query<Entity>) throws -> Int {
    try withMoment { try $0.count(query, .documents) }
  }
}

// MARK: Domain models

extension Reading where Self: ~Copyable {
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
    try withMoment { try $0.fetch(query, .mapped(by: mapper)) }
  }

  /// The first domain model that ``fetch(_:mappedBy:)`` would give, or nil.
  ///
  /// - Throws: As ``fetch(_:mappedBy:)``.
  public borrowing func first<Mapper: EntityMapper>(
    _ query: Query<Mapper.Entity>, mappedBy mapper: Mapper
  ) throws -> Mapper.Model? {
    try fetch(query.limit(1), mappedBy: mapper).first
  }

  /// How many domain models ``fetch(_:mappedBy:)`` would give. Decodes every entity that the
  /// filter matches, since only the mapper knows which have a model.
  ///
  /// - Throws: As ``fetch(_:mappedBy:)``.
  public borrowing func count<Mapper: EntityMapper>(
    _ query: Query<Mapper.Entity>, mappedBy mapper: Mapper
  ) throws -> Int {
    try withMoment { try $0.count(query, .mapped(by: mapper)) }
  }
}

// MARK: Models of any form

extension Moment {
  borrowing func get<Model, Entity>(
    keys: [Entity.Key], _ form: ModelForm<Model, Entity>
  ) throws -> [Model] {
    guard form.unreadable == nil else { return try get(readableKeys: keys, form) }
    guard let binding = try lastingBinding(of: form, keys: keys) else { return [] }
    var models: [Model] = []
    try binding._withUnsafeGuaranteedRef { binding in
      for key in keys {
        try key.withEncodedKey { key in
          _ = try transaction.withRecord(for: key, binding) { record in
            if let model = try form.model(record) { models.append(model) }
          }
        }
      }
    }
    return models
  }

  private borrowing func get<Model, Entity>(
    readableKeys keys: [Entity.Key], _ form: ModelForm<Model, Entity>
  ) throws -> [Model] {
    guard let binding = try lastingBinding(of: form, keys: keys)?.takeUnretainedValue() else {
      return []
    }
    var models: [Model] = []
    var documents = try transaction.cursor(in: binding.collection.documents)
    for key in keys {
      try key.withEncodedKey { key in
        guard (1...KeyKind.maximumByteCount).contains(key.count), try documents.seek(key),
          let model = try form.model(documents.value, key: key, binding)
        else { return }
        models.append(model)
      }
    }
    return models
  }

  borrowing func fetch<Model, Entity>(
    _ query: Query<Entity>, _ form: ModelForm<Model, Entity>
  ) throws -> [Model] {
    let form = form.skipping(query.selection.unreadable)
    let filter = query.selection.interest
    guard let binding = try binding(of: form, matching: filter) else { return [] }
    var models: [Model] = []
    guard form.isWhole else {
      try forEachModel(query.selection, binding, form) { model in
        models.append(model)
        return true
      }
      return models
    }
    return try fetch(query.selection, binding, as: form.model)
  }

  /// The models of the records that a selection selects, without the records that have none.
  borrowing func fetch<Model>(
    _ selection: Selection, _ binding: CollectionBinding,
    as model: @escaping @Sendable (borrowing RecordReader) throws -> Model?
  ) throws -> [Model] {
    var models: [Model] = []
    let parts = try transaction.select(selection, binding) { part in
      let models = PartBuffer<Model>(expectedCount: part.expectedCount)
      try part.forEachRecord { record in
        if let model = try model(record) { models.append(model) }
      }
      return models
    } expect: {
      models.reserveCapacity($0)
    } _: { record in
      if let model = try model(record) { models.append(model) }
    }
    return parts.map { Array(moving: $0) } ?? models
  }

  borrowing func count<Model, Entity>(
    _ query: Query<Entity>, _ form: ModelForm<Model, Entity>
  ) throws -> Int {
    let form = form.skipping(query.selection.unreadable)
    let filter = query.selection.filter
    guard let binding = try binding(of: form, matching: filter) else { return 0 }
    if form.isWhole { return try transaction.count(query.selection, binding) }
    var selection = query.selection
    selection.order = []
    var count = 0
    try forEachModel(selection, binding, form) { _ in
      count += 1
      return true
    }
    return count
  }

  /// Lends the models that a selection selects until `body` says false.
  borrowing func forEachModel<Model, Entity>(
    _ selection: Selection, _ binding: CollectionBinding, _ form: ModelForm<Model, Entity>,
    _ body: (Model) throws -> Bool
  ) throws {
    try forEachSelected(
      selection, transaction.execution(of: selection, binding),
      unless: { try form.skips($1, key: $0, binding) }, as: form.model
    ) { _, _, model in try body(model) }
  }

  /// Lends what a selection selects until `body` says false. What is to be skipped, and what `part`
  /// gives nil for, is left out before offset and limit.
  borrowing func forEachSelected<Part>(
    _ selection: Selection, _ execution: Execution,
    unless skips: (
      _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer
    ) throws -> Bool,
    as part: (borrowing RecordReader) throws -> Part?,
    _ body: (UnsafeRawBufferPointer, borrowing RecordReader, Part) throws -> Bool
  ) throws {
    let limit = selection.maximum ?? .max
    if limit == 0 { return }
    let binding = execution.binding
    var skipped = 0
    var taken = 0
    try execution.forEach(in: transaction) { key, record in
      if try skips(key, record) { return true }
      return try binding.reading(record, key: key) { record in
        guard let part = try part(record) else { return true }
        if skipped < selection.skipped {
          skipped += 1
          return true
        }
        taken += 1
        return try body(key, record, part) && taken < limit
      }
    }
  }
}
