// A published file is never written to once it has its name: a newer one takes its place, and whoever has
// the older one open reads on in that. So no reader needs a lock, or says that it reads.
extension Environment {
  /// Opens a folder with a `data.mdb` that was put there whole.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/missing``; ``LMDBError/Code/inUse`` for a store that may be
  ///   written to; ``LMDBError/Code/corrupted``. Nothing is open then, and nothing was made.
  static func openPublished(
    at folder: String, _ options: Options
  ) throws(LMDBError) -> Environment {
    try checkLibrary()
    Forks.watch()
    SystemCall.keepStandardDescriptors()
    let files = try StoreFiles(folder, isReadOnly: true, isPublished: true)
    guard try SafeFiles.identity(files.lock) == nil else {
      throw LMDBError(
        .inUse, operation: "open", path: files.folder,
        detail: "it has a lock.mdb, as a store that is written to has; nothing was published here")
    }
    for _ in 0..<attempts {
      if let environment = try openPublishedNow(files, options) { return environment }
    }
    throw LMDBError(
      .inUse, operation: "open", path: files.data,
      detail: "another file took its place, \(attempts) times in a row")
  }

  private static var attempts: Int { 100 }

  /// Nil where another file has come meanwhile.
  private static func openPublishedNow(
    _ files: StoreFiles, _ options: Options
  ) throws(LMDBError) -> Environment? {
    guard try SafeFiles.identity(files.data) != nil else {
      throw LMDBError(
        .missing, operation: "open", path: files.folder, detail: "nothing was published here yet")
    }
    // Open until the end, so that no other file gets its number meanwhile.
    let file = try PageFile(files.data)
    let identity = try file.identity()
    if case .alreadyOpen(let environment) = Registry.shared.claim(identity, options) {
      try environment.check(asked: options)
      return environment
    }
    do throws(LMDBError) {
      let preflight = Preflight(
        files: files, identity: identity, session: nil, rest: nil, isAlone: true,
        isRequested: false)
      try preflight.check()
      let pointer = try Calls.openEnvironment(files.folder, options: options, withoutLocks: true)
      guard try isFile(identity, openIn: pointer, files) else {
        Calls.close(environment: pointer)
        Registry.shared.remove(identity)
        return nil
      }
      let environment = Environment(
        OpaqueEnvironment(raw: pointer), files: files, options: options, dataIdentity: identity,
        lockIdentity: nil, lockProbe: nil)
      try environment.openExistingDatabases()
      Registry.shared.didOpen(environment, identity)
      _ = consume file
      return environment
    } catch {
      Registry.shared.remove(identity)
      // What was looked at and what was opened may be two files.
      if let now = try SafeFiles.identity(files.data), now != identity { return nil }
      throw error
    }
  }

  private static func isFile(
    _ identity: FileIdentity, openIn pointer: OpaquePointer, _ files: StoreFiles
  ) throws(LMDBError) -> Bool {
    do throws(LMDBError) {
      let descriptor = try Calls.dataDescriptor(pointer)
      try SafeFiles.closeOnExec(descriptor, path: files.data)
      return try SafeFiles.identity(of: descriptor, path: files.data) == identity
    } catch {
      Calls.close(environment: pointer)
      throw error
    }
  }

  /// Whether another file has the name by now that this one was opened by, or none.
  public var isReplaced: Bool { (try? SafeFiles.identity(files.data)) != dataIdentity }
}
