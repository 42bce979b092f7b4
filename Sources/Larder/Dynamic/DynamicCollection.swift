#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Documents of one collection without their Swift type: what importers and the command line
/// work with. What it writes typed repositories read, and the other way round.
public struct DynamicCollection: Sendable {
  /// The store that holds it.
  public let store: Store
  /// The name in the store.
  public let name: String
}

extension Store {
  /// The collection of this name, whether it exists or not.
  public func collection(_ name: String) -> DynamicCollection {
    DynamicCollection(store: self, name: name.normalized())
  }

  /// The names of the collections, in order.
  ///
  /// - Throws: ``StoreError``.
  public func collectionNames() throws -> [String] {
    try read { $0.catalogue.collections.keys.sorted() }
  }

  /// Makes the type's collection and fields known to the store, as its first save would: values
  /// that are imported afterwards are coerced to the kinds that the type declares.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/kindMismatch(collection:field:stored:declared:)``;
  ///   nothing is changed then.
  public func declare<Entity: Document>(_ type: Entity.Type) throws {
    try write { _ = try $0.declared(type) }
  }
}

extension DynamicCollection {
  /// The document under a key, or nil.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/damagedRecord(collection:key:reason:)``.
  public func get(_ key: Value) throws -> DynamicDocument? {
    try store.read { snapshot in
      guard let binding = snapshot.catalogue.binding(ofCollection: name),
        let key = key.encodedKey(of: binding.collection.keyKind)
      else { return nil }
      return try key.withUnsafeBytes { key in
        try snapshot.transaction.withRecord(for: key, binding) { record in
          try DynamicDocument(record)
        }
      }
    }
  }

  /// How many documents there are.
  ///
  /// - Throws: ``StoreError``.
  public func count() throws -> Int {
    try store.read { snapshot in
      guard let binding = snapshot.catalogue.binding(ofCollection: name)
      else { return 0 }
      return try snapshot.transaction.count(Selection(), binding)
    }
  }

  /// Lends every document of one moment, in the order of the keys, until `body` says false.
  ///
  /// - Throws: ``StoreError``; whatever `body` throws.
  public func forEach(
    file: StaticString = #fileID, line: UInt = #line, _ body: (DynamicDocument) throws -> Bool
  ) throws {
    try store.read(file: file, line: line) { snapshot in
      guard let binding = snapshot.catalogue.binding(ofCollection: name)
      else { return }
      let everything = Evaluation(.constant(true), in: binding.collection)
      try snapshot.transaction.forEachMatch(everything, binding) { key, record in
        try body(try binding.reading(record, key: key) { try DynamicDocument($0) })
      }
    }
  }

  /// The field that is the entity-accessor key; nil where the collection does not exist or its
  /// key is computed.
  ///
  /// - Throws: ``StoreError``.
  public func keyField() throws -> String? {
    try store.read { $0.catalogue[name]?.description.keyField }
  }

  /// How the keys are encoded; nil where the collection does not exist.
  ///
  /// - Throws: ``StoreError``.
  public func keyKind() throws -> KeyKind? { try store.read { $0.catalogue[name]?.keyKind } }
}

extension DynamicCollection {
  /// Makes the collection and the fields in `shape` known to the store.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/keyKind(collection:stored:found:)``; nothing
  ///   is changed then.
  package func declare(_ shape: InferredShape, keyField: String, keyKind: KeyKind) throws {
    try store.checkOpen()
    let declaration = try Declaration(
      name: name, keyKind: keyKind, keyField: keyField, shape: shape)
    if try isKnown(declaration) { return }
    try store.engine.storing {
      try store.engine.writer.run { try store.engine.declare(declaration) }
    }
  }

  private func isKnown(_ declaration: Declaration) throws -> Bool {
    try store.engine.catalogue[name]?.checkMigrated()
    guard let stored = store.engine.catalogue[name]?.description else { return false }
    return try declaration.applied(to: stored, keeping: []) == stored
  }

