internal import LarderLMDB

// Records without their type, for what writes them as text without making values of them first.

extension Snapshot {
  /// Lends the records of a collection that `query` selects, in its order.
  ///
  /// - Throws: As ``DynamicCollection/forEach(_:_:)``.
  package borrowing func forEachRecord(
    _ query: DynamicQuery, in collection: String, _ body: (borrowing RecordReader) throws -> Void
  ) throws {
    guard let binding = catalogue.binding(ofCollection: collection) else { return }
    try transaction.select(query.lowered(in: binding.collection), binding, body)
  }

  /// Lends the records that a type's query selects, in its order.
  ///
  /// - Throws: ``StoreError``; whatever `body` throws, which ends it.
  package borrowing func forEachRecord<Entity: Document>(
    _ query: Query<Entity>, _ body: (borrowing RecordReader) throws -> Void
  ) throws {
    let filter = query.selection.interest
    guard let binding = try moment.binding(of: Entity.self, matching: filter) else { return }
    try transaction.select(query.selection, binding, body)
  }
}

extension Snapshot {
  /// Has several threads read the records of a collection that `query` selects, whose parts have their turns
  /// in its order.
  ///
  /// - Parameter body: Called for several parts at once.
  /// - Returns: False, and nothing was done, where one thread has to do.
  /// - Throws: As ``DynamicCollection/forEach(_:_:)``; what `body` throws for the first part for which it does.
  package borrowing func inTurns(
    _ query: DynamicQuery, in collection: String, _ body: @Sendable (TurnPart) throws -> Void
  ) throws -> Bool {
    guard let binding = catalogue.binding(ofCollection: collection) else { return false }
    return try inTurns(query.lowered(in: binding.collection), binding, body)
  }

  /// Has several threads read the records that a type's query selects, whose parts have their turns in its order.
  ///
  /// - Parameter body: Called for several parts at once.
  /// - Returns: False, and nothing was done, where one thread has to do.
  /// - Throws: ``StoreError``; what `body` throws for the first part for which it does.
  package borrowing func inTurns<Entity: Document>(
    _ query: Query<Entity>, _ body: @Sendable (TurnPart) throws -> Void
  ) throws -> Bool {
    let filter = query.selection.interest
    guard let binding = try moment.binding(of: Entity.self, matching: filter) else { return false }
    return try inTurns(query.selection, binding, body)
  }

  private borrowing func inTurns(
    _ selection: Selection, _ binding: CollectionBinding,
    _ body: @Sendable (TurnPart) throws -> Void
  ) throws -> Bool {
    guard selection.maximum == nil, selection.skipped == 0, selection.order.isEmpty,
      try KeyParts.mayDivide(binding.collection, LentTransaction(transaction))
    else { return false }
    return try transaction.execution(of: selection, binding)
      .inTurns(LentTransaction(transaction), body)
  }
}

extension RecordReader {
  /// The number of the record's table of fields, by which its names can be kept.
  package var tableNumber: Int { table }

  /// The names of the fields that the record may have, by slot.
  package var tableNames: [String] { binding.collection.tables[table].fields.map(\.name) }

  /// A reader in front of the value in a slot; nil where the record has none.
  package borrowing func reader(ofSlot slot: Int) throws(RecordError) -> ValueReader? {
    try value(inSlot: slot)
  }

  /// Everything in the record, by its names.
  package borrowing func dynamicDocument() throws(RecordError) -> DynamicDocument {
    try DynamicDocument(self)
  }
}

extension ValueReader {
  /// The next value, whatever it is.
  ///
  /// - Parameter nesting: How many values this one is inside of.
  package mutating func anyValue(nesting: Int) throws(RecordError) -> Value {
    try value(nesting: nesting)
  }

  /// The record of an embedded document, by the names of its table; the reader then stands behind it.
  package mutating func untypedRecord() throws(RecordError) -> RecordReader {
    guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
    let record = try RecordReader(
      UnsafeRawBufferPointer(start: at, count: left), binding: binding, schema: binding.anonymous,
      depth: depth + 1)
    at = record.end
    return record
  }
}
