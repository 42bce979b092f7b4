import LarderLMDB
import LarderTestKit
import LarderTesting

@testable import Larder

/// Runs a body on an empty store whose work several threads share, whatever the machine has, and checks the store.
func withStore<Result>(ofThreads count: Int, _ body: (Store) throws -> Result) throws -> Result {
  let folder = TestFolder()
  var options = StoreOptions(durability: .volatile)
  options.readThreadCount = count
  let store = try Store(at: folder.store, options: options)
  let result = try body(store)
  try verifyAndClose(store)
  return result
}

/// Keys and values of the documents and indexes of a collection, byte for byte.
func entries(of name: String, in store: Store) throws -> [[UInt8]] {
  try store.read { snapshot in
    guard let collection = snapshot.catalogue[name] else { return [] }
    var entries: [[UInt8]] = []
    for database in [collection.documents] + collection.indexes.map(\.database) {
      var cursor = try snapshot.transaction.cursor(in: database)
      var isThere = try cursor.first()
      while isThere {
        entries.append([UInt8](cursor.key))
        entries.append([UInt8](cursor.value))
        isThere = try cursor.next()
      }
    }
    return entries
  }
}