  /// Saves documents in one transaction, as a typed repository does. Fields that are new become
  /// known in it with the kinds of their values; values are coerced to the kinds that are known.
  ///
  /// - Parameters:
  ///   - keyField: The field that is the entity-accessor key, where the collection is new.
  ///   - origin: Where the changes come from.
  /// - Throws: ``StoreError``, such as ``StoreError/keyField(collection:stored:given:)`` where the
  ///   collection's type computes its keys, and
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)``; no document is saved
  ///   then, and no field has become known.
  @discardableResult
  public func save(
    _ documents: [DynamicDocument], keyField: String? = nil, as origin: ChangeOrigin = .local
  ) throws -> SaveReport {
    try store.checkOpen()
    if documents.isEmpty { return SaveReport() }
    let stored = try store.read { $0.catalogue.binding(ofCollection: name) }
    let needed = try NeededFields(documents, in: self, keyField: keyField, stored?.collection)
    if let stored, needed.declaration == nil {
      let batch = try batch(of: documents, keyField: needed.keyField, stored)
      return try store.write(as: origin) {
        try $0.apply(batch, encodedAgainst: stored.collection, in: name)
          ?? $0.save(documents, in: self)
      }
    }
    guard let declaration = needed.declaration else { return SaveReport() }
    // Encoded before anything is declared, so that nothing begins that is refused in the end.
    let binding = CollectionBinding(needed.described)
    let batch = try batch(of: documents, keyField: needed.keyField, binding)
    return try store.write(declaring: declaration, as: origin) {
      try $0.apply(batch, encodedAgainst: needed.described, in: name)
        ?? $0.save(documents, in: self)
    }
  }

  /// The field that is the key of documents without a type.
  ///
  /// - Parameters:
  ///   - given: The one that the caller names, where the collection has none yet.
  ///   - stored: The collection as it is; nil where there is none.
  /// - Throws: ``StoreError/keyField(collection:stored:given:)`` where a type computes the keys, and
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)`` where nobody has named one.
  func keyField(
    _ given: String?, in stored: CollectionDescription?
  ) throws(StoreError) -> String {
    if stored?.hasComputedKey == true {
      throw .keyField(collection: name, stored: nil, given: given ?? "")
    }
    guard let keyField = stored?.keyField ?? given else { throw noKeyField() }
    return keyField
  }

  /// The shape with what the documents show.
  ///
  /// - Throws: ``StoreError/valueRefused(collection:key:field:found:expected:)`` for a field that
  ///   holds two kinds.
  func shape(
    of documents: [DynamicDocument], _ shape: InferredShape
  ) throws(StoreError) -> InferredShape {
    var shape = shape
    do throws(InferredShape.Conflict) {
      for document in documents { try shape.add(document) }
    } catch {
      throw .valueRefused(
        collection: name, key: "", field: error.path.joined(separator: "."),
        found: error.found, expected: error.seen)
    }
    return shape
  }

  /// The documents as records.
  ///
  /// - Parameter tellKey: Told every key.
  /// - Throws: ``StoreError`` for the first that cannot be one.
  func batch(
    of documents: [DynamicDocument], keyField: String, _ binding: CollectionBinding,
    tellKey: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws -> Batch {
    var builder = BatchBuilder(binding, count: documents.count)
    for document in documents {
      try append(document, keyField: keyField, to: &builder, tellKey: tellKey)
    }
    return Batch(builder)
  }

  /// Adds a document to a batch; throws as ``batch(of:keyField:_:tellKey:)`` does.
  func append(
    _ document: DynamicDocument, keyField: String, to builder: inout BatchBuilder,
    tellKey: (UnsafeRawBufferPointer) -> Void = { _ in }
  ) throws {
    let keyKind = builder.binding.collection.keyKind
    guard let key = document[keyField]?.encodedKey(of: keyKind) else {
      throw keyRefused(document, keyField, keyKind)
    }
    try key.withUnsafeBytes { key in
      try builder.append(document, key: key)
      tellKey(key)
    }
  }

  func noKeyField() -> StoreError {
    .valueRefused(
      collection: name, key: "", field: "", found: "none",
      expected: "the name of the field that is the key (`keyField:`)")
  }

  func unknown() -> StoreError {
    .valueRefused(
      collection: name, key: "", field: "", found: "no such collection",
      expected: "one that has been declared, with a key field")
  }

  func keyRefused(
    _ document: DynamicDocument, _ keyField: String, _ keyKind: KeyKind? = nil
  ) -> StoreError {
    .valueRefused(
      collection: name, key: "", field: keyField,
      found: document[keyField]?.shortDescription ?? StoreError.nothing,
      expected: keyKind?.expectation ?? "a key: text, an integer or a UUID")
  }
}

