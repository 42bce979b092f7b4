internal import LarderLMDB

/// The store's description of itself at one version: its collections and their fields, and how
/// document types stand to them.
final class Catalogue: Sendable {
  /// Counts the changes; every commit carries it, so that a reader knows whether it is up to
  /// date, whichever process made the change.
  let version: UInt64
  let collections: [String: Collection]
  /// Made when a type is first used at this version.
  private let bindings = Locked<[ObjectIdentifier: CollectionBinding]>([:])

  init(version: UInt64 = 0, collections: [String: Collection] = [:]) {
    self.version = version
    self.collections = collections
  }

  subscript(name: String) -> Collection? { collections[name] }

  func adding(_ collection: Collection, version: UInt64) -> Catalogue {
    var collections = collections
    collections[collection.name] = collection
    return Catalogue(version: version, collections: collections)
  }

  /// The binding of a document type; nil where its collection does not exist.
  ///
  /// - Throws: ``StoreError/keyKind(collection:stored:found:)`` and
  ///   ``StoreError/kindMismatch(collection:field:stored:declared:)``.
  func binding<Entity: Document>(of type: Entity.Type) throws -> CollectionBinding? {
    let id = ObjectIdentifier(type)
    if let known = bindings.withLock({ $0[id] }) { return known }
    let schema = Entity.schema
    guard let collection = collections[schema.name] else { return nil }
    guard collection.keyKind == Entity.Key.keyKind else {
      throw StoreError.keyKind(
        collection: collection.name, stored: collection.keyKind, found: Entity.Key.keyKind)
    }
    var description = collection.description
    try description.merge(SchemaReference(type))
    description.keyField = description.keyField ?? schema.keyField
    let binding = CollectionBinding(
      id, schema, in: collection, isDeclared: description == collection.description)
    bindings.withLock { $0[id] = binding }
    return binding
  }

  /// The binding for documents without a type; nil where the collection does not exist.
  func binding(ofCollection name: String) -> CollectionBinding? {
    collections[name].map { CollectionBinding($0) }
  }
}
