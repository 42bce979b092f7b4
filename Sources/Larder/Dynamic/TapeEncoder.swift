/// Makes records of the documents of a file, a batch at a time, before the writer's line is entered.
package struct TapeEncoder: ~Copyable {
  private var plan: RecordPlan
  private var builder: BatchBuilder
  private let collection: DynamicCollection
  private let keyField: String

  private var directCount = 0

  private static let usualCount = 1_024

  /// For documents that a rehearsal has tried.
  ///
  /// - Parameters:
  ///   - place: Where the collection is as it will be when the documents are saved.
  ///   - rules: The kinds that the caller gives to fields.
  package init(
    _ rehearsal: SaveRehearsal, in place: EncodingPlace, rules: KindRules?,
    _ conversion: TapeConversion
  ) {
    collection = rehearsal.collection
    keyField = rehearsal.keyField
    plan = RecordPlan(
      place.binding, shape: nil, place: rehearsal.shape.place, rules: rules, conversion)
    builder = BatchBuilder(place.binding, count: Self.usualCount)
  }

  /// How many documents are in the batch so far.
  package var count: Int { builder.entries.count }

  /// Adds a document; false, and nothing is added, for one that is not as the catalogue has it, or
  /// that only ``add(_:)`` has the rules for.
  package mutating func add(_ tape: DocumentTape, _ key: OutsideKey) throws -> Bool {
    plan.begin(tape)
    guard plan.takeKey(tape, key) else { return false }
    try builder.begin(plan.key.bytes)
    guard plan.putDocument(tape, &builder.writer), builder.writer.failure == nil else {
      builder.abandon()
      return false
    }
    try builder.end(plan.key.bytes)
    directCount += 1
    return true
  }

  /// Adds a document by the names of its fields.
  ///
  /// - Throws: ``StoreError`` for one that cannot be stored. The batch must then be let go of.
  package mutating func add(_ document: DynamicDocument) throws {
    try collection.append(document, keyField: keyField, to: &builder)
  }

  /// Adds records that were made before; false, and nothing is added, where the collection has changed since.
  package mutating func add(_ records: RecordBatch) throws -> Bool {
    guard records.isEncoded(for: plan.binding.collection) else { return false }
    for entry in records.order { try builder.append(record: entry.record, key: entry.key) }
    directCount += records.directCount
    return true
  }

  /// The batch of what was added; the next one begins.
  package mutating func takeBatch() -> RecordBatch {
    let next = BatchBuilder(plan.binding, count: Self.usualCount)
    defer { directCount = 0 }
    return RecordBatch(exchange(&builder, with: next), plan.binding, directCount)
  }
}

/// A collection as the catalogue has it at one moment.
package struct EncodingPlace: Sendable {
  let binding: CollectionBinding
}

/// Documents that are ready to be saved.
package struct RecordBatch: @unchecked Sendable {  // Immutable, as what the entries point to.
  let batch: Batch
  /// In the order in which they were added.
  fileprivate let order: [Batch.Entry]
  private let binding: CollectionBinding
  /// How many came from a tape.
  package let directCount: Int

  init(_ builder: consuming BatchBuilder, _ binding: CollectionBinding, _ directCount: Int) {
    builder.sealChunk(isLast: true)
    order = builder.entries
    batch = Batch(builder)
    self.binding = binding
    self.directCount = directCount
  }

  /// How many documents were added, those among them that have one key.
  package var count: Int { order.count }

  /// Bytes of keys and records.
  package var byteCount: Int { batch.byteCount }

  /// The keys as errors name them, in the order in which they were added.
  package var keyTexts: [String] { order.map { binding.collection.keyKind.text(of: $0.key) } }

  /// Which one was added last of those with the key that an error names.
  package func index(of key: String) -> Int? {
    order.lastIndex { binding.collection.keyKind.text(of: $0.key) == key }
  }

  /// Whether the collection is as it was when they were encoded.
  fileprivate func isEncoded(for collection: Collection) -> Bool {
    collection.description == binding.collection.description
  }

  /// The documents, for a collection that others have declared otherwise since they were encoded.
  func documents() throws -> [DynamicDocument] {
    try order.map { entry in
      let record = try binding.collection.verified(entry.record, key: entry.key)
      return try DynamicDocument(record: record, binding: binding)
    }
  }
}

