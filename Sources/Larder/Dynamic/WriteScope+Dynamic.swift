internal import LarderLMDB

// Documents without their type, inside a write: what migrations of a whole store are made of.

extension WriteScope {
  /// The document under a key as this transaction sees it, or nil.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` when it cannot be read.
  public borrowing func get(
    _ key: Value, in collection: DynamicCollection
  ) throws -> DynamicDocument? {
    guard let binding = catalogue.binding(ofCollection: collection.name),
      let key = key.encodedKey(of: binding.collection.keyKind)
    else { return nil }
    return try key.withUnsafeBytes { key in
      try transaction.withRecord(for: key, binding) { try DynamicDocument($0) }
    }
  }

  /// The documents behind a key, in the order of the keys, as this transaction sees them.
  ///
  /// - Parameters:
  ///   - key: Nil for the first ones.
  ///   - limit: How many at most, so that a large collection can be walked over in pieces.
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for the first that cannot be
  ///   read.
  public borrowing func fetch(
    _ collection: DynamicCollection, after key: Value? = nil, limit: Int = .max
  ) throws -> [DynamicDocument] {
    guard limit > 0, let binding = catalogue.binding(ofCollection: collection.name) else {
      return []
    }
    let keyKind = binding.collection.keyKind
    let key = try key.map { value in
      guard let key = value.encodedKey(of: keyKind) else {
        throw StoreError.valueRefused(
          collection: collection.name, key: "", field: "", found: value.shortDescription,
          expected: "a key (\(keyKind))")
      }
      return key
    }
    var documents: [DynamicDocument] = []
    var cursor = try transaction.cursor(in: binding.collection.documents)
    var hasRecord = try cursor.moveBehind(key)
    while hasRecord, documents.count < limit {
      documents.append(
        try binding.reading(cursor.value, key: cursor.key) { try DynamicDocument($0) })
      hasRecord = try cursor.next()
    }
    return documents
  }

  /// Saves documents without their type, and makes the collection and the fields that are new
  /// known first, as ``DynamicCollection/save(_:keyField:as:)`` does. A collection that is new, and an
  /// index that has to be built anew, are made for themselves, and stay where the write is undone; the body
  /// of the write is then run again from its start.
  ///
  /// - Parameter keyField: The field that is the entity-accessor key, where the collection is new.
  /// - Throws: ``StoreError``, such as ``StoreError/keyField(collection:stored:given:)`` where the
  ///   collection's type computes its keys, and
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)``; the body should let it
  ///   through, so that nothing is kept.
  @discardableResult
  public mutating func save(
    _ documents: [DynamicDocument], in collection: DynamicCollection, keyField: String?
  ) throws -> SaveReport {
    guard !documents.isEmpty else { return SaveReport() }
    let stored = catalogue[collection.name]
    let needed = try NeededFields(documents, in: collection, keyField: keyField, stored)
    guard let declaration = needed.declaration else {
      return try save(documents, in: collection)
    }
    // What is refused must leave nothing behind, even where the body goes on.
    return try undoable { scope in
      if try !scope.declareHere(declaration) {
        _ = try collection.batch(
          of: documents, keyField: needed.keyField, CollectionBinding(needed.described))
        throw try scope.needing(declaration)
      }
      return try scope.save(documents, in: collection)
    }
  }

  /// Makes the collection and the fields of documents known, where they are new. The body of the write may
  /// then be run again from its start.
  ///
  /// - Throws: As ``save(_:in:keyField:)``.
  package mutating func makeKnown(
    _ documents: [DynamicDocument], in collection: DynamicCollection, keyField: String?
  ) throws {
    guard !documents.isEmpty else { return }
    let needed = try NeededFields(
      documents, in: collection, keyField: keyField, catalogue[collection.name])
    guard let declaration = needed.declaration else { return }
    if try !declareHere(declaration) { throw try needing(declaration) }
  }

  /// What ends a body that needs a declaration first. Of a collection that is new only the key is declared
  /// then: the fields are, when the body runs again, together with what it saves.
  private mutating func needing(_ declaration: Declaration) throws -> DeclarationNeeded {
    undeclared = declaration
    if catalogue[declaration.name] == nil {
      undeclared = try Declaration(
        name: declaration.name, keyKind: declaration.keyKind, keyField: declaration.keyField,
        shape: InferredShape())
    }
    return DeclarationNeeded()
  }

  /// Deletes the documents under `keys`; returns how many there were.
  ///
  /// - Throws: ``StoreError/storage(_:)``.
  @discardableResult
  public mutating func delete(
    keys: some Sequence<Value>, in collection: DynamicCollection
  ) throws -> Int {
    guard let stored = catalogue[collection.name] else { return 0 }
    return try delete(keys.compactMap { $0.encodedKey(of: stored.keyKind) }, in: stored)
  }

  /// Deletes the document under `key`; false where there is none.
  ///
  /// - Throws: ``StoreError/storage(_:)``.
  @discardableResult
  public mutating func delete(key: Value, in collection: DynamicCollection) throws -> Bool {
    try delete(keys: CollectionOfOne(key), in: collection) == 1
  }

  @discardableResult
  mutating func delete(_ keys: [[UInt8]], in collection: Collection) throws -> Int {
    try change(of: collection) { scope, changes in
      try scope.delete(keys, in: collection, &changes)
    }
  }

  @discardableResult
  mutating func delete(
    _ keys: [[UInt8]], in collection: Collection, _ changes: inout DocumentChanges
  ) throws -> Int {
    var deleted = 0
    var cursor = try transaction.cursor(in: collection.documents)
    for key in keys {
      let isFound = try key.withUnsafeBytes { try delete($0, at: &cursor, &changes) }
      if isFound { deleted += 1 }
    }
    return deleted
  }

  /// Deletes every document of a collection; returns how many there were. Costs what the pages
  /// cost, not the documents.
  ///
  /// - Throws: ``StoreError/storage(_:)``.
  @discardableResult
  public mutating func eraseAllData(of collection: DynamicCollection) throws -> Int {
    guard let stored = catalogue[collection.name] else { return 0 }
    return try eraseAllData(of: stored)
  }
}

extension DynamicCollection {
  /// Deletes the document under `key`; false where there is none.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func delete(key: Value, as origin: ChangeOrigin = .local) throws -> Bool {
    try delete(keys: [key], as: origin) == 1
  }

  /// Deletes the documents under `keys`; returns how many there were. Also in the midst of a
  /// migration, to be rid of a document that cannot be read.
  ///
  /// - Throws: ``StoreError``; nothing is deleted then.
  @discardableResult
  public func delete(keys: [Value], as origin: ChangeOrigin = .local) throws -> Int {
    try store.write(as: origin) { try $0.delete(keys: keys, in: self) }
  }
}

extension Cursor {
  /// Moves to the first record behind `key`, or to the first of all; false when there is none.
  mutating func moveBehind(_ key: [UInt8]?) throws -> Bool {
    guard let key else { return try first() }
    return try key.withUnsafeBytes { key in
      guard try seek(atOrAfter: key) else { return false }
      return try Bytes.equal(self.key, key) ? next() : true
    }
  }
}
