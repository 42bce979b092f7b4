internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What all `Store` values of one folder share: the environment, the catalogue as it is known
/// here, and the writer.
@usableFromInline final class Engine: Sendable {
  let environment: Environment
  let writer = Writer()
  private let known: Locked<Known>

  /// The newest catalogue seen, and the bindings made from it.
  private struct Known {
    var catalogue: Catalogue
    var bindings: [BindingKey: Binding] = [:]
  }

  private struct BindingKey: Hashable {
    let type: ObjectIdentifier
    let collection: String
  }

  /// A binding, and whether the catalogue has everything that the type declares.
  struct Binding {
    let collection: CollectionBinding
    let isDeclared: Bool
  }

  init(_ environment: Environment) throws {
    self.environment = environment
    known = Locked(Known(catalogue: .empty))
    try checkState()
    try refreshCatalogue()
  }

  var catalogue: Catalogue { known.withLock { $0.catalogue } }
}

// MARK: Opening

extension Engine {
  /// Engines in use, by the environment that they are the engine of.
  private static let engines = Locked<[ObjectIdentifier: Weak]>([:])

  private struct Weak { weak var engine: Engine? }

  /// Opens the store in `folder`, or joins those that have it open.
  static func open(at folder: String, options: StoreOptions) throws -> Engine {
    try engines.withLock { engines in
      let environment = try Environment.open(at: folder, options: options.environment) {
        transaction in
        let state = StoreState(
          transaction: UInt64(transaction.id), sequence: 0, catalogueVersion: 0, storeID: UUID())
        try transaction.put(state)
      }
      let id = ObjectIdentifier(environment)
      if let engine = engines[id]?.engine { return engine }
      do {
        let engine = try Engine(environment)
        engines = engines.filter { $0.value.engine != nil }
        engines[id] = Weak(engine: engine)
        return engine
      } catch {
        // The first error is the one that helps; an environment that cannot close either
        // closes when it is let go of.
        try? environment.close(timeoutSeconds: 0)
        throw error
      }
    }
  }

  /// Makes sure that this is a store, and that its state record names the transaction that it
  /// was written in: a compacted copy starts again at transaction 1.
  private func checkState() throws {
    let found: StoreState?
    let transaction: UInt64
    do {
      let reading = try environment.beginRead()
      found = try reading.state(path: environment.folder)
      transaction = UInt64(reading.id)
    }
    guard let found else {
      throw StoreError.notAStore(
        path: environment.folder, reason: "its LMDB file has no state record of Larder")
    }
    if found.transaction > transaction, !environment.options.isReadOnly {
      var writing = try environment.beginWrite()
      guard var state = try writing.state(path: environment.folder) else { return }
      state.transaction = UInt64(writing.id)
      try writing.put(state)
      try writing.commit()
    }
  }
}

// MARK: Catalogue

extension Engine {
  /// Reads the catalogue, and opens the databases that it names.
  func refreshCatalogue() throws {
    guard let database = try environment.database(named: Layout.catalogueName, create: false)
    else { return }
    let reading = try environment.beginRead()
    guard let state = try reading.state(path: environment.folder) else { return }
    var collections: [String: Collection] = [:]
    var cursor = try reading.cursor(in: database)
    while try cursor.next() {
      guard let name = String(validating: cursor.key, as: UTF8.self) else {
        throw StoreError.damagedCatalogue("a collection's name is not UTF-8")
      }
      let description = try CollectionDescription(name: name, cursor.value)
      let documents = try environment.database(
        named: Layout.documentsName(of: name), create: false)
      guard let documents else {
        throw StoreError.damagedCatalogue("the documents of \(name) are missing")
      }
      collections[name] = Collection(description, documents: documents)
    }
    adopt(Catalogue(version: state.catalogueVersion, collections: collections))
  }

  /// Makes a newer catalogue the known one.
  func adopt(_ catalogue: Catalogue) {
    known.withLock { known in
      guard catalogue.version > known.catalogue.version else { return }
      known = Known(catalogue: catalogue)
    }
  }

  /// The binding of a document type in a catalogue; nil where its collection does not exist.
  func binding<Entity: Document>(
    _ type: Entity.Type, in catalogue: Catalogue
  ) throws -> Binding? {
    let schema = Entity.schema
    return try binding(ObjectIdentifier(type), schema.name, in: catalogue) { collection in
      let binding = CollectionBinding(ObjectIdentifier(type), schema, in: collection)
      var description = collection.description
      if collection.keyKind != Entity.Key.keyKind {
        throw StoreError.keyKind(
          collection: collection.name, stored: collection.keyKind, found: Entity.Key.keyKind)
      }
      try description.merge(SchemaReference(type))
      description.keyField = description.keyField ?? schema.keyField
      return Binding(collection: binding, isDeclared: description == collection.description)
    }
  }

  /// The binding for documents without a type.
  func binding(dynamic name: String, in catalogue: Catalogue) throws -> CollectionBinding? {
    try binding(ObjectIdentifier(DynamicDocument.self), name, in: catalogue) {
      Binding(collection: CollectionBinding($0), isDeclared: true)
    }?.collection
  }

  private func binding(
    _ type: ObjectIdentifier, _ name: String, in catalogue: Catalogue,
    make: (Collection) throws -> Binding
  ) throws -> Binding? {
    guard let collection = catalogue[name] else { return nil }
    let key = BindingKey(type: type, collection: name)
    let cached = known.withLock { known in
      known.catalogue.version == catalogue.version ? known.bindings[key] : nil
    }
    if let cached { return cached }
    let binding = try make(collection)
    known.withLock { known in
      if known.catalogue.version == catalogue.version { known.bindings[key] = binding }
    }
    return binding
  }
}

extension Transaction where Self: ~Copyable {
  /// The state record of this snapshot; nil where the file has none.
  borrowing func state(path: String) throws -> StoreState? {
    try Self.stateKey.withKey { key in
      try withValue(for: key, in: .main) { try StoreState($0, path: path) }
    }
  }

  static var stateKey: StateKey { StateKey() }
}

extension WriteTransaction {
  mutating func put(_ state: StoreState) throws {
    try state.withBytes { bytes in
      try Self.stateKey.withKey { key in try put(bytes, for: key, in: .main) }
    }
  }
}

/// Lends the state record's key without making bytes of a string each time.
struct StateKey {
  private static let bytes: StaticString = "larder.state"

  func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(
      UnsafeRawBufferPointer(start: Self.bytes.utf8Start, count: Self.bytes.utf8CodeUnitCount))
  }
}
