internal import LarderLMDB

// As in `Reading`, and faster: these are called directly, and most are inlined into their callers.

extension Snapshot {
  /// The document under `key`, or nil.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` when it cannot be read.
  @inlinable public borrowing func get<Entity: Document>(
    _ type: Entity.Type = Entity.self, _ key: Entity.Key
  ) throws -> Entity? {
    // By way of a variable: the closures are specialised for the type where this is called,
    // and nothing generic in between copies a document.
    var document: Entity?
    try key.withEncodedKey { key in
      try withRecord(of: type, key) { record in document = try Entity(from: record) }
    }
    return document
  }

  /// The documents under `keys` that exist, in the order of `keys`.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for the first that cannot be
  ///   read.
  @inlinable public borrowing func get<Entity: Document>(
    _ type: Entity.Type = Entity.self, keys: some Sequence<Entity.Key>
  ) throws -> [Entity] {
    var documents: [Entity] = []
    for key in keys {
      if let document = try get(type, key) { documents.append(document) }
    }
    return documents
  }

  /// The documents that `query` selects, in its order.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for the first that cannot be
  ///   read.
  @inlinable public borrowing func fetch<Entity: Document>(
    _ query: Query<Entity>
  ) throws -> [Entity] {
    if query.selection.skipsUnreadable { return try fetchReadable(query) }
    var documents: [Entity] = []
    let parts = try select(query.selection, Entity.self) { part in
      let documents = PartBuffer<Entity>(expectedCount: part.expectedCount)
      try part.forEachRecord { documents.append(try Entity(from: $0)) }
      return documents
    } expect: {
      documents.reserveCapacity($0)
    } _: { record in
      documents.append(try Entity(from: record))
    }
    return parts.map { Array(moving: $0) } ?? documents
  }

  /// How many documents `query` selects.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` when a field of the filter
  ///   cannot be read.
  public borrowing func count<Entity: Document>(_ query: Query<Entity>) throws -> Int {
    try moment.count(query, .documents)
  }

  @usableFromInline borrowing func fetchReadable<Entity: Document>(
    _ query: Query<Entity>
  ) throws -> [Entity] {
    try moment.fetch(query, .documents)
  }

  @usableFromInline borrowing func withRecord<Entity: Document>(
    of type: Entity.Type, _ key: UnsafeRawBufferPointer,
    _ body: (borrowing RecordReader) throws -> Void
  ) throws {
    notes?._withUnsafeGuaranteedRef {
      $0.note(type, in: Entity.schema.name, key: key) { try $0.binding(of: type) }
    }
    guard let binding = try binding(of: type) else { return }
    try binding._withUnsafeGuaranteedRef { binding in
      _ = try transaction.withRecord(for: key, binding, body)
    }
  }

  /// - Parameters:
  ///   - part: Makes something of one part of the records, of several at once, where several threads read side
  ///     by side.
  ///   - expect: Told how many there will be, where that is known beforehand.
  /// - Returns: The parts; nil where `body` was lent the records.
  @usableFromInline borrowing func select<Entity: Document, Part>(
    _ selection: Selection, _ type: Entity.Type,
    part: @Sendable (ReadPart) throws -> Part,
    expect: (Int) -> Void, _ body: RecordBody
  ) throws -> [Part]? {
    notes?._withUnsafeGuaranteedRef {
      $0.note(type, in: Entity.schema.name, matching: selection.interest) {
        try $0.binding(of: type)
      }
    }
    guard let binding = try catalogue.binding(of: type) else { return nil }
    return try transaction.select(selection, binding, part: part, expect: expect, body)
  }
}
