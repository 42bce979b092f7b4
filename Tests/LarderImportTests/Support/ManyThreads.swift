import Larder
import LarderTestKit
import LarderTesting

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
