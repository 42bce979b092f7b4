internal import LarderLMDB
internal import Synchronization

/// The store's description of itself at one version: its collections and their fields, and how
/// document types stand to them.
final class Catalogue: Sendable {
  /// Counts the changes; every commit carries it, so that a reader knows whether it is up to
  /// date, whichever process made the change.
  let version: UInt64
  let collections: [String: Collection]
  /// Every index by its number, those that are dropped too.
  let indexes: [UInt32: IndexRecord]
  /// Whether an index is still to be built, or to be emptied.
  let hasIndexWork: Bool
  /// Made when a type is first used at this version.
  private let bindings = Locked<[ObjectIdentifier: CollectionBinding]>([:])
  /// The same for types whose documents are in several collections.
  private let namedBindings = Locked<[NamedType: CollectionBinding]>([:])

  /// The same for documents without a type.
  private let anonymousBindings = Locked<[String: CollectionBinding]>([:])

  /// The binding that was asked for last; most programs read one type at a time. It is in
  /// ``bindings`` too, which lets go of none.
  private let lastBinding = Atomic<UInt>(0)
  /// The same of ``namedBindings``.
  private let lastNamedBinding = Atomic<UInt>(0)

  private struct NamedType: Hashable {
    let type: ObjectIdentifier
    let name: String
  }

  init(
    version: UInt64 = 0, collections: [String: Collection] = [:],
    indexes: [UInt32: IndexRecord] = [:]
  ) {
    self.version = version
    self.collections = collections
    self.indexes = indexes
    hasIndexWork = indexes.contains(where: \.value.needsWork)
  }

  subscript(name: String) -> Collection? { collections[name] }

  /// The binding of a document type; nil where its collection does not exist.
  ///
  /// - Throws: ``StoreError/keyKind(collection:stored:found:)``,
  ///   ``StoreError/kindMismatch(collection:field:stored:declared:)``, and
  ///   ``StoreError/unfinishedMigration(collection:version:)``: some of the documents are of
  ///   another version than the type.
  func binding<Entity: Document>(of type: Entity.Type) throws -> CollectionBinding? {
    try lastingBinding(of: type)?.takeUnretainedValue()
  }

  /// The same where the catalogue has everything that the type declares; nil where it is to be declared, which
  /// says whether it can be.
  func declaredBinding<Entity: Document>(of type: Entity.Type) throws -> CollectionBinding? {
    let found = try unlessUnfit { try binding(of: type) }
    return found?.isDeclared == true ? found : nil
  }

  /// The binding that `body` finds; nil where the type contradicts what the collection has. Declaring the type then
  /// decides whether the collection can take it.
  func unlessUnfit<Binding>(_ body: () throws -> Binding?) throws -> Binding? {
    do {
      return try body()
    } catch let error as StoreError where error.isOfShape {
      return nil
    }
  }

  /// The same, without a reference that is counted: the catalogue holds it.
  @inline(__always)
  func lastingBinding<Entity: Document>(
    of type: Entity.Type
  ) throws -> Unmanaged<CollectionBinding>? {
    if let last = UnsafeRawPointer(bitPattern: lastBinding.load(ordering: .acquiring)) {
      let binding = Unmanaged<CollectionBinding>.fromOpaque(last)
      if binding._withUnsafeGuaranteedRef({ $0.type }) == ObjectIdentifier(type) { return binding }
    }
    return try knownBinding(of: type).map { .passUnretained($0) }
  }

  private func knownBinding<Entity: Document>(of type: Entity.Type) throws -> CollectionBinding? {
    let id = ObjectIdentifier(type)
    if let known = bindings.withLock({ $0[id] }) {
      remember(known, as: lastBinding)
      return known
    }
    let schema = Entity.schema
    guard let collection = collections[schema.name] else { return nil }
    try collection.checkMigrated()
    let description = try collection.declared(type)
    let declared = try Entity.declaredIndexes.map { declaration in
      collection.tokenizers.add(declaration.tokenizer)
      return try IndexDefinition(declaration, in: description)
    }
    let binding = CollectionBinding(
      id, schema, in: collection,
      isDeclared: description == collection.description
        && declared.allSatisfy { index in
          collection.indexes.contains { $0.serves(index) }
        })
    for index in declared where collection.indexes.contains(where: { $0.isNewer(than: index) }) {
      collection.log.tell(
        .warning, "an index stays as another version of the type has declared it",
        ["collection": collection.name, "index": index.name])
    }
    // Of two that were made at the same time the first one stays.
    return bindings.withLock { bindings in
      if let known = bindings[id] { return known }
      bindings[id] = binding
      return binding
    }
  }

