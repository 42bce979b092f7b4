import Foundation

/// A folder of its own for one test, removed when the test lets go of it.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = base + "/larder-lmdb-" + UUID().uuidString
    // Fails the test at its first use, with a better message than we could give here.
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // A leftover in the temporary folder harms no test.
    try? FileManager.default.removeItem(atPath: path)
  }

  var store: String { path + "/store" }
  var data: String { store + "/data.mdb" }
  var lock: String { store + "/lock.mdb" }
  var opening: String { store + "/larder.lock" }
}

func contents(_ path: String) throws -> Data {
  try Data(contentsOf: URL(fileURLWithPath: path))
}

func write(_ bytes: Data, to path: String) throws {
  try bytes.write(to: URL(fileURLWithPath: path))
}
