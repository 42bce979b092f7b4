#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Environment {
  /// Writes a copy of one snapshot, without free pages, into a folder of its own that gets the name
  /// `path` once the copy is whole and on the disk.
  ///
  /// - Parameters:
  ///   - prepare: Changes the copy, which counts its transactions from one again, before anybody
  ///     sees it.
  ///   - progress: Told how many bytes of about how many are written; false ends it.
  /// - Returns: Bytes of the copy; nil where `progress` ended it.
  /// - Throws: ``LMDBError``, with `EEXIST` where `path` is something else than an empty folder;
  ///   what `prepare` throws. Nothing is left behind. What a backup has left whose process ended
  ///   meanwhile is removed by the next one into the same parent folder.
  public func backup(
    to path: String, prepare: (Environment) throws -> Void,
    progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Int? {
    try staging("backup", progress) { progress in
      try backupStaging(to: path, prepare: prepare, progress: progress)
    }
  }

  private func backupStaging(
    to path: String, prepare: (Environment) throws -> Void,
    progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Int? {
    let path = try SafeFiles.folderPath(path)
    try Self.refuseOccupied(path)
    let parent = SafeFiles.parent(of: path)
    let name = path.split(separator: "/").last.map(String.init) ?? path
    UnfinishedBackup.removeAll(in: parent)
    let backup = try Self.beginBackup(UnfinishedBackup.path(of: name, in: parent), of: path)
    let staged = backup.files
    do {
      try Self.refuseOccupied(path)
      guard try stage(in: staged, prepare: prepare, progress: progress) else {
        try SafeFiles.removeFolder(staged.folder)
        _ = consume backup
        return nil
      }
      let byteCount = try SafeFiles.byteCount(staged.data)
      try SafeFiles.move(staged.folder, to: path)
      do {
        // Behind the move: whoever waits for it must not make another one beside the copy.
        try SafeFiles.remove(path + "/larder.lock")
        try SafeFiles.syncFolder(parent)
      } catch {
        try? SafeFiles.move(path, to: staged.folder)  // The first failure is the one to report.
        throw error
      }
      _ = consume backup
      return byteCount
    } catch {
      // The first failure is the one to report; a leftover is removed by the next backup.
      try? SafeFiles.removeFolder(staged.folder)
      _ = consume backup
      throw error
    }
  }

  /// A folder that a backup is written into, and the lock on it.
  private struct BegunBackup: ~Copyable {
    let files: StoreFiles
    let lock: OpeningLock?
  }

  /// Makes the folder, and locks it. Of two backups to one place the second waits, and is refused where
  /// the first one was written.
  private static func beginBackup(
    _ folder: String, of path: String
  ) throws(LMDBError) -> BegunBackup {
    var tries = 0
    while true {
      do throws(LMDBError) {
        let files = try StoreFiles(folder, isReadOnly: false)
        return BegunBackup(
          files: files, lock: try OpeningLock.acquire(files, isReadOnly: false))
      } catch  where error.code == .system(errno: ENOENT) {
        // The first one has given the folder its name, or removed it.
        try refuseOccupied(path)
        // Or there is nothing that it could be made in, such as where a link leads to no folder.
        tries += 1
        var status = stat()
        guard stat(SafeFiles.parent(of: folder), &status) == 0, tries < 1_000 else { throw error }
      }
    }
  }

  /// What a restoration did.
  public struct Restoration: Sendable, Equatable {
    public let byteCount: Int
    /// Whether there was a store before.
    public let hasReplaced: Bool
  }

  /// Writes a copy of this store over the one in `folder`, which nobody may have open, or makes it
  /// there; the old file goes when the new one is in its place.
  ///
  /// A process that dies leaves the old store or the new one, whole.
  ///
  /// - Parameters: As for ``backup(to:prepare:progress:)``.
  /// - Returns: Nil where `progress` ended it.
  /// - Throws: ``LMDBError``, with code ``LMDBError/Code/inUse`` where the store is open; what
  ///   `prepare` throws. The folder's store is as it was then.
  public func restore(
    to folder: String, prepare: (Environment) throws -> Void,
    progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Restoration? {
    try staging("restore", progress) { progress in
      try restoreStaging(to: folder, prepare: prepare, progress: progress)
    }
  }

  private func restoreStaging(
    to folder: String, prepare: (Environment) throws -> Void,
    progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Restoration? {
    let files = try StoreFiles(folder, isReadOnly: false)
    guard let lock = try OpeningLock.acquire(files, isReadOnly: false) else {
      throw SystemCall.failure(SystemCall.accessDenied, "restore", path: folder)
    }
    try files.check(isReadOnly: false)
    if try lock.creation() == .unfinished, try SafeFiles.identity(files.data) != nil {
      let remains = try Self.remains(of: files.data)
      if remains != .committed { try Self.clear(files, remains) }
    }
    let old = try SafeFiles.identity(files.data)
    if let old {
      guard Registry.shared.claimAlone(old) else { throw files.isOpen("restore") }
    }
    defer { if let old { Registry.shared.remove(old) } }
    guard try lock.isAlone(files) else { throw files.isOpen("restore") }
    try lock.refuseUnseenReaders(files)
    let found = FilesInPlace(
      opening: try lock.identity(), data: old, table: try SafeFiles.identity(files.lock))
    try SafeFiles.removeFolder(files.staging)
    let staged = try StoreFiles(files.staging, isReadOnly: false)
    do {
      guard try stage(in: staged, prepare: prepare, progress: progress) else {
        try SafeFiles.removeFolder(staged.folder)
        return nil
      }
      let byteCount = try SafeFiles.byteCount(staged.data)
      let copy = try SafeFiles.identity(staged.data)
      let quarantined = try lock.quarantined()
      try files.check(found)
      // First: what is not noted as finished is thrown away by the next opening. All pages are
      // looked at then.
      try lock.note(.unknown, isDurable: false)
      try lock.note(.finished)
      try SafeFiles.replace(files.data, by: staged.data, expecting: old)
      do {
        try SafeFiles.syncFolder(files.folder)
        // What a quarantine had begun to put here is replaced.
        if quarantined != nil { try lock.note(quarantined: nil) }
      } catch {
        // As it was, where the old file is still there; the first failure is the one to report.
        if old == nil {
          try? SafeFiles.move(files.data, to: staged.data)
        } else {
          try? SafeFiles.replace(files.data, by: staged.data, expecting: copy)
        }
        if let quarantined { try? lock.note(quarantined: quarantined) }
        throw error
      }
      try? SafeFiles.removeFolder(staged.folder)  // The next opening does it, too.
      _ = consume lock
      return Restoration(byteCount: byteCount, hasReplaced: old != nil)
    } catch {
      // The first failure is the one to report.
      try? SafeFiles.removeFolder(staged.folder)
      throw error
    }
  }

  /// Writes a copy without free pages into a folder that is only ours, and looks at all its pages.
  ///
  /// - Returns: False where `progress` ended it.
  func stage(
    in files: StoreFiles, prepare: (Environment) throws -> Void,
    progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Bool {
    try Self.removeStaged(files)
    guard try writeCopy(to: files.data, progress) else { return false }
    try finishStaged(files, prepare: prepare)
    return true
  }

  static func removeStaged(_ files: StoreFiles) throws(LMDBError) {
    for leftover in [files.data, files.data + ".copying", files.lock] {
      try SafeFiles.remove(leftover)
    }
  }

  /// Looks at all pages of a copy, and has it prepared.
  func finishStaged(_ files: StoreFiles, prepare: (Environment) throws -> Void) throws {
    try Preflight(
      files: files, identity: nil, session: .unknown, rest: nil, isAlone: true, isRequested: true
    ).check()
    var options = Options()
    options.maximumDatabaseCount = self.options.maximumDatabaseCount
    try Self.withStaged(files, options, prepare)
    try SafeFiles.remove(files.lock)
    try SafeFiles.syncFolder(files.folder)
  }

  private func writeCopy(
    to path: String, _ progress: (Int, Int) -> Bool
  ) throws(LMDBError) -> Bool {
    for _ in 0..<Self.mostCopyAttempts {
      do throws(LMDBError) {
        return try writeCopyOnce(to: path, progress)
      } catch {
        // Another process has enlarged the file once more.
        guard error.code == .mapResized else { throw error }
        try SafeFiles.remove(path)
      }
    }
    return try writeCopyOnce(to: path, progress)
  }

  private static let mostCopyAttempts = 8

  private func writeCopyOnce(
    to path: String, _ progress: (Int, Int) -> Bool
  ) throws(LMDBError) -> Bool {
    try holdFileInMap()
    try enter("copy")
    defer { gate.leave() }
    return try write(to: path, compacting: true, progress)
  }

  private static func refuseOccupied(_ path: String) throws(LMDBError) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFDIR, try SafeFiles.isEmptyFolder(path) else {
      throw LMDBError(
        .system(errno: EEXIST), operation: "backup", path: path,
        detail: "there is something already; a backup overwrites nothing, choose another name")
    }
  }
}