  private func remember(_ binding: CollectionBinding, as last: borrowing Atomic<UInt>) {
    let address = UInt(bitPattern: Unmanaged.passUnretained(binding).toOpaque())
    last.store(address, ordering: .releasing)
  }

  /// The binding of a type without a schema, whose documents may be in any collection; nil where the
  /// collection does not exist.
  ///
  /// - Throws: ``StoreError/keyKind(collection:stored:found:)`` and
  ///   ``StoreError/unfinishedMigration(collection:version:)``.
  func binding<Entity: Document>(
    of type: Entity.Type, in name: String
  ) throws -> CollectionBinding? {
    try lastingBinding(of: type, in: name)?.takeUnretainedValue()
  }

  /// The same, without a reference that is counted: the catalogue holds it.
  @inline(__always)
  func lastingBinding<Entity: Document>(
    of type: Entity.Type, in name: String
  ) throws -> Unmanaged<CollectionBinding>? {
    if let last = UnsafeRawPointer(bitPattern: lastNamedBinding.load(ordering: .acquiring)) {
      let binding = Unmanaged<CollectionBinding>.fromOpaque(last)
      let isIt = binding._withUnsafeGuaranteedRef {
        $0.type == ObjectIdentifier(type) && $0.collection.description.name == name
      }
      if isIt { return binding }
    }
    return try knownBinding(of: type, in: name).map { .passUnretained($0) }
  }

  private func knownBinding<Entity: Document>(
    of type: Entity.Type, in name: String
  ) throws -> CollectionBinding? {
    let id = NamedType(type: ObjectIdentifier(type), name: name)
    if let known = namedBindings.withLock({ $0[id] }) {
      remember(known, as: lastNamedBinding)
      return known
    }
    guard let collection = collections[name] else { return nil }
    try collection.checkMigrated()
    guard collection.keyKind == Entity.Key.keyKind else {
      throw StoreError.keyKind(
        collection: name, stored: collection.keyKind, found: Entity.Key.keyKind)
    }
    let binding = CollectionBinding(id.type, type.schema, in: collection, isDeclared: true)
    // Of two that were made at the same time the first one stays.
    return namedBindings.withLock { bindings in
      if let known = bindings[id] { return known }
      bindings[id] = binding
      return binding
    }
  }

  /// The binding for documents without a type; nil where the collection does not exist.
  func binding(ofCollection name: String) -> CollectionBinding? {
    collections[name].map { anonymousBinding(of: $0) }
  }

  /// The binding for documents without a type of one of the collections.
  func anonymousBinding(of collection: Collection) -> CollectionBinding {
    anonymousBindings.withLock { known in
      if let binding = known[collection.name], binding.collection === collection { return binding }
      let binding = CollectionBinding(collection)
      known[collection.name] = binding
      return binding
    }
  }
}

extension IndexRecord {
  var isInUse: Bool { state != .dropped && state != .free }

  /// Whether something is left to be built or deleted.
  var needsWork: Bool {
    switch state {
    case .building, .dropped: true
    case .complete, .suspended, .failed, .free: false
    }
  }

  /// Whether its definition has taken the place of another one.
  func isNewer(than other: IndexDefinition) -> Bool { definition.isNewer(than: other, superseded) }
}

extension Collection {
  /// The description with what a type declares.
  fileprivate func declared<Entity: Document>(
    _ type: Entity.Type
  ) throws(StoreError) -> CollectionDescription {
    guard keyKind == Entity.Key.keyKind else {
      throw .keyKind(collection: name, stored: keyKind, found: Entity.Key.keyKind)
    }
    let schema = Entity.schema
    var declared = description
    try declared.merge(SchemaReference(type))
    try declared.settleKey(
      schema.keyField, isComputed: schema.computesKeys, before: description)
    return declared
  }

  /// The definitions of its indexes.
  var definitions: [IndexDefinition] { indexes.map(\.definition) }
}

extension Catalogue {
  /// The numbers of all search indexes that are in use.
  var searchNumbers: Set<UInt32> {
    Set(indexes.filter { $0.value.isInUse && $0.value.definition.weights != nil }.keys)
  }
}
