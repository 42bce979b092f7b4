internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A save of documents without a type, tried before anything is written.
///
/// Given every document of a long save in batches, it finds out what the catalogue would have to
/// know and whether each document could be stored with that. It encodes as the save itself does
/// and lets go of the bytes, so that memory does not grow. Nothing is changed before
/// ``declare()``; what others declare in between is for the save to find.
package struct SaveRehearsal: Sendable {
  /// The collection that the documents are meant for.
  package let collection: DynamicCollection
  /// The field that is the entity-accessor key.
  package let keyField: String
  /// How the keys are encoded; nil while neither the store nor a document has told.
  package private(set) var keyKind: KeyKind?
  /// What the documents show so far.
  package private(set) var shape: InferredShape
  /// Whether documents may be refused for what others hold: the collection has a unique index, or gets
  /// one. That only a save can find out.
  package let hasUniqueIndex: Bool
  /// The collection as it would be before the first document; nil where there is none.
  private let stored: CollectionDescription?
  /// Those that it has, and that no document may make impossible.
  private let indexes: [IndexDefinition]
  /// Whether the last document was refused for a key above `Int64.max` that came behind smaller ones only: it
  /// is none with ``expectUnsignedKeys()`` before the first.
  package private(set) var needsUnsignedKeys = false
  let type: (any Document.Type)?
  var keyHashes = KeyHashes()
  /// The query whose documents are deleted, unless they are among those that are saved; nil for none.
  private(set) var clearing: ClearedBefore?

  /// Why a document cannot be stored.
  package struct Refusal: Error {
    /// Which one of those given last.
    package let index: Int
    /// Names of the fields down to the value, and places in arrays, between dots.
    package let field: String
    /// What the document has, in words.
    package let found: String
    /// What could be saved, in words.
    package let expected: String
    /// Whether the field could hold the value besides the others if it took any kind.
    package var isMixed = false
  }

  /// Begins without any document.
  ///
  /// - Parameters:
  ///   - keyField: The field that is the entity-accessor key.
  ///   - type: A type that is to be declared before the documents are saved.
  ///   - allowsMixed: Whether a field whose values have two kinds takes any.
  ///   - rules: The kinds that fields are to have, whatever their values look like.
  /// - Throws: ``StoreError``, such as
  ///   ``StoreError/kindMismatch(collection:field:stored:declared:)`` for a type that cannot be
  ///   declared, or when the collection's key is another field.
  package init(
    _ collection: DynamicCollection, keyField: String, declaring type: (any Document.Type)? = nil,
    allowsMixed: Bool = false, rules: KindRules? = nil
  ) throws {
    self.collection = collection
    self.keyField = keyField
    self.type = type
    let (existing, stored) = try collection.store.read { snapshot in
      let existing = snapshot.catalogue[collection.name]
      try existing?.checkMigrated()
      guard let type else { return (existing, existing?.description) }
      let declared = try Declaration(type).applied(to: existing?.description, keeping: []) {
        (content, description) in
        try existing.map { try snapshot.transaction.keeps(content, of: $0, under: description) }
          ?? true
      }
      return (existing, declared)
    }
    indexes = existing?.definitions ?? []
    hasUniqueIndex =
      existing?.mayRefuse == true || type.map { Self.hasUniqueIndex($0) } == true
    if type == nil { _ = try Layout.checkedCollectionName(collection.name) }
    if let stored, stored.keyField != keyField {
      throw StoreError.keyField(
        collection: collection.name, stored: stored.keyField, given: keyField)
    }
    self.stored = stored
    keyKind = stored?.keyKind
    shape = InferredShape(
      stored,
      Inference.Policy(
        isExact: true, allowsMixed: allowsMixed, findsDictionaries: true, rules: rules))
  }

  /// Has the documents that a query matches deleted before these are saved, unless they are among them.
  ///
  /// - Throws: ``StoreError/queryNotAllowed(operation:reason:)`` for a limit, an offset or a cursor.
  package mutating func clear<Entity: Document>(_ query: Query<Entity>) throws {
    try query.selection.checkMatchesWhole("clearBeforeSaving")
    clearing = .typed(query.selection)
  }

  /// - Throws: ``StoreError/queryNotAllowed(operation:reason:)`` for a limit or an offset; ``DynamicQueryError`` for a
  ///   query that does not fit the collection's fields.
  package mutating func clear(_ query: DynamicQuery) throws {
    var selection = Selection()
    (selection.maximum, selection.skipped) = (query.maximumCount, query.skippedCount)
    try selection.checkMatchesWhole("clearBeforeSaving")
    try collection.check(query)
    clearing = .untyped(query)
  }

  /// Whether documents are deleted before these are saved, which has to be done in the same transaction.
  package var clears: Bool { clearing != nil }

  /// How many threads may share the work.
  package var threadCount: Int { collection.store.engine.environment.options.readThreadCount }

  /// Takes the keys for integers from 0 to `UInt64.max`, before the first document. Does nothing where the store
  /// knows what they are.
  package mutating func expectUnsignedKeys() { keyKind = keyKind ?? .unsigned }

  /// Whether the collection has a unique index by now.
  package var mayBeRefused: Bool {
    collection.store.engine.catalogue[collection.name]?.mayRefuse == true
  }

  private static func hasUniqueIndex<Entity: Document>(_ type: Entity.Type) -> Bool {
    Entity.declaredIndexes.contains(where: \.isUnique)
  }

  /// Tries the next documents.
  ///
  /// - Throws: ``Refusal`` for the first that could not be stored; the rehearsal should then be
  ///   let go of. ``StoreError`` when the store was closed.
  package mutating func add(_ documents: [DynamicDocument]) throws {
    try add(documents) { _, _ in }
  }

  /// - Parameter prepare: Told what was seen before each document, by its index, and adds to it what
  ///   others have seen in between.
  mutating func add(
    _ documents: [DynamicDocument], prepare: (Int, inout InferredShape) -> Void
  ) throws {
    try collection.store.checkOpen()
    guard let first = documents.first else { return }
    guard let keyKind = keyKind ?? KeyKind(of: first[keyField]) else {
      throw refusal(of: first, at: 0, keyRefused(first))
    }
    self.keyKind = keyKind
    let before = shape
    do {
      for index in documents.indices {
        prepare(index, &shape)
        try shape.add(documents[index])
      }
      try encode(documents[...], keyKind)
    } catch {
      shape = before
      try findRefused(documents, keyKind, prepare)
      throw refusal(of: documents[documents.count - 1], at: documents.count - 1, error)
    }
  }

  /// Counts documents that a plan has met.
  mutating func addCounts(_ counts: [RecordPlan.Count], of plan: borrowing RecordPlan) {
    shape.add(counts, of: plan)
  }

  /// The documents as they are to be saved: where the type says of text in a field of any kind that it
  /// is a date, a UUID, a URL, data or a decimal, it is one.
  ///
  /// - Throws: ``StoreError``, or ``RecordError`` for a document that ``add(_:)`` was not given.
  package func asTyped(_ documents: [DynamicDocument]) throws -> [DynamicDocument] {
    guard let type, let keyKind, readsText else { return documents }
    return try asTyped(documents, type, keyKind)
  }

  /// Whether only the type can say what text in a field of any kind means.
  package var readsText: Bool { type != nil && shape.place?.holdsAny == true }

  private func asTyped<Entity: Document>(
    _ documents: [DynamicDocument], _ type: Entity.Type, _ keyKind: KeyKind
  ) throws -> [DynamicDocument] {
    let reading = TypedReading(type, try described(keyKind))
    return try documents.map { document in
      guard let key = document[keyField]?.encodedKey(of: keyKind) else {
        throw keyRefused(document)
      }
      return try reading.document(document, key)
    }
  }

  /// Makes the collection, and the fields seen, known to the store. Does nothing where no document
  /// has told what the keys are.
  ///
  /// - Throws: ``StoreError``, when somebody else has declared otherwise meanwhile.
  package func declare() throws {
    if let type { try collection.store.declare(type) }
    guard let keyKind else { return }
    try collection.declare(shape, keyField: keyField, keyKind: keyKind)
  }

  /// Runs `body` in one transaction that makes the collection, and the fields seen, known to the store
  /// first: all of it is kept, or nothing.
  ///
  /// - Throws: Whatever `body` throws; ``StoreError``, when somebody else has declared otherwise
  ///   meanwhile.
  package func write<Result>(
    as origin: ChangeOrigin, _ body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    guard let declaration = try declaration() else {
      return try collection.store.write(as: origin, body)
    }
    return try collection.store.write(declaring: declaration, as: origin, body)
  }

  /// Nil where neither a type nor a document has told what the keys are.
  private func declaration() throws -> Declaration? {
    let typed = try type.map { try Declaration($0) }
    guard let keyKind else { return typed }
    let seen = try Declaration(
      name: collection.name, keyKind: keyKind, keyField: keyField, shape: shape)
    return typed?.followed(by: seen) ?? seen
  }

  private mutating func encode(
    _ documents: ArraySlice<DynamicDocument>, _ keyKind: KeyKind
  ) throws {
    let described = try described(keyKind)
    let batch = try collection.batch(
      of: Array(documents), keyField: keyField, CollectionBinding(described)
    ) { keyHashes.append($0) }
    if let type { try check(batch, type, described) }
  }

  private func check<Entity: Document>(
    _ batch: Batch, _ type: Entity.Type, _ described: Collection
  ) throws {
    try TypedReading(type, described).check(batch)
  }

  /// The collection with what the documents show so far.
  func described(_ keyKind: KeyKind) throws -> Collection {
    let declaration = try Declaration(
      name: collection.name, keyKind: keyKind, keyField: keyField, shape: shape)
    return Collection(
      try declaration.applied(to: stored, keeping: indexes), documents: .main)
  }

  // MARK: Refusals

  /// Tries documents one by one, to find the one that cannot be stored.
  private mutating func findRefused(
    _ documents: [DynamicDocument], _ keyKind: KeyKind,
    _ prepare: (Int, inout InferredShape) -> Void
  ) throws {
    for index in documents.indices {
      do {
        prepare(index, &shape)
        try shape.add(documents[index])
        try encode(documents[index...index], keyKind)
      } catch {
        needsUnsignedKeys = hasLargeKey(documents[index])
        throw refusal(of: documents[index], at: index, error)
      }
    }
  }

  /// Whether the key of a document is above `Int64.max`, and nothing but smaller ones before it speaks
  /// against that.
  private func hasLargeKey(_ document: DynamicDocument) -> Bool {
    guard stored == nil, keyKind == .integer, case .unsigned? = document[keyField],
      shape.rules?.member(keyField) == nil
    else { return false }
    return shape.values(of: keyField)?.hasNegative != true
  }

  private func refusal(
    of document: DynamicDocument, at index: Int, _ error: any Error
  ) -> any Error {
    switch error {
    case let conflict as InferredShape.Conflict:
      return Refusal(
        index: index, field: conflict.steps.joined(separator: "."), found: conflict.found,
        expected: conflict.isFinal ? conflict.seen : "\(conflict.seen), as in the documents before",
        isMixed: !conflict.isFinal && conflict.steps != [keyField])
    case StoreError.valueRefused(_, _, let field, let found, let expected):
      return Refusal(index: index, field: field, found: found, expected: expected)
    case StoreError.kindMismatch(_, let field, let stored, let declared):
      return Refusal(
        index: index, field: field,
        // As other errors call it.
        found: declared.hasPrefix("document") ? "an object" : declared,
        expected: "\(stored), which the collection holds in this field",
        isMixed: field != keyField)
    case StoreError.keyLength(_, _, let byteCount, let limit):
      return Refusal(
        index: index, field: keyField, found: "\(byteCount) bytes",
        expected: "a key of 1 to \(limit) bytes, not of \(byteCount)")
    case let unreadable as RecordError:
      return Refusal(
        index: index, field: unreadable.path.joined(separator: "."),
        found: "a value that \(collection.name) cannot read",
        expected: "one that \(collection.name) can read (\(unreadable.reason))")
    case StoreError.unwritable(_, _, let reason):
      return Refusal(
        index: index, field: "", found: "a document that cannot be stored (\(reason))",
        expected: "one that can")
    default: return error
    }
  }

  private func keyRefused(_ document: DynamicDocument) -> StoreError {
    collection.keyRefused(document, keyField, keyKind)
  }
}

extension SaveRehearsal.Refusal: CustomStringConvertible, LocalizedError {
  package var description: String {
    "Field `\(field)` of document \(index): found \(found), expected \(expected)."
  }

  package var errorDescription: String? { description }
}
