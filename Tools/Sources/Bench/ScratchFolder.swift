import Foundation

/// A folder that exists for the run only.
struct ScratchFolder {
  let url: URL

  var path: String { url.path }

  /// Makes a folder with a name of its own inside `parent`.
  init(in parent: URL) throws {
    url = parent.appendingPathComponent("bench-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  private init(_ url: URL) {
    self.url = url
  }

  /// An empty folder of this name inside; what was there before is removed.
  func folder(_ name: String) throws -> ScratchFolder {
    let inner = ScratchFolder(url.appendingPathComponent(name, isDirectory: true))
    inner.remove()
    try FileManager.default.createDirectory(at: inner.url, withIntermediateDirectories: true)
    return inner
  }

  /// The folder of this name inside, whether it is there or not.
  func inner(_ name: String) -> ScratchFolder {
    ScratchFolder(url.appendingPathComponent(name, isDirectory: true))
  }

  /// Copies the files of another folder that nobody writes to, but no locks.
  func copyFiles(from other: ScratchFolder) throws {
    let manager = FileManager.default
    for name in try manager.contentsOfDirectory(atPath: other.path) where !name.contains("lock") {
      try manager.copyItem(
        at: other.url.appendingPathComponent(name), to: url.appendingPathComponent(name))
    }
  }

  /// The size of a file.
  func byteCount(of name: String) throws -> Double {
    let file = url.appendingPathComponent(name)
    let values = try FileManager.default.attributesOfItem(atPath: file.path)
    return (values[.size] as? NSNumber)?.doubleValue ?? 0
  }

  /// Removes the folder with all that is in it. That it cannot be removed is no failure of a run:
  /// all of its results stand, and the folder is in a place for temporary files.
  func remove() {
    try? FileManager.default.removeItem(at: url)
  }
}
