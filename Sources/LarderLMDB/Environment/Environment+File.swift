internal import Synchronization

extension Environment {
  /// Whether ``suspend(timeoutSeconds:)`` has given its locks back.
  public var isSuspended: Bool { isAtRest.load(ordering: .acquiring) }

  /// A suspended environment has its file not open: once that is removed, its number may be another file's, and
  /// another process may put another file in its place. So it goes by the file that is at its path now, and by
  /// none where there is none or where that one is open apart.
  func followFile() {
    // Who is at it just now looks at its file anyway.
    guard Registry.shared.beginChanging(dataIdentity) else { return }
    defer { Registry.shared.didNotClose(dataIdentity) }
    guard isSuspended else { return }
    if let found = (try? SafeFiles.identity(files.data)) ?? nil, go(by: found) { return }
    _ = go(by: .none())
  }

  /// - Returns: False where an environment of this process has that file open.
  func go(by found: FileIdentity) -> Bool {
    let old = dataIdentity
    if old == found { return true }
    guard Registry.shared.move(old, to: found) else { return false }
    identity.withLock { $0 = found }
    return true
  }
}
