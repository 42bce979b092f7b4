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

  @inlinable mutating func save<Mapper: EntityMapper>(
    _ models: [Mapper.Model], mappedBy mapper: Mapper, clearing selection: Selection?,
    _ policy: ConflictPolicy<Mapper.Model>
  ) throws -> SaveReport {
    if models.isEmpty, try isUnknown(Mapper.Entity.self) { return SaveReport() }
    return try save(
      models, mappedBy: mapper, clearing: selection, onConflict: policy,
      declared(Mapper.Entity.self))
  }

  @usableFromInline borrowing func isUnknown<Entity: Document>(_ type: Entity.Type) throws -> Bool {
    try catalogue.binding(of: type) == nil
  }

  /// Maps, encodes and writes. Many models go piece by piece in the order of their keys, so that a
  /// piece is still in the processor's cache when it is written, and memory does not grow with them;
  /// all at once where something is to be cleared.
  @inlinable mutating func save<Mapper: EntityMapper>(
    _ models: [Mapper.Model], mappedBy mapper: Mapper, clearing selection: Selection?,
    onConflict policy: ConflictPolicy<Mapper.Model>, _ binding: CollectionBinding
  ) throws -> SaveReport {
    do {
      return try models.withUnsafeBufferPointer { models in
        guard selection == nil, models.count > Batch.largestCount else {
          let batch = try batch(
            of: models, mappedBy: mapper, onConflict: policy, .given, models.indices, binding)
          return try apply(batch, clearing: selection, binding)
        }
        let order = SaveOrder(count: models.count) { place, body in
          models.lend(at: place) { $0.pointee.key(by: mapper).withEncodedKey(body) }
        }
        return try change(of: binding.collection) { scope, changes in
          var report = SaveReport()
          var start = 0
          while start < models.count {
            let end = order.end(ofPieceFrom: start, count: models.count)
            let piece = try scope.batch(
              of: models, mappedBy: mapper, onConflict: policy, order, start..<end, binding)
            report += try scope.apply(piece, clearing: nil, binding, &changes)
            start = end
          }
          return report
        }
      }
    } catch {
      throw noted(error)
    }
  }

  /// The records of what is to be stored for some models, where their entities are read as they are.
  ///
  /// - Parameter places: Of the models in `order`.
  @inlinable mutating func batch<Mapper: EntityMapper>(
    of models: UnsafeBufferPointer<Mapper.Model>, mappedBy mapper: Mapper,
    onConflict policy: ConflictPolicy<Mapper.Model>, _ order: SaveOrder, _ places: Range<Int>,
    _ binding: CollectionBinding
  ) throws -> Batch {
    let origin = origin
    var builder = BatchBuilder(binding, count: places.count)
    var stored = try storedRecords(binding)
    var keepsExisting = false
    if case .keepExisting = policy { keepsExisting = true }
    for place in places {
      try models.lend(at: order[place]) { model in
        let key = model.pointee.key(by: mapper)
        // Encoded once for all: for the look-up, the comparison and the record.
        try key.withEncodedKey { (bytes) -> Void in
          guard try stored.find(bytes) else {
            var entity = try model.pointee.newEntity(by: mapper, under: key, as: origin)
            return try withUnsafePointer(to: &entity) { try builder.append(at: $0, key: bytes) }
          }
          if keepsExisting { return try stored.append(bytes, to: &builder) }
          // By way of a variable: the closure is specialised for the type where this is called.
          var found: Mapper.Entity?
          try stored.withRecord(bytes) { record in found = try Mapper.Entity(from: record) }
          guard var entity = found.take() else { return }
          try model.pointee.update(
            &entity, by: mapper, under: key, onConflict: policy, as: origin)
          try withUnsafePointer(to: &entity) { try builder.append(at: $0, key: bytes) }
        }
      }
    }
    try builder.checkDeclared()
    return Batch(builder)
  }

  @usableFromInline borrowing func storedRecords(
    _ binding: CollectionBinding
  ) throws -> StoredRecords {
    try StoredRecords(transaction.cursor(in: binding.collection.documents), binding)
  }
}

/// The records that are stored under some keys, found faster where these ascend.
@usableFromInline struct StoredRecords: ~Copyable {
  private var cursor: Cursor
  private let binding: CollectionBinding
  private var neighbours = Neighbours()
  /// The last key of the collection: nothing is behind it.
  private let last: [UInt8]

  init(_ cursor: consuming Cursor, _ binding: CollectionBinding) throws {
    self.binding = binding
    self.cursor = cursor
    last = try self.cursor.last() ? [UInt8](self.cursor.key) : []
  }

  /// Looks for the record under a key; false where there is none.
  @usableFromInline mutating func find(_ key: UnsafeRawBufferPointer) throws -> Bool {
    guard (1...KeyKind.maximumByteCount).contains(key.count),
      last.withUnsafeBytes({ Bytes.compare(key, $0) }) <= 0
    else { return false }
    return try neighbours.seek(key, &cursor)
  }

  /// Lends the record that was found under a key, verified.
  @usableFromInline func withRecord(
    _ key: UnsafeRawBufferPointer, _ body: (borrowing RecordReader) throws -> Void
  ) throws {
    try binding.reading(cursor.value, key: key, body)
  }

  /// Adds the record that was found under a key to a batch as it is. What has equal bytes is not
  /// written, and not cleared either.
  @usableFromInline func append(
    _ key: UnsafeRawBufferPointer, to builder: inout BatchBuilder
  ) throws {
    try builder.append(record: cursor.value, key: key)
  }
}
