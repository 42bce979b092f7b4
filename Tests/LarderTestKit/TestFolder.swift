package import Foundation

/// A folder of its own for one test, removed when the test lets go of it.
package final class TestFolder: Sendable {
  package let path: String

  package init() {
    let base = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().path
    path = base + "/larder-test-" + UUID().uuidString
    // A folder that cannot be made fails the test at its first use.
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    // A leftover in the temporary folder harms no test.
    try? FileManager.default.removeItem(atPath: path)
  }

  package var url: URL { URL(filePath: path, directoryHint: .isDirectory) }

  /// Where the store is; not there yet.
  package var store: String { path + "/store" }
  package var data: String { store + "/data.mdb" }
  package var lock: String { store + "/lock.mdb" }
  package var opening: String { store + "/larder.lock" }
}

package func contents(of path: String) throws -> Data {
  try Data(contentsOf: URL(filePath: path))
}

package func replaceContents(of path: String, by bytes: Data) throws {
  try bytes.write(to: URL(filePath: path))
}

/// The permission bits of a file.
package func mode(of path: String) -> UInt32 {
  var status = stat()
  return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
}
