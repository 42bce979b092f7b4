/// A backup that is being written, in a folder of its own beside the one that it becomes. Whoever writes
/// it has the opening lock of that folder.
enum UnfinishedBackup {
  private static let ending = ".larder-backup"

  static func path(of name: String, in parent: String) -> String { "\(parent)/.\(name)\(ending)" }

  /// Removes what processes have left that ended while they wrote one: copies as large as a store, of
  /// which those with a date in their names would fill the disk.
  ///
  /// What cannot be looked at or removed stays, and so does all that is no such copy for certain: the
  /// backup that is to be written next succeeds or fails by itself.
  static func removeAll(in parent: String) {
    guard let names = try? SafeFiles.names(in: parent) else { return }
    for name in names where name.hasPrefix(".") && name.hasSuffix(ending) {
      try? remove("\(parent)/\(name)")
    }
  }

  private static func remove(_ folder: String) throws(LMDBError) {
    let files = try StoreFiles(existing: folder)
    // One that begins has nothing but the file to lock, and not for long.
    guard try SafeFiles.identity(files.data) != nil || SafeFiles.age(of: folder) ?? 0 >= 60,
      let lock = try OpeningLock.acquireAtOnce(files),
      try SafeFiles.names(in: folder).allSatisfy(contents.contains)
    else { return }
    try SafeFiles.removeFolder(folder)
    _ = consume lock
  }

  private static let contents: Set = ["data.mdb", "lock.mdb", "larder.lock"]
}