extension WriteScope {
  /// Saves documents without their type. The collection must know every field of theirs already: from
  /// a type, an import, or a save by the collection itself, which adds fields.
  ///
  /// - Throws: ``StoreError``, such as
  ///   ``StoreError/valueRefused(collection:key:field:found:expected:)`` for a field that is not
  ///   known; the body should let it through, so that nothing is kept.
  @discardableResult
  public mutating func save(
    _ documents: [DynamicDocument], in collection: DynamicCollection
  ) throws -> SaveReport {
    try save(documents, in: collection, knowing: nil)
  }

  /// - Parameter knowledge: Which fields the documents know; nil for all.
  mutating func save(
    _ documents: [DynamicDocument], in collection: DynamicCollection,
    knowing knowledge: (any FieldKnowledge)?
  ) throws -> SaveReport {
    guard !documents.isEmpty else { return SaveReport() }
    guard let binding = catalogue.binding(ofCollection: collection.name) else {
      throw collection.unknown()
    }
    let keyField = try collection.keyField(nil, in: binding.collection.description)
    try binding.collection.checkMigrated()
    let batch = try collection.batch(of: documents, keyField: keyField, binding)
    return try apply(batch, clearing: nil, binding, knowing: knowledge)
  }

  /// Nil where the collection is not what the batch was encoded against.
  fileprivate mutating func apply(
    _ batch: Batch, encodedAgainst described: Collection, in name: String
  ) throws -> SaveReport? {
    guard let binding = catalogue.binding(ofCollection: name) else { return nil }
    try binding.collection.checkMigrated()
    guard binding.collection.description == described.description else { return nil }
    return try apply(batch, clearing: nil, binding)
  }
}

extension KeyKind {
  /// The kind of key that a value makes; nil where it makes none.
  public init?(of value: Value?) {
    switch value {
    case .string?: self = .string
    case .integer?: self = .integer
    case .unsigned?: self = .unsigned
    case .uuid?: self = .uuid
    default: return nil
    }
  }

  /// What an error says was expected.
  fileprivate var expectation: String {
    switch self {
    case .string: "a key that is text"
    case .integer: "a key that is an integer of 64 bits with a sign"
    case .unsigned: "a key that is an integer of 0 or more"
    case .uuid: "a key that is a UUID"
    }
  }
}

extension Value {
  /// The key that a person means by `text` in a collection with keys of `kind`.
  public init?(keyText text: String, kind: KeyKind) {
    switch kind {
    case .string: self = .string(text)
    case .integer:
      guard let number = Int64(text) else { return nil }
      self = .integer(number)
    case .unsigned:
      guard let number = UInt64(text) else { return nil }
      self.init(number)
    case .uuid:
      guard let id = UUID(uuidString: text) else { return nil }
      self = .uuid(id)
    }
  }

  /// The key that a file means by `text`; nil for a number in another spelling than its own. `007` is an
  /// article number, and another key than `7`.
  package init?(writtenKey text: String, kind: KeyKind) {
    self.init(keyText: text, kind: kind)
    switch self {
    case .integer, .unsigned: if description != text { return nil }
    default: break
    }
  }
}