extension SaveRehearsal {
  /// The collection as it is stored, once ``declare()`` has made it known.
  ///
  /// - Throws: ``StoreError`` where there is none.
  package func encodingPlace() throws -> EncodingPlace {
    try collection.store.checkOpen()
    return try encodingPlace(in: collection.store.engine.catalogue)
  }

  fileprivate func encodingPlace(in catalogue: Catalogue) throws -> EncodingPlace {
    guard let binding = catalogue.binding(ofCollection: collection.name),
      binding.collection.description.keyField != nil
    else { throw collection.unknown() }
    try binding.collection.checkMigrated()
    return EncodingPlace(binding: binding)
  }
}

extension WriteScope {
  /// The collection as this transaction has it.
  ///
  /// - Throws: ``StoreError`` where there is none.
  package borrowing func encodingPlace(of rehearsal: SaveRehearsal) throws -> EncodingPlace {
    try rehearsal.encodingPlace(in: catalogue)
  }

  /// Whether this transaction has the collection.
  package borrowing func hasCollection(of rehearsal: SaveRehearsal) -> Bool {
    catalogue[rehearsal.collection.name] != nil
  }

  /// Saves documents that were encoded before, as those of the rehearsal's type, where it has one: they leave stored
  /// fields that it does not know, and its rules of ageing apply.
  ///
  /// - Throws: As ``save(_:in:)``; the body should let it through, so that nothing is kept.
  @discardableResult
  package mutating func save(
    _ batch: RecordBatch, of rehearsal: SaveRehearsal
  ) throws -> SaveReport {
    let collection = rehearsal.collection
    let knowledge = try beginSaving(rehearsal)
    guard let binding = catalogue.binding(ofCollection: collection.name),
      batch.isEncoded(for: binding.collection)
    else { return try save(try batch.documents(), in: collection, knowing: knowledge) }
    return try apply(batch.batch, clearing: nil, binding, knowing: knowledge)
  }

  /// Saves batches as one change: what unique indexes refuse is known once `body` has saved all of them, so that
  /// documents of two batches may have exchanged their values. What the rehearsal's query matches is found before the
  /// first one, and deleted behind the last, unless one of them has it.
  ///
  /// - Parameter body: Is given what saves a batch that was encoded in this transaction.
  /// - Returns: How many documents were deleted.
  /// - Throws: As ``save(_:of:)``; what `body` throws; ``DynamicQueryError`` for a query that does not fit the
  ///   collection's fields.
  @discardableResult
  package mutating func saveTogether(
    of rehearsal: SaveRehearsal, _ body: ((RecordBatch) throws -> SaveReport) throws -> Void
  ) throws -> Int {
    let knowledge = try beginSaving(rehearsal)
    guard let binding = catalogue.binding(ofCollection: rehearsal.collection.name) else {
      throw rehearsal.collection.unknown()
    }
    return try change(of: binding.collection) { scope, changes in
      var clearing = try rehearsal.clearing?.begin(scope, rehearsal.type, binding)
      try body { batch in
        let records =
          batch.isEncoded(for: binding.collection)
          ? batch.batch
          : try rehearsal.collection.batch(
            of: batch.documents(), keyField: rehearsal.keyField, binding)
        clearing?.keep(records.entries)
        return try scope.apply(records, clearing: nil, binding, knowing: knowledge, &changes)
      }
      guard let clearing else { return 0 }
      return try scope.finish(clearing, binding, &changes)
    }
  }

  /// Has the type's rules of ageing looked at behind the save.
  ///
  /// - Returns: Which fields the type knows; nil where there is none, and where its schema does not tell.
  private mutating func beginSaving(_ rehearsal: SaveRehearsal) throws -> SchemaKnowledge? {
    guard let type = rehearsal.type else { return nil }
    return try beginSaving(type)
  }

  private mutating func beginSaving<Entity: Document>(
    _ type: Entity.Type
  ) throws -> SchemaKnowledge? {
    noteAgeing(type)
    guard let binding = try catalogue.binding(of: type), !binding.root.fields.isEmpty else {
      return nil
    }
    return SchemaKnowledge(binding)
  }
}
