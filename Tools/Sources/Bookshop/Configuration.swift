internal import LarderRemote
internal import LarderSync

/// How the app is started.
struct Configuration {
  /// The folder of the store.
  var store: String
  /// The folder of the keychain: beside the store, as whatever is in the store is a cache.
  var keychain: String {
    var path = store[...]
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path + ".keychain"
  }
  /// The books that come with the app.
  var fixture: String?
  /// Where the catalogue is refreshed from.
  var server: (any CatalogueServer)?
  /// Whose stars and basket these are; nil where they stay on this device.
  var reader: SyncedReader?
  /// How long after a refresh no screen asks for the next one.
  var refreshSeconds = 30
  var product = Product.open
  var gateway: DemoAuthGateway
  var clock: any SyncClock = SystemClock()
}

/// A reader with several devices.
struct SyncedReader {
  /// The account.
  var name: String
  /// What the server calls the reader's documents.
  var scope: String
  var remote: any Remote
}
