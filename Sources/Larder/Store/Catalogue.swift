/// The store's description of itself at one version: its collections and their fields.
struct Catalogue: Sendable {
  /// Counts the changes; every commit carries it, so that a reader knows whether it is up to
  /// date, whichever process made the change.
  let version: UInt64
  let collections: [String: Collection]

  static let empty = Catalogue(version: 0, collections: [:])

  func adding(_ collection: Collection, version: UInt64) -> Catalogue {
    var collections = collections
    collections[collection.name] = collection
    return Catalogue(version: version, collections: collections)
  }

  subscript(name: String) -> Collection? { collections[name] }
}
