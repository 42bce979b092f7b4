#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Room on a disk that a commit must leave free: a file without a name, which is gone with this object or with
/// the process at the latest.
package final class HeldRoom: Sendable {
  private let descriptor: Locked<Int32?>

  /// Holds nothing yet; nil where no file can be made.
  init?(in folder: String) {
    let path = folder + "/larder.room"
    // Of a process that was killed between the next two lines.
    unlink(path)
    guard let descriptor = try? SafeFiles.createFile(path) else { return nil }
    unlink(path)
    self.descriptor = Locked(descriptor)
  }

  /// Returns false where the disk has no such room; true also where nobody can tell.
  func take(_ byteCount: Int) -> Bool {
    descriptor.withLock { $0.map { SafeFiles.allocate($0, from: 0, byteCount: byteCount) } ?? true }
  }

  /// Gives it back to the disk.
  package func release() {
    descriptor.withLock { descriptor in
      if let open = descriptor { close(open) }
      descriptor = nil
    }
  }

  deinit { release() }
}
